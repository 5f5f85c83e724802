"""The images of pairs, made from their sources when they are read: the same pixels for the same source and changes."""

from __future__ import annotations

import io
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from compute.content import decoding
from compute.content.items import content_key
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.perturb import perturb

if TYPE_CHECKING:
    from PIL import Image

RESIZE = "resize"
SHARE = 0.95  # of each side, in the identical pair; the paper says 95% of the size and not how it is resized
PACKAGES = ("numpy", "pillow", "scipy", "torch", "torchvision")  # what makes the pixels
THUMBNAIL = 16  # pixels a side
RECENT_BYTES = 64 << 20  # of files made last that stay in memory


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


class RecentFiles:
    """The files made last, up to RECENT_BYTES, by content key: both orders of a pair read an image soon again."""

    def __init__(self) -> None:
        self._files: OrderedDict[bytes, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: bytes) -> bytes | None:
        """The file, None where it was not made or is forgotten."""
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
            return self._files.get(key)

    def add(self, key: bytes, file: bytes) -> None:
        """Remembers a file; the oldest are forgotten."""
        with self._lock:
            self._bytes += len(file) - len(self._files.pop(key, b""))
            self._files[key] = file
            while self._bytes > RECENT_BYTES:
                self._bytes -= len(self._files.popitem(last=False)[1])


@dataclass(frozen=True, kw_only=True)
class ImageMaker:
    """Makes images. `source(name, key)` gives a source file's bytes, `stored(key)` those of a made image, or None."""

    source: Callable[[str, bytes], bytes]
    stored: Callable[[bytes], bytes | None] = lambda key: None
    recent: RecentFiles = field(default_factory=lambda: RecentFiles(), compare=False, repr=False)

    def file(self, made: MadeImage) -> bytes:
        """The image's file: the source's own, or a PNG. Raises BadInput for what cannot be decoded."""
        data = self.stored(made.key)
        if data is not None:
            return data
        if not made.changes:
            return self.source(made.name, made.source)
        data = self.recent.get(made.key)
        if data is None:
            data = png(self.image(made))
            self.recent.add(made.key, data)
        return data

    def image(self, made: MadeImage) -> Image.Image:
        """The image, RGB. Raises BadInput."""
        data = self.stored(made.key)
        if data is None and not made.changes:
            data = self.source(made.name, made.source)
        if data is not None:
            return decoding.decode(data)
        *before, last = made.changes
        return last.apply(self.image(MadeImage(name=made.name, source=made.source, changes=tuple(before))))


def png(image: Image.Image) -> bytes:
    """The image as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


def digest(image: Image.Image) -> str:
    """A digest of size and pixels."""
    return content_key(repr(image.size).encode() + image.tobytes()).decode()


def thumbnail(image: Image.Image) -> bytes:
    """(THUMBNAIL, THUMBNAIL, 3) mean colours."""
    from PIL import Image as Images

    return image.resize((THUMBNAIL, THUMBNAIL), Images.Resampling.BOX).tobytes()


def same_but_for_rounding(image: Image.Image, of: bytes) -> bool:
    """Whether the image's mean colours are those of a stored thumbnail, within a level of 256."""
    own, other = (np.frombuffer(data, dtype=np.uint8).astype(int) for data in (thumbnail(image), of))
    return own.shape == other.shape and int(np.abs(own - other).max(initial=0)) <= 1
