"""The images of pairs, made from their sources when they are read: the same pixels for the same recipe."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compute.content import decoding
from compute.content.items import content_key
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.perturb import perturb

if TYPE_CHECKING:
    from PIL import Image

RESIZE, SHARE = "resize", 0.95  # the identical pair's second image: of each side, as FACTS of the paper leave open
PACKAGES = ("numpy", "pillow", "scipy", "torch", "torchvision")  # what makes the pixels
THUMBNAIL = 16  # pixels a side


@dataclass(frozen=True, kw_only=True)
class Step:
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
class Recipe:
    """A source image and what is done to it."""

    name: str
    source: bytes  # content key of the source's file
    steps: tuple[Step, ...] = ()

    @property
    def key(self) -> bytes:
        """The content key: the source's own where nothing is done, else of source and steps, so that it is known
        before a pixel is made."""
        if not self.steps:
            return self.source
        steps = [[step.kind, step.strength, step.seed] for step in self.steps]
        return content_key(json.dumps([self.source.decode(), PERTURB_VERSION, steps]))

    def then(self, step: Step) -> Recipe:
        """The recipe with one more step."""
        return Recipe(name=self.name, source=self.source, steps=(*self.steps, step))


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Makes images. `source(name, key)` gives a source file's bytes, `stored(key)` those of a made image, or None."""

    source: Callable[[str, bytes], bytes]
    stored: Callable[[bytes], bytes | None] = lambda key: None

    def file(self, recipe: Recipe) -> bytes:
        """The image's file: the source's own, or a PNG. Raises BadInput for what cannot be decoded."""
        data = self.stored(recipe.key)
        if data is not None:
            return data
        if not recipe.steps:
            return self.source(recipe.name, recipe.source)
        return png(self.image(recipe))

    def image(self, recipe: Recipe) -> Image.Image:
        """The image, RGB. Raises BadInput."""
        data = self.stored(recipe.key)
        if data is None and not recipe.steps:
            data = self.source(recipe.name, recipe.source)
        if data is not None:
            return decoding.decode(data)
        *before, last = recipe.steps
        return last.apply(self.image(Recipe(name=recipe.name, source=recipe.source, steps=tuple(before))))


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
