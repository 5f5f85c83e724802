"""Images of questions, made ready once each: one image stands in many pairs, in both orders and under two conditions.

To read an image may be to make it (PairBench draws its transformed ones), and to encode it takes longer than to send
it. What is ready goes to a file rather than to memory, so that ten thousand pairs take no more memory than ten.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import BinaryIO

from compute.content.messages import Picture, Question

IN_MEMORY = 64 << 20  # bytes without a folder
ON_DISK = 8 << 30  # bytes at most, and at most half of what is free there
MAKERS = min(4, os.cpu_count() or 1)  # images made at once: one that is decoded may take 200 MB


class ReadyImages:
    """Bytes that `make` gave for an image, by its content key; thread-safe.

    They lie in a nameless file in `folder`, which ends with the process however that ends, or without a folder in
    memory. When the file is full it starts anew, so questions in the order of `grouped` meet most images once.
    `made` counts the calls of `make`.
    """

    def __init__(self, make: Callable[[Picture], bytes], *, folder: Path | None, room: int | None = None) -> None:
        self.made = 0
        self._make, self._folder, self._room = make, folder, room
        self._file: BinaryIO | None = None
        self._end = 0
        self._extents: dict[bytes, tuple[int, int]] = {}  # start and length in the file
        self._making: dict[bytes, Future[bytes]] = {}
        self._lock = threading.Lock()
        self._makers = threading.BoundedSemaphore(MAKERS)

    def of(self, picture: Picture) -> bytes:
        """The image made ready. Threads that want one that is being made wait for it. Raises what `make` raises."""
        with self._lock:
            if picture.key in self._extents:
                return self._read(*self._extents[picture.key])
            making = self._making.get(picture.key)
            if making is None:
                ours = self._making[picture.key] = Future()
        if making is not None:
            return making.result()
        try:
            with self._makers:
                data = self._make(picture)
        except BaseException as error:
            with self._lock:
                del self._making[picture.key]
            ours.set_exception(error)
            raise
        with self._lock:
            self.made += 1
            self._store(picture.key, data)
            del self._making[picture.key]
        ours.set_result(data)
        return data

    def _read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)

    def _store(self, key: bytes, data: bytes) -> None:
        """Without room on the disk images are made again when they are needed again."""
        try:
            if self._file is None:
                self._file, room = _opened(self._folder)
                self._room = room if self._room is None else self._room
            if len(data) > self._room:
                return
            if self._end + len(data) > self._room:
                self._clear()
            self._file.seek(self._end)
            if self._file.write(data) < len(data):
                raise OSError("the disk is full")
        except OSError:
            self._clear()
            return
        self._extents[key] = self._end, len(data)
        self._end += len(data)

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


def grouped(questions: Sequence[Question]) -> list[int]:
    """Positions of the questions, those that share images near each other, else in their order."""
    first: dict[bytes, int] = {}

    def earliest(position: int) -> int:
        keys = [part.key for part in questions[position].parts if isinstance(part, Picture)]
        return min((first.setdefault(key, position) for key in keys), default=position)

    return sorted(range(len(questions)), key=earliest)
