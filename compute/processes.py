"""Processes beside this one, which end with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any


def end_after(*endings: Callable[[], Any]) -> None:
    """Ends the process this is called in at once when one of these calls returns, such as that its parent has ended.

    An executor's process whose parent was killed would wait for its next call for ever.
    """
    for ending in endings:
        threading.Thread(target=_end, args=(ending,), daemon=True).start()


def _end(ending: Callable[[], Any]) -> None:
    ending()
    os._exit(0)
