"""A process for untrusted uploads: it gets none of the server's environment variables and sets kernel limits for
itself.

Sources: setrlimit(2), prctl(2). Only Linux has all of the limits; elsewhere nothing is limited.
"""

from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from compute.paths import IMPORTED_FROM

try:
    import resource
except ImportError:  # no POSIX system
    resource = None  # type: ignore[assignment]

SET_PARENT_DEATH_SIGNAL, SET_NO_NEW_PRIVILEGES = 1, 38  # of prctl
PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "PYTHONHOME")  # what Python may need to start


def environment() -> dict[str, str]:
    """Returns the few environment variables that the program needs, none of the server's, which may hold keys."""
    paths = dict.fromkeys([str(IMPORTED_FROM), *(path for path in sys.path if path)])
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    }


def end_with(parent: int) -> None:
    """Makes the kernel kill this process when the thread that started it ends. Exits at once if `parent` is already
    gone.
    """
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")  # killed before the server if memory runs out
    if os.name == "posix" and os.getppid() != parent:
        sys.exit("The process that started this one is gone")


def enforced() -> bool:
    """Returns whether this platform limits the memory, processor time and files of such a process."""
    return sys.platform == "linux" and resource is not None


def confine(*, memory: int, seconds: float) -> None:
    """Allows `memory` more bytes of address space and `seconds` more of processor time, and no new files or sockets.

    A larger allocation raises MemoryError. When its time is up, the process is killed.
    """
    if not enforced():
        return
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = size + memory if hard == resource.RLIM_INFINITY else min(size + memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
        resource.setrlimit(kind, (0, 0))
    allow(seconds)


def allow(seconds: float) -> None:
    """Allows this much more processor time from now on. The total is rounded up to whole seconds."""
    if enforced():
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
