"""Digests of files, read once for the same path, size and time of change: also by processes that come later."""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import lru_cache
from pathlib import Path

from compute import drafts
from compute.types import CannotWrite

SMALL = 1 << 20  # bytes: below, reading the file takes no longer than looking its digest up


def digest(path: Path, *, algorithm: str = "blake2b") -> str:
    """Hexadecimal digest of a file's content, or of the names and contents of all files below a folder."""
    if path.is_dir():
        names = sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        listed = "".join(f"{name} {digest(path / name, algorithm=algorithm)}\n" for name in names)
        return _of_bytes(listed.encode(), algorithm)
    stat = path.stat()
    return _remembered(path.resolve(), stat.st_size, stat.st_mtime_ns, algorithm)


@lru_cache(maxsize=4096)
def _remembered(path: Path, size: int, changed: int, algorithm: str) -> str:
    if size < SMALL:
        return read(path, algorithm=algorithm)
    note = folder() / _of_bytes(f"{path} {size} {changed} {algorithm}".encode(), "blake2b")
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if (stored := note.read_text(encoding="utf-8").strip()).isalnum():
            return stored
    digest = read(path, algorithm=algorithm)
    with contextlib.suppress(OSError, CannotWrite):  # a machine that keeps nothing reads again
        note.parent.mkdir(parents=True, exist_ok=True)
        drafts.write_text(note, digest)
    return digest


def read(path: Path, *, algorithm: str) -> str:
    """Hexadecimal digest of a file, by reading it; of BLAKE2b 16 bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: _hash(algorithm)).hexdigest()


def folder() -> Path:
    """Where digests are noted: below LIKENESS_CACHE, else in the hub's own folder."""
    from huggingface_hub import constants

    home = os.environ.get("LIKENESS_CACHE") or Path(constants.HF_HOME) / "likeness"
    return Path(home).expanduser() / "digests"


def _hash(algorithm: str) -> hashlib._Hash:
    return hashlib.blake2b(digest_size=16) if algorithm == "blake2b" else hashlib.new(algorithm)


def _of_bytes(data: bytes, algorithm: str) -> str:
    made = _hash(algorithm)
    made.update(data)
    return made.hexdigest()
