"""Images of pairs, made from their sources when read; the same source and changes give the same pixels."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cachetools import LRUCache

from compute.content import decoding
from compute.content.items import content_key, unreadable
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.perturb import perturb

if TYPE_CHECKING:
    from PIL import Image

RESIZE = "resize"
SHARE = 0.95  # of each side, in the identical pair; the paper says 95% of the size, but not how it is resized
RECENT = 256 << 20  # bytes of images cached in memory


@dataclass(frozen=True, kw_only=True)
class MadeImage:
    """A source image and its changes."""

    name: str
    source: bytes  # content key of the source's file
    # Each RESIZE to a share of a side, or a transformation of `perturb`: kind, strength, seed.
    changes: tuple[tuple[str, float, int], ...] = ()

    @property
    def key(self) -> bytes:
        """Returns the content key: the source's if there are no changes, else that of source and changes, so that it is
        known before the image is made.
        """
        if not self.changes:
            return self.source
        changes = list(map(list, self.changes))
        return content_key(json.dumps([self.source.decode(), PERTURB_VERSION, changes]))

    def then(self, kind: str, strength: float, seed: int = 0) -> MadeImage:
        """Returns the image with one more change."""
        return replace(self, changes=(*self.changes, (kind, strength, seed)))


class ImageMaker:
    """A maker of images that caches recent ones in memory for all models, splits and threads.

    `read(image)` returns the file of an image that exists already, else None; only one thread calls it at a time.
    """

    def __init__(self, read: Callable[[MadeImage], bytes | None]) -> None:
        self._existing = read
        self._recent = LRUCache(RECENT, getsizeof=lambda image: 4 * image.width * image.height)  # as Pillow holds RGB
        self._lock, self._reading = threading.Lock(), threading.Lock()

    def file(self, made: MadeImage) -> bytes:
        """Returns the image's file: the source's, or a PNG. Raises BadInput for an image that cannot be decoded."""
        data = self._read(made)
        return png(self.image(made)) if data is None else data

    def image(self, made: MadeImage) -> Image.Image:
        """Returns the image in RGB. It is shared and must not be modified. Raises BadInput."""
        from PIL import Image as Images

        with self._lock:
            image = self._recent.get(made.key)
        if image is not None:
            return image
        if (data := self._read(made)) is not None:
            opened = decoding.opened(data)
            with decoding.lock(opened):
                image = decoding.rgb(opened)
        else:
            *before, (kind, strength, seed) = made.changes
            base = self.image(replace(made, changes=tuple(before)))
            with decoding.lock(base):
                if kind == RESIZE:
                    size = tuple(max(1, round(side * strength)) for side in base.size)
                    image = base.resize(size, Images.Resampling.LANCZOS)
                else:
                    image = perturb(base, kind=kind, strength=strength, seed=seed)
        with self._lock, suppress(ValueError):  # larger than the whole cache
            self._recent[made.key] = image
        return image

    def _read(self, made: MadeImage) -> bytes | None:
        """Returns the file of an image that exists already."""
        with self._reading:
            try:
                return self._existing(made)
            except OSError as error:
                raise unreadable(made.name, error) from error


def png(image: Image.Image) -> bytes:
    """Returns the image as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
