"""A folder of this process alone for large files: it goes with the process, after a kill at the next start."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from compute.io.files import temporary_folder

_until_the_end = ExitStack()
atexit.register(_until_the_end.close)


@cache
def private_folder() -> Path:
    """The folder, made on first use among the system's temporary ones. Raises OSError."""
    return _until_the_end.enter_context(temporary_folder())
