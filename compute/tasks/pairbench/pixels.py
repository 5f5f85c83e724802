"""The images of pairs, made from their sources when they are read: the same pixels for the same source and changes."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cachetools import LRUCache

from compute.content import decoding
from compute.content.items import content_key, unreadable
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.perturb import perturb

if TYPE_CHECKING:
    from PIL import Image

RESIZE = "resize"
ON_DISK = 8 << 30  # bytes at most, and at most half of what is free there
SHARE = 0.95  # of each side, in the identical pair; the paper says 95% of the size and not how it is resized
RECENT = 64 << 20  # bytes of images that stay in memory


class Change(NamedTuple):
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
        changes = list(map(list, self.changes))
        return content_key(json.dumps([self.source.decode(), PERTURB_VERSION, changes]))

    def then(self, change: Change) -> MadeImage:
        """The image with one more change."""
        return replace(self, changes=(*self.changes, change))


class ImageMaker:
    """Makes images, each once for all models, splits and threads that read it, as far as there is room.

    `read(image)` gives the file of one that need not be made, else None; no two threads call it at once. With
    `folder`, what was made stays in a nameless file there, which ends with the process.
    """

    def __init__(self, read: Callable[[MadeImage], bytes | None], *, folder: Path | None = None) -> None:
        self._existing = read
        self._store = _nameless(folder) if folder else None
        self._recent = LRUCache(RECENT, getsizeof=lambda image: 4 * image.width * image.height)  # as Pillow holds RGB
        self._lock, self._reading = threading.Lock(), threading.Lock()

    def file(self, made: MadeImage) -> bytes:
        """The image's file: the source's own, or a PNG. Raises BadInput for what cannot be decoded."""
        data = self._read(made)
        return png(self.image(made)) if data is None else data

    def image(self, made: MadeImage) -> Image.Image:
        """The image, RGB, not to be changed: others read it too. Raises BadInput."""
        with self._lock:
            image = self._recent.get(made.key) or self._stored(made.key)
        if image is not None:
            return image
        if (data := self._read(made)) is not None:
            opened = decoding.opened(data)
            with decoding.lock(opened):
                image = decoding.rgb(opened)
        else:
            *before, last = made.changes
            base = self.image(replace(made, changes=tuple(before)))
            with decoding.lock(base):
                image = last.apply(base)
        with self._lock:
            with suppress(ValueError):  # one that is larger than all that stays
                self._recent[made.key] = image
            if made.changes and self._store is not None:
                with suppress(sqlite3.Error):  # the disk is full
                    row = (made.key, *image.size, image.tobytes())
                    self._store.execute("INSERT OR IGNORE INTO made VALUES (?, ?, ?, ?)", row)
        return image

    def _stored(self, key: bytes) -> Image.Image | None:
        from PIL import Image

        query = "SELECT width, height, pixels FROM made WHERE key = ?"
        row = self._store.execute(query, [key]).fetchone() if self._store else None
        return Image.frombytes("RGB", row[:2], row[2]) if row else None

    def _read(self, made: MadeImage) -> bytes | None:
        """The file of an image that need not be made."""
        with self._reading:
            try:
                return self._existing(made)
            except OSError as error:
                raise unreadable(made.name, error) from error


def _nameless(folder: Path) -> sqlite3.Connection | None:
    """A database of made images in a file without a name, of ON_DISK bytes at most; None where none can be written."""
    with suppress(OSError, sqlite3.Error):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            store = sqlite3.connect(file.name, check_same_thread=False, isolation_level=None)
            for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
                store.execute(f"PRAGMA {setting}")
            store.execute(f"PRAGMA max_page_count = {min(ON_DISK, shutil.disk_usage(folder).free // 2) >> 12}")
            store.execute("CREATE TABLE made (key BLOB PRIMARY KEY, width INT, height INT, pixels BLOB)")
            return store
    return None


def png(image: Image.Image) -> bytes:
    """The image as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
