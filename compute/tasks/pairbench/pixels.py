"""The images of pairs, made from their sources when they are read: the same pixels for the same source and changes."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from compute.content import decoding
from compute.content.items import content_key, unreadable
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.perturb import perturb

ON_DISK = 8 << 30  # bytes at most, and at most half of what is free there


class TemporaryFile:
    """Bytes by key in a nameless file in `folder`, which ends with the process however that ends. Thread-safe.

    A disk that fills up loses what was stored, and no more.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._room = folder, 0
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

    def add(self, key: bytes, data: bytes) -> None:
        """Stores bytes under a new key, where there is room for them."""
        with self._lock:
            try:
                if self._file is None:
                    self._folder.mkdir(parents=True, exist_ok=True)
                    self._room = min(ON_DISK, shutil.disk_usage(self._folder).free // 2)
                    # Unbuffered: a full disk is met where it is written to, and not at some later read.
                    self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
                if self._end + len(data) > self._room:
                    return
                self._file.seek(self._end)
                if self._file.write(data) < len(data):
                    raise OSError("the disk is full")
                self._extents[key] = self._end, len(data)
                self._end += len(data)
            except OSError:
                self._extents.clear()
                self._end = 0
                if self._file is not None:
                    self._file.truncate(0)


if TYPE_CHECKING:
    from PIL import Image

RESIZE = "resize"
SHARE = 0.95  # of each side, in the identical pair; the paper says 95% of the size and not how it is resized
RECENT = 64 << 20  # bytes of images that stay in memory


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of an image: RESIZE to a share of each side, or a transformation of `perturb`."""

    kind: str
    strength: float
    seed: int = 0

    def apply(self, image: Image.Image) -> Image.Image:
        """The changed image, RGB."""
        if self.kind != RESIZE:
            return perturb(image, kind=self.kind, strength=self.strength, seed=self.seed)
        from PIL import Image as Images

        size = tuple(max(1, round(side * self.strength)) for side in image.size)
        return image.resize(size, Images.Resampling.LANCZOS)


@dataclass(frozen=True, kw_only=True)
class MadeImage:
    """A source image and what is done to it."""

    name: str
    source: bytes  # content key of the source's file
    changes: tuple[Change, ...] = ()

    @property
    def key(self) -> bytes:
        """The content key: the source's own where nothing is done, else of source and changes, so that it is known
        before a pixel is made."""
        if not self.changes:
            return self.source
        changes = [[change.kind, change.strength, change.seed] for change in self.changes]
        return content_key(json.dumps([self.source.decode(), PERTURB_VERSION, changes]))

    def then(self, change: Change) -> MadeImage:
        """The image with one more change."""
        return MadeImage(name=self.name, source=self.source, changes=(*self.changes, change))


class ImageMaker:
    """Makes images, each once for all models, splits and threads that read it, as far as there is room; a thread that
    wants what another is making waits for it.

    `read(image)` gives the file of one that need not be made, else None; no two threads call it at once. With
    `folder`, what was made stays in a nameless file there, which ends with the process.
    """

    def __init__(self, read: Callable[[MadeImage], bytes | None], *, folder: Path | None = None) -> None:
        self._existing = read
        self._recent: dict[bytes, Image.Image] = {}  # the pairs of an item share them
        self._making: dict[bytes, Future[Image.Image]] = {}
        self._file = TemporaryFile(folder) if folder else None
        self._lock, self._reading = threading.Lock(), threading.Lock()

    def file(self, made: MadeImage) -> bytes:
        """The image's file: the source's own, or a PNG. Raises BadInput for what cannot be decoded."""
        data = self._read(made)
        return png(self.image(made)) if data is None else data

    def image(self, made: MadeImage) -> Image.Image:
        """The image, RGB, not to be changed: others read it too. Raises BadInput."""
        key = made.key
        with self._lock:
            image = self._stored(key)
            if image is not None:
                return image
            making = self._making.get(key)
            if making is None:
                ours = self._making[key] = Future()
        if making is not None:
            return making.result()
        try:
            image = self._made(made)
            with self._lock:
                self._remember(key, image)
                if self._file is not None and made.changes:
                    self._file.add(key, np.array(image.size, dtype=np.int64).tobytes() + image.tobytes())
            ours.set_result(image)
            return image
        except BaseException as error:
            ours.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key]

    def _stored(self, key: bytes) -> Image.Image | None:
        data = None if key in self._recent or self._file is None else self._file.get(key)
        if data is None:
            return self._recent.get(key)
        from PIL import Image

        width, height = np.frombuffer(data[:16], dtype=np.int64).tolist()
        image = Image.frombytes("RGB", (width, height), memoryview(data)[16:])
        self._remember(key, image)
        return image

    def _remember(self, key: bytes, image: Image.Image) -> None:
        self._recent[key] = image
        while sum(4 * each.width * each.height for each in self._recent.values()) > RECENT:  # as Pillow holds RGB
            del self._recent[next(iter(self._recent))]

    def _made(self, made: MadeImage) -> Image.Image:
        data = self._read(made)
        if data is not None:
            opened = decoding.opened(data)
            with decoding.lock(opened):
                return decoding.rgb(opened)
        *before, last = made.changes
        image = self.image(MadeImage(name=made.name, source=made.source, changes=tuple(before)))
        with decoding.lock(image):
            return last.apply(image)

    def _read(self, made: MadeImage) -> bytes | None:
        """The file of an image that need not be made."""
        with self._reading:
            try:
                return self._existing(made)
            except OSError as error:
                raise unreadable(made.name, error) from error


def png(image: Image.Image) -> bytes:
    """The image as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
