"""The program started again in its own process, without what it imported and used so far."""

from __future__ import annotations

import os
import sys

STARTED = "STARTED_ANEW_BY"  # the process that did so


def once() -> None:
    """Does not return: the same command restarts in this process. A second call, or another system, does nothing.

    For a server that has built its database: the build leaves 50 MB of libraries that no page needs.
    """
    if os.name == "posix" and os.environ.get(STARTED) != str(os.getpid()):
        os.environ[STARTED] = str(os.getpid())
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
