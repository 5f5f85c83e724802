"""What several threads want at once, made by one of them, and a nameless file to store it in."""

from __future__ import annotations

import io
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

IN_MEMORY = 64 << 20  # bytes without a folder
ON_DISK = 8 << 30  # bytes at most, and at most half of what is free there
T = TypeVar("T")


class MadeOnce(Generic[T]):
    """Makes what is not stored; threads that want what is being made wait for it. `made` counts."""

    def __init__(self) -> None:
        self.made = 0
        self._making: dict[bytes, Future[T]] = {}
        self._lock = threading.Lock()

    def once(
        self, key: bytes, *, stored: Callable[[], T | None], make: Callable[[], T], store: Callable[[T], None]
    ) -> T:
        """What is stored under the key, else made and stored. Raises what `make` raises."""
        with self._lock:
            value = stored()
            if value is not None:
                return value
            making = self._making.get(key)
            if making is None:
                ours = self._making[key] = Future()
        if making is not None:
            return making.result()
        try:
            value = make()
        except BaseException as error:
            with self._lock:
                del self._making[key]
            ours.set_exception(error)
            raise
        with self._lock:
            self.made += 1
            store(value)
            del self._making[key]
        ours.set_result(value)
        return value


class TemporaryFile:
    """Bytes by key: in a nameless file in `folder`, which ends with the process however that ends, or without a folder
    in memory. Thread-safe.

    `room`, in bytes, is by default IN_MEMORY or ON_DISK. A disk that fills up loses what was stored, and no more.
    """

    def __init__(self, folder: Path | None, *, room: int | None = None) -> None:
        self._folder, self._room = folder, room
        self._file: BinaryIO | None = None
        self._end = 0
        self._extents: dict[bytes, tuple[int, int]] = {}  # start and length in the file
        self._lock = threading.Lock()

    def get(self, key: bytes) -> bytes | None:
        """The bytes, None where they are not stored."""
        with self._lock:
            if key not in self._extents:
                return None
            start, length = self._extents[key]
            self._file.seek(start)
            return self._file.read(length)

    def add(self, key: bytes, data: bytes, *, anew: bool = False) -> bool:
        """Stores bytes under a new key; False without room for them. With `anew` a full file starts over."""
        with self._lock:
            try:
                if self._file is None:
                    self._file, room = _opened(self._folder)
                    self._room = room if self._room is None else self._room
                if self._end + len(data) > self._room:
                    if not anew or len(data) > self._room:
                        return False
                    self._clear()
                self._file.seek(self._end)
                if self._file.write(data) < len(data):
                    raise OSError("the disk is full")
            except OSError:
                self._clear()
                return False
            self._extents[key] = self._end, len(data)
            self._end += len(data)
            return True

    def _clear(self) -> None:
        self._extents.clear()
        self._end = 0
        if self._file is not None:
            self._file.truncate(0)


def _opened(folder: Path | None) -> tuple[BinaryIO, int]:
    if folder is None:
        return io.BytesIO(), IN_MEMORY
    folder.mkdir(parents=True, exist_ok=True)
    # Unbuffered: a full disk is met where it is written to, and not at some later read.
    return tempfile.TemporaryFile(dir=folder, buffering=0), min(ON_DISK, shutil.disk_usage(folder).free // 2)
