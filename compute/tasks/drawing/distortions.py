"""Distortions of known strength, a scene under them, and what can be measured of an image: brightness and the like."""

from __future__ import annotations

import io
from random import Random
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageFilter

from compute.tasks.drawing.render import SIDE, Pixels, draw
from compute.tasks.drawing.scenes import Scene

_TONE = (0.82, 0.66, 0.52, 0.4, 0.3)
# By strength 1..5: blur's radius and noise's deviation in pixels and grey levels, JPEG's quality, pixels a side,
# and the share of contrast, light or colour that remains.
LEVELS = {
    "blur": (0.5, 0.8, 1.2, 1.8, 2.6),
    "noise": (8, 16, 28, 44, 66),
    "blocks": (40, 22, 12, 7, 3),
    "pixels": (44, 32, 24, 17, 12),
    "fade": (0.8, 0.62, 0.46, 0.33, 0.22),
    "darken": _TONE,
    "lighten": _TONE,
    "grey": (0.55, 0.38, 0.24, 0.1, 0.0),
    "vivid": (1.2, 1.45, 1.75, 2.1, 2.6),
}
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def distort(image: Pixels, *, kind: str, strength: int, seed: int = 0) -> Pixels:
    """The image with one distortion of strength 1..5; strength 0 is the image itself."""
    if strength == 0:
        return image
    level = LEVELS[kind][strength - 1]
    picture = Image.fromarray(image)
    values = image.astype(np.float32)
    match kind:
        case "blur":
            return np.asarray(picture.filter(ImageFilter.GaussianBlur(level)))
        case "blocks":
            file = io.BytesIO()
            picture.save(file, "JPEG", quality=level)
            return np.asarray(Image.open(file).convert("RGB"))
        case "pixels":
            small = picture.resize((level, level), Image.Resampling.BOX)
            return np.asarray(small.resize((SIDE, SIDE), Image.Resampling.NEAREST))
        case "noise":
            values += np.random.default_rng(seed).standard_normal(image.shape, dtype=np.float32) * level
        case "fade":
            middle = values.mean()
            values = middle + (values - middle) * level
        case "darken":
            values *= level
        case "lighten":
            values = 255 - (255 - values) * level
        case "grey" | "vivid":
            grey = (values @ _LUMA)[..., None]
            values = grey + (values - grey) * level
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


class Shown(NamedTuple):
    """A scene as one image shows it: moved a little, then distorted."""

    scene: Scene
    shift: tuple[float, float] = (0.0, 0.0)
    kind: str = ""
    strength: int = 0
    seed: int = 0

    def pixels(self) -> Pixels:
        """(64, 64, 3)"""
        return distort(draw(self.scene, shift=self.shift), kind=self.kind, strength=self.strength, seed=self.seed)


def shift(rng: Random) -> tuple[float, float]:
    """A move by up to 6% of the image, each way."""
    return rng.uniform(-0.06, 0.06), rng.uniform(-0.06, 0.06)


def distorted(scene: Scene, kind: str, strength: int, rng: Random) -> Shown:
    """The scene under one distortion, with its own seed."""
    return Shown(scene, kind=kind, strength=strength, seed=rng.getrandbits(32))
