"""What holds a decoding process: memory, processor time, files, and its life with the server's. Set by itself.

Sources: setrlimit(2), prctl(2). Only Linux has all of them; elsewhere the checks of a file's header hold alone.
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

try:
    import resource
except ImportError:  # no POSIX system
    resource = None  # type: ignore[assignment]

# Bytes of address space for a file. Measured with 40 (16) megapixels: a PNG of 16 bits takes 360 (150) MB, a WebP
# 520 (210), an AVIF 490 (200), of 10 bits a channel some 60 (30) more.
MEMORY, MEMORY_LARGE = 280_000_000, 620_000_000
SLACK = 150_000_000  # of address space that earlier files leave behind
SECONDS, SECONDS_LARGE = 8, 15  # of processor time a file; the slowest good ones take 2
SET_PARENT_DEATH_SIGNAL, SET_NO_NEW_PRIVILEGES = 1, 38  # of prctl


def enforced() -> bool:
    """Whether this platform limits the memory, processor time and files of a decoding process."""
    return sys.platform == "linux" and resource is not None


def end_with(parent: int) -> None:
    """The process is killed when the thread that started it ends. Exits at once if `parent` is gone already."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")  # where memory is short, it goes before the server
    if os.name == "posix" and os.getppid() != parent:
        sys.exit("The process that started this one is gone")


class FileLimits:
    """The limits of one process; they start with the object, and `renew` gives each file its own share.

    After that no file or socket can be opened, and nothing be written but through what is open.
    """

    def __init__(self) -> None:
        if not enforced():
            return
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._sizes = os.open("/proc/self/statm", os.O_RDONLY)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        lower(resource.RLIMIT_AS, self._size() + MEMORY_LARGE + SLACK)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))

    def renew(self, *, is_large: bool) -> None:
        """The share of the next file: memory, and processor time from now on."""
        if not enforced():
            return
        _soften(resource.RLIMIT_AS, self._size() + (MEMORY_LARGE if is_large else MEMORY))
        _soften(resource.RLIMIT_CPU, math.ceil(time.process_time()) + (SECONDS_LARGE if is_large else SECONDS))

    def _size(self) -> int:
        """Bytes of address space now."""
        return int(os.pread(self._sizes, 200, 0).split()[0]) * self._page


def lower(kind: int, most: int) -> None:
    """Soft and hard limit, unless the system's own is lower."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _soften(kind: int, most: int) -> None:
    """The soft limit, up to the hard one."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
