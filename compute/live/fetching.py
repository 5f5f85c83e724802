"""Fetches a model's weights in a process of its own, which can be watched and stopped; what came is kept for next time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from compute.models.weights import cache_home
from compute.store import ROOT
from compute.types import Model, NotHere

LOOK = 0.3  # seconds between two looks at what has come


def fetch(row: Model, *, stop: Callable[[], bool] = lambda: False) -> Iterator[int]:
    """Yields how many bytes are there, until all are. Raises NotHere where it fails or is stopped.

    Closing the iterator stops the download too.
    """
    process = subprocess.Popen([sys.executable, "-m", "compute", "fetch", "--models", row.key], cwd=ROOT,
                               env=os.environ | {"HF_HUB_DISABLE_PROGRESS_BARS": "1"}, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while process.poll() is None:
            if stop():
                raise NotHere(f"The download of {row.title} was stopped; what has come is kept")
            yield there(row)
            time.sleep(LOOK)
        said = (process.stderr.read() if process.stderr else "").strip().splitlines()
        if process.returncode:
            reason = next((line.removeprefix("Error: ") for line in reversed(said) if line.startswith("Error: ")), "")
            raise NotHere(reason or f"The download of {row.title} failed. Try again later")
    finally:
        if process.poll() is None:
            process.kill()  # the hub's client writes drafts only, and goes on from them
        process.wait()
        if process.stderr:
            process.stderr.close()


def there(row: Model) -> int:
    """Bytes of the row's repository in the hub's cache, unfinished files included."""
    total = 0
    for path in (cache_home(row) / "blobs").glob("*"):
        try:
            total += Path(path).stat().st_blocks * 512  # a draft is as long as the whole file from its first byte on
        except OSError:  # a draft that became a file in between
            continue
    return total
