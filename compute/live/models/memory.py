"""How much memory is free for models: on the accelerator if any, else on this machine."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
NVIDIA = Path("/proc/driver/nvidia/version")
ARENA_MAX, MMAP_THRESHOLD = -8, -3  # of mallopt, as malloc.h has them
LARGE_BLOCK = 1_000_000  # bytes from which a block has a mapping of its own
SHARE = 0.5  # of free memory, for models by default
VARIABLE = "LIKENESS_MODEL_MEMORY_MB"


def budget() -> int:
    """Bytes for models in memory: what LIKENESS_MODEL_MEMORY_MB says, else half of what is free now."""
    limit = os.environ.get(VARIABLE, "")
    return int(limit) * 1_000_000 if limit.isdigit() and int(limit) else round(available() * SHARE)


def available() -> int:
    """Bytes free on the device that models run on. A container's own limit counts where it is lower."""
    if "torch" in sys.modules or NVIDIA.exists():  # otherwise torch stays unloaded: an idle app is small
        import torch

        if torch.cuda.is_available():
            return int(torch.cuda.mem_get_info()[0])
    return min(_machine(), _container())


def resident(pid: int | str = "self") -> int:
    """Bytes of memory of a process, this one by default; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def tune_malloc() -> None:
    """Has glibc give back what a server frees, before its threads start; nothing with another C library.

    Two arenas instead of one a thread, since an arena does not return its free memory: measured, 15 to 25 MB less. And
    a mapping of its own for every large block, which is gone once it is freed: glibc raises the size from which it does
    so, up to 32 MB, with each larger block that is freed. Measured with many photographs: 300 MB less.
    """
    try:
        for setting, value in ((ARENA_MAX, 2), (MMAP_THRESHOLD, LARGE_BLOCK)):
            ctypes.CDLL(None).mallopt(setting, value)
    except (AttributeError, OSError, TypeError):
        return


@contextmanager
def long_lived() -> Iterator[None]:
    """What is made meanwhile stays until the process ends: it is neither searched for garbage now, which is an eighth
    of the time of a start, nor ever after."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def return_freed() -> None:
    """Returns to the system what this process has freed; does nothing with another C library than glibc.

    glibc stores freed blocks between others that are in use, and does not return them by itself.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return


def return_freed_regularly(*, every: float = 10.0, more: int = 32_000_000) -> None:
    """Runs without end: after each `every` seconds in which this process grew by `more` bytes, returns what it freed.

    For a thread of its own. A process that stays as large as it is does nothing.
    """
    size = resident()
    while True:
        time.sleep(every)
        if resident() > size + more:
            return_freed()
            size = resident()
        size = min(size, resident())


def _machine() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError):
        return 4_000_000_000  # unknown; a machine that runs models has more


def _container() -> int:
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        return int(limit) - int((CGROUP / "memory.current").read_text()) if limit.isdigit() else sys.maxsize
    except (OSError, ValueError):
        return sys.maxsize
