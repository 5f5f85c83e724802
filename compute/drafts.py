"""Files written whole or not at all: to a draft beside the file, which is then moved into place.

A process that is killed leaves its draft. Whoever writes holds a lock on the folder, which goes with the process: so
the drafts that the next writer meets in there are nobody's, and are removed. `sweep` removes them without writing.
Temporary folders are recognised by the same means. Where a file system has no locks, drafts are left alone.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compute.types import CannotWrite

# Of a file; the latter two of earlier versions.
DRAFT = re.compile(
    r".+\.draft-\d+(-\d+)?(\.wal|\.npy)?|.+\.(json|safetensors)\.\d+\.draft|settings\.[0-9a-f]{8}\.draft"
)
DRAFT_FOLDER = re.compile(r"\..+\.draft-\d+|.+\.draft-\d+\.tmp")  # of a folder; what DuckDB moves out of memory
# Begins the name of a temporary folder. Not as in earlier versions, which lock another file and would remove it.
TEMPORARY = "likeness-temporary-"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_held = threading.local()  # the folders that this thread has locked


def draft_of(path: Path) -> Path:
    """Where this process writes what is to become `path`."""
    return path.with_name(f"{path.name}.draft-{os.getpid()}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields the draft to write; it replaces `path` at the end. After an error it is removed, and the old file stays.

    Waits for others that write in the folder. Raises CannotWrite naming the file, of a full disk too.
    """
    draft = draft_of(path)
    try:
        with alone(path.parent):
            remove(draft)
            try:
                yield draft
                with open(draft, "rb") as handle:
                    os.fsync(handle.fileno())
                os.replace(draft, path)
            finally:
                for suffix in ("", ".wal", ".tmp"):  # the latter two are DuckDB's
                    remove(draft.with_name(draft.name + suffix))
    except OSError as error:
        raise CannotWrite(refusal(path, error)) from error


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8, whole or not at all. Raises CannotWrite."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def is_full(error: Exception) -> bool:
    """Whether an error, of the system or of a library that tells it in words, says that no more can be written."""
    told = str(error).lower()
    return getattr(error, "errno", None) in FULL or any(os.strerror(code).lower() in told for code in FULL)


def refusal(path: Path, error: Exception) -> str:
    """Why a file was not written, and what to do about it, in sentences."""
    reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip().partition("\n")[0]
    remedy = "Free some disk space" if is_full(error) else "Check the folder and its permissions"
    state = "The old file is unchanged" if path.exists() else "Nothing is left of it"
    return f"Cannot write {path.name}: {reason.rstrip('.')}. {state}. {remedy}, then run the same command again"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One thread of one process at a time writes in the folder, and may call this again meanwhile.

    Removes the drafts that killed processes left in it.
    """
    handle = _open(folder)
    try:
        status = folder.stat()
        identity, held = (status.st_dev, status.st_ino), _held.__dict__.setdefault("folders", set())
        if identity in held:
            yield
            return
        locked = _lock(handle)
        held.add(identity)
        try:
            if locked:
                _remove_drafts(folder)
            yield
        finally:
            held.discard(identity)
    finally:
        _close(handle)


@contextmanager
def reserved(path: Path) -> Iterator[bool]:
    """Locks a file of that path as long as the process needs it, without waiting; yields False where another has it.

    A file system without locks lets everybody through. Raises CannotWrite where the file cannot be made.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise CannotWrite(refusal(path, error)) from error
    try:
        yield not _is_taken(handle)
    finally:
        os.close(handle)


def _is_taken(handle: int) -> bool:
    """Locks an open file, unless another holds it already."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except (ImportError, OSError):
        return False
    return False


def sweep(*roots: Path, skip: tuple[str, ...] = (), deep: bool = True) -> list[Path]:
    """Removes the drafts below the roots that nobody is writing; returns them. Folders of a name in `skip` are passed
    over; without `deep` all folders below a root are."""
    removed = []
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in skip] if deep else folders
            if any(map(DRAFT.fullmatch, files)) or any(map(DRAFT_FOLDER.fullmatch, folders)):
                removed += _swept(Path(folder))
            if not deep:
                break
    return removed


def _swept(folder: Path) -> list[Path]:
    try:
        handle = _open(folder)
    except OSError:
        return []
    try:
        return _remove_drafts(folder) if _lock(handle, wait=False) else []
    finally:
        _close(handle)


def _remove_drafts(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        drafts = [
            Path(entry.path)
            for entry in entries
            if (DRAFT_FOLDER if entry.is_dir(follow_symlinks=False) else DRAFT).fullmatch(entry.name)
        ]
    for draft in drafts:
        remove(draft)
    return drafts


def remove(path: Path) -> None:
    """Removes a file or a folder as far as that is possible; the folder above may be what is wrong."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _open(folder: Path) -> int | None:
    """A folder opened to be locked; None on Windows, which opens none."""
    return None if os.name == "nt" else os.open(folder, os.O_RDONLY)


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)


def _lock(handle: int | None, *, wait: bool = True) -> bool:
    """Locks an open folder or file; False where another holds it, or where the platform or its file system has no
    locks.
    """
    if handle is None:
        return False
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder among the system's temporary ones that no other user reads, removed at the end.

    Removes those that killed processes left: a file in each is locked as long as its process lives.
    """
    _sweep_temporary()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY))
        try:
            handle = _open_lock(folder)
        except FileNotFoundError:  # another process took it for one that was left
            continue
        _lock(handle)
        if folder.is_dir():  # the same, before it was locked
            break
        _close(handle)
    files = folder / "files"  # not the folder itself, which holds the lock
    files.mkdir(mode=0o700)
    process = os.getpid()
    try:
        yield files
    finally:
        _close(handle)
        if os.getpid() == process:  # else a forked child ends, and the folder is its parent's
            remove(folder)


def _open_lock(folder: Path) -> int:
    return os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)


def _sweep_temporary() -> None:
    own = os.getuid() if hasattr(os, "getuid") else 0  # the owner of every file on Windows
    for folder in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        with suppress(OSError):
            if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != own:
                continue
            handle = _open_lock(folder)
            try:
                abandoned = _lock(handle, wait=False)
                if abandoned:
                    remove(folder)
            finally:
                _close(handle)
            if abandoned and os.name == "nt":  # which removes no open file
                remove(folder)
