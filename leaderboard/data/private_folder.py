"""A folder of this process alone for large files: it goes with the process, after a kill at the next start."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

PREFIX, LOCK = "likeness-private-", ".lock"


@cache
def private_folder() -> Path:
    """The folder, made on first use below the system's folder for temporary files. Raises OSError.

    A lock beside it says that its process lives: the system releases it when the process ends, however it ends.
    """
    root = Path(tempfile.gettempdir())
    remove_abandoned(root)
    descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=LOCK, dir=root)
    lock = os.fdopen(descriptor, "wb")
    if not _locked(lock):
        lock.close()
        raise OSError(f"{name} cannot be locked")
    folder = Path(name.removesuffix(LOCK))
    folder.mkdir(mode=0o700)
    atexit.register(_remove, folder, lock, os.getpid())
    return folder


def remove_abandoned(root: Path) -> None:
    """Removes such folders below `root` whose process has ended, and their locks."""
    for path in {entry.with_name(entry.name.removesuffix(LOCK)) for entry in root.glob(f"{PREFIX}*")}:
        try:
            with path.with_name(path.name + LOCK).open("ab") as lock:
                abandoned = _locked(lock)
            if abandoned:
                shutil.rmtree(path, ignore_errors=True)
                path.with_name(path.name + LOCK).unlink(missing_ok=True)
        except OSError:
            continue  # another user's


def _locked(file: IO[bytes]) -> bool:
    """Whether the file could be locked for this process."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(folder: Path, lock: IO[bytes], process: int) -> None:
    if os.getpid() != process:
        return  # a forked child ends; the folder is its parent's
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()
    folder.with_name(folder.name + LOCK).unlink(missing_ok=True)
