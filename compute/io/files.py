"""Atomic file writing, and reading of untrusted JSON records with limits.

A file is written to a draft next to it, which is then moved into place. A killed process leaves its draft. A writer
holds a lock on the folder, which ends with the process, so drafts that the next writer finds are abandoned and can be
removed. `sweep` removes them without writing. Abandoned temporary folders are detected in the same way. On a file
system without locks, drafts are not removed.

A valid record can be written as JSON again, stored as UTF-8 text, and traversed without a stack overflow.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from compute.types import BadInput, CannotWrite

if TYPE_CHECKING:
    from pydantic import BaseModel

# Names of drafts; the latter two are from earlier versions.
DRAFT = re.compile(
    r".+\.draft-\d+(-\d+)?(\.wal|\.npy)?|.+\.(json|safetensors)\.\d+\.draft|settings\.[0-9a-f]{8}\.draft"
)
DRAFT_FOLDER = re.compile(r"\..+\.draft-\d+|.+\.draft-\d+\.tmp")  # a folder's draft, and DuckDB's spill folder
# Prefix of temporary folders. It differs from earlier versions, which lock another file and would remove the folder.
TEMPORARY = "likeness-temporary-"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Record = TypeVar("Record", bound="BaseModel")
MAX_RECORD = 16 << 20  # a run's record has 5 to 50 KB; the skipped items of a large data set may take megabytes
MAX_DEPTH = 32  # of nested lists and objects

_held = threading.local()  # the folders that this thread has locked


def draft_of(path: Path) -> Path:
    """Returns the path at which this process writes the draft of `path`."""
    return path.with_name(f"{path.name}.draft-{os.getpid()}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields the draft to write, which replaces `path` at the end. After an error it is removed, and the old file
    stays.

    Waits for other writers in the folder. Raises CannotWrite with the file's name, also if the disk is full.
    """
    draft = draft_of(path)
    try:
        with locked(path.parent):
            discard(draft)
            try:
                yield draft
                with open(draft, "rb") as handle:
                    os.fsync(handle.fileno())
                os.replace(draft, path)
            finally:
                for suffix in ("", ".wal", ".tmp"):  # the latter two are DuckDB's
                    discard(draft.with_name(draft.name + suffix))
    except OSError as error:
        raise CannotWrite(refusal(path, error)) from error


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8, atomically. Raises CannotWrite."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def check_writable(folder: Path) -> None:
    """Raises BadInput for a folder in which no file can be created, before hours of work depend on it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written ({error.strerror}): name another folder with --results (in Python results=)"
        ) from error


def is_full(error: Exception) -> bool:
    """Returns whether an error means that no more can be written, by its code or by its wording."""
    told = str(error).lower()
    return getattr(error, "errno", None) in FULL or any(os.strerror(code).lower() in told for code in FULL)


def refusal(path: Path, error: Exception) -> str:
    """Returns why a file was not written, with a remedy, in sentences."""
    reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip().partition("\n")[0]
    remedy = "Free some disk space" if is_full(error) else "Check the folder and its permissions"
    state = "The old file is unchanged" if path.exists() else "Nothing is left of it"
    return f"Cannot write {path.name}: {reason.rstrip('.')}. {state}. {remedy}, then run the same command again"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks a folder for writing by one thread of one process; nested calls are allowed.

    Removes the drafts that killed processes left in it.
    """
    handle = _open(folder)
    try:
        status = folder.stat()
        identity, held = (status.st_dev, status.st_ino), _held.__dict__.setdefault("folders", set())
        if identity in held:
            yield
            return
        has_lock = _lock(handle)
        held.add(identity)
        try:
            if has_lock:
                _remove_drafts(folder)
            yield
        finally:
            held.discard(identity)
    finally:
        _close(handle)


