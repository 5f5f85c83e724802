"""Processes beside this one, which end with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def second() -> ProcessPoolExecutor:
    """An executor of one process, which begins with its first task and ends with this one, also where this is killed.

    For commands only: a new process begins with the program's own module, which in a script may start all over again.
    """
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=follow_parent)


def follow_parent() -> None:
    """For a process that was begun by another: leaves Ctrl-C to it, and ends with it, also where it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_after(multiprocessing.parent_process().join)


def end_after(*endings: Callable[[], Any]) -> None:
    """Ends the process this is called in at once when one of these calls returns, such as that its parent has ended.

    An executor's process whose parent was killed would wait for its next call for ever.
    """
    for ending in endings:
        threading.Thread(target=_end, args=(ending,), daemon=True).start()


def _end(ending: Callable[[], Any]) -> None:
    ending()
    os._exit(0)