@contextmanager
def reserved(path: Path) -> Iterator[bool]:
    """Locks a file at that path while the process needs it, without waiting; yields False if another process has it.

    On a file system without locks it always succeeds. Raises CannotWrite if the file cannot be created.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise CannotWrite(refusal(path, error)) from error
    try:
        yield _lock(handle, wait=False) is not False
    finally:
        os.close(handle)


def sweep(*roots: Path, skip: tuple[str, ...] = (), deep: bool = True) -> list[Path]:
    """Removes the drafts below the roots that no process is writing; returns them.

    Folders with a name in `skip` are skipped; without `deep`, all folders below a root are.
    """
    removed = []
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in skip] if deep else folders
            if any(map(DRAFT.fullmatch, files)) or any(map(DRAFT_FOLDER.fullmatch, folders)):
                with suppress(OSError):
                    handle = _open(Path(folder))
                    try:
                        removed += _remove_drafts(Path(folder)) if _lock(handle, wait=False) else []
                    finally:
                        _close(handle)
            if not deep:
                break
    return removed


def _remove_drafts(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        drafts = [
            Path(entry.path)
            for entry in entries
            if (DRAFT_FOLDER if entry.is_dir(follow_symlinks=False) else DRAFT).fullmatch(entry.name)
        ]
    for draft in drafts:
        discard(draft)
    return drafts


def discard(path: Path) -> None:
    """Removes a file or a folder as far as possible; errors are ignored because the folder above may be the cause."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _open(folder: Path) -> int | None:
    """Opens a folder for locking; returns None on Windows, which cannot open folders."""
    return None if os.name == "nt" else os.open(folder, os.O_RDONLY)


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)


def _lock(handle: int | None, *, wait: bool = True) -> bool | None:
    """Locks an open folder or file; returns False if another process holds it, None if the platform or file system has
    no locks.
    """
    if handle is None:
        return None
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):
        return None
    return True


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yields a temporary folder that no other user can read, and removes it at the end.

    Also removes those that killed processes left: a file in each is locked while its process lives.
    """
    _sweep_temporary()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY))
        try:
            handle = _open_lock(folder)
        except FileNotFoundError:  # another process took it for an abandoned one
            continue
        _lock(handle)
        if folder.is_dir():  # for the same reason, before it was locked
            break
        _close(handle)
    files = folder / "files"  # not the folder itself, which holds the lock
    files.mkdir(mode=0o700)
    process = os.getpid()
    try:
        yield files
    finally:
        _close(handle)
        if os.getpid() == process:  # otherwise a forked child exits, and the folder is its parent's
            discard(folder)


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
                    discard(folder)
            finally:
                _close(handle)
            if abandoned and os.name == "nt":  # Windows does not remove open files
                discard(folder)


def read_record(path: Path, *, root: Path) -> dict[str, Any]:
    """Reads the JSON object in a file below `root`. Raises OSError, and ValueError with the error."""
    record = parse_json(read_bytes(path, root=root, most=MAX_RECORD).decode(), name=path.name)
    if not isinstance(record, dict):
        raise ValueError(f"{path.name} holds no object")
    return record


def parse_json(text: str, *, name: str) -> Any:
    """Parses a JSON text. Raises ValueError if it is nested too deeply, or if no database can store it."""
    try:
        value = json.loads(text)
        level = [value]
        for _ in range(MAX_DEPTH):
            level = [
                child
                for one in level
                if isinstance(one, dict | list)
                for child in (one.values() if isinstance(one, dict) else one)
            ]
        if level:
            raise RecursionError
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # ValueError for NaN and infinity
    except RecursionError:
        raise ValueError(f"{name} has lists within lists beyond {MAX_DEPTH} levels") from None
    except UnicodeEncodeError:
        raise ValueError(f"{name} has half a character, which no UTF-8 text can hold") from None
    return value


def validated(content: Any, model: type[Record]) -> Record:
    """Returns the content as a pydantic model. Raises ValueError with the first wrong field."""
    from pydantic import ValidationError

    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))[:100] or "it"
        raise ValueError(f"{where} is {short(first['input'])}: {first['msg']}") from None


def read_bytes(path: Path, *, root: Path, most: int) -> bytes:
    """Returns a file's content. Raises as `check_file`."""
    check_file(path, root=root, most=most)
    return path.read_bytes()


def check_file(path: Path, *, root: Path, most: int) -> None:
    """Raises OSError, and ValueError for a link out of `root`, a file that is not regular, or one
    above `most` bytes.
    """
    if path.is_symlink():
        check_inside(path, root=root)
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path.name} is not a plain file")
    if status.st_size > most:
        raise ValueError(f"{path.name} has more than the {most / 2**20:.0f} MB that are read")


def check_inside(path: Path, *, root: Path) -> None:
    """Raises ValueError for a path that leads out of `root` by a link."""
    if not is_inside(path, root):
        raise ValueError(f"{path.name} is a link out of the folder {root.name}")


def is_inside(path: Path, root: Path) -> bool:
    """Returns whether a path, with links resolved, is `root` or below it."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def short(value: Any) -> str:
    """Returns a value for an error message: one line of at most 60 characters."""
    return ascii(value)[:60] if not isinstance(value, list | dict) else f"a {type(value).__name__}"


def words_beside(module: str) -> dict[str, Any]:
    """Returns the content of the .toml file with a module's name, next to its `__file__`."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
