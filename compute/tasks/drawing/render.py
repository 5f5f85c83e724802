"""Rendering of scenes to pixels: (64, 64, 3) uint8, deterministic. Some backgrounds are crops of photographs.

Also distortions of known strength, and measurable attributes of an image such as brightness.
"""

from __future__ import annotations

import importlib.util
import io
import math
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from compute.tasks.drawing.compose import Background, Scene
from compute.tasks.drawing.lexicon import CELLS, COLOURS, SIZES
from compute.types import NotHere
from compute.versions import install_command

SIDE = 64  # pixels
FINE = 2 * SIDE  # things are drawn at twice the size and downsampled
STEP = 16  # pixels of the fine image between stripes, checks and dots
FONT_SIZE = 12
SHORT_SIDE = 192  # pixels of the shorter side of a stored photograph
# Training uses only the left part of a photograph, evaluation only the right: they share no pixel.
PARTS = {"train": (0.0, 0.6), "test": (0.6, 1.0)}

Pixels = NDArray[np.uint8]
_CROSS = tuple(
    (x / 3, y / 3)
    for x, y in (
        (-1, -3),
        (1, -3),
        (1, -1),
        (3, -1),
        (3, 1),
        (1, 1),
        (1, 3),
        (-1, 3),
        (-1, 1),
        (-3, 1),
        (-3, -1),
        (-1, -1),
    )
)
_HEART = tuple(
    (math.sin(t) ** 3, -(13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)) / 16)
    for t in (2 * math.pi * number / 24 for number in range(24))
)
_MOON = tuple((math.cos(math.radians(angle)), math.sin(math.radians(angle))) for angle in range(50, 311, 15)) + tuple(
    (0.35 + 0.72 * math.cos(math.radians(angle)), 0.8 * math.sin(math.radians(angle))) for angle in range(270, 89, -15)
)
_TONE = (0.82, 0.66, 0.52, 0.4, 0.3)
# By strength 1..5: radius of blur in pixels, standard deviation of noise in grey levels, JPEG quality, pixels per side,
# and the remaining share of contrast, light or colour.
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


def draw(scene: Scene, *, shift: tuple[float, float] = (0.0, 0.0)) -> Pixels:
    """Renders the scene; `shift` moves everything on the background by shares of the image."""
    canvas = _background(scene.background).copy()
    pen = ImageDraw.Draw(canvas)
    for thing in scene.things:
        x, y = (thing.x + shift[0]) * FINE, (thing.y + shift[1]) * FINE
        radius, colour = SIZES[thing.size] * FINE, COLOURS[thing.colour]
        edge = (70, 70, 70) if thing.colour in ("black", "white") else None
        box = (x - radius, y - radius, x + radius, y + radius)
        if thing.shape == "circle":
            pen.ellipse(box, fill=colour, outline=edge)
        elif thing.shape == "ring":
            pen.ellipse(box, outline=colour, width=max(3, round(radius * 0.38)))
        else:
            points = [(x + a * radius, y + b * radius) for a, b in _OUTLINES[thing.shape]]
            pen.polygon(points, fill=colour, outline=edge)
    small = canvas.reduce(2)
    for position, word in enumerate(scene.words):
        if word:
            line, column = divmod(position, CELLS[1])
            small.paste(
                COLOURS[scene.ink],
                (column * SIDE // CELLS[1] + 2 + round(shift[0] * 16), line * SIDE // CELLS[0] + round(shift[1] * 16)),
                _written(word),
            )
    return np.asarray(small)


@lru_cache(maxsize=512)
def _background(background: Background) -> Image.Image:
    if background.photograph:
        x, y, side = background.crop
        return crop(background.photograph, part=background.part, x=x, y=y, side=side, size=FINE)
    canvas = Image.new("RGB", (FINE, FINE), COLOURS[background.first])
    pen, ink = ImageDraw.Draw(canvas), COLOURS[background.second]
    for start in range(0, 2 * FINE, 2 * STEP):
        if background.texture == "stripes":
            pen.rectangle((0, start, FINE, start + STEP - 1), fill=ink)
        elif background.texture == "bars":
            pen.rectangle((start, 0, start + STEP - 1, FINE), fill=ink)
        elif background.texture == "slants":
            pen.polygon((start, 0, start + STEP, 0, start + STEP - FINE, FINE, start - FINE, FINE), fill=ink)
        elif background.texture == "checks":
            for other in range(0, FINE, 2 * STEP):
                pen.rectangle((start, other, start + STEP - 1, other + STEP - 1), fill=ink)
                pen.rectangle((start + STEP, other + STEP, start + 2 * STEP - 1, other + 2 * STEP - 1), fill=ink)
        elif background.texture == "dots":
            for other in range(0, FINE, STEP + STEP // 2):
                x = start * 3 // 4
                pen.ellipse((x + 4, other + 4, x + 14, other + 14), fill=ink)
    return canvas


def _polygon(corners: int, *, inner: float = 1.0) -> tuple[tuple[float, float], ...]:
    """Returns corners on the unit circle; with `inner`, every second one is at that radius."""
    points = corners if inner == 1.0 else 2 * corners
    radii = [1.0 if inner == 1.0 or not number % 2 else inner for number in range(points)]
    angles = [math.radians(-90 + 360 * number / points) for number in range(points)]
    return tuple(
        (radius * math.cos(angle), radius * math.sin(angle)) for radius, angle in zip(radii, angles, strict=True)
    )


_OUTLINES = {
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "triangle": _polygon(3),
    "star": _polygon(5, inner=0.42),
    "cross": _CROSS,
    "heart": _HEART,
    "moon": _MOON,
}


@lru_cache(maxsize=256)
def _written(word: str) -> Image.Image:
    """Returns a word as a mask, in Pillow's built-in font."""
    mask = Image.new("L", (SIDE // CELLS[1] - 2, SIDE // CELLS[0]), 0)
    ImageDraw.Draw(mask).text((0, -1), word, fill=255, font=ImageFont.load_default(FONT_SIZE))
    return mask


def photo_path(name: str) -> Path:
    """Returns the path of a photograph in scikit-image's package. Raises NotHere if it is missing."""
    package = importlib.util.find_spec("skimage")
    path = Path(package.submodule_search_locations[0]) / "data" / name if package else Path(name)
    if not path.is_file():
        raise NotHere(f"scikit-image's photograph {name} is missing: {install_command('scikit-image')}")
    return path


@cache
def photograph(name: str, part: str) -> Image.Image:
    """Returns one part (a key of PARTS) of a photograph in RGB. Raises NotHere if scikit-image's files are missing."""
    with Image.open(photo_path(name)) as stored:
        whole = stored.convert("RGB")
    scale = SHORT_SIDE / min(whole.size)
    whole = whole.resize((round(whole.width * scale), round(whole.height * scale)), Image.Resampling.LANCZOS)
    left, right = PARTS[part]
    return whole.crop((round(left * whole.width), 0, round(right * whole.width), whole.height))


def crop(name: str, *, part: str, x: float, y: float, side: float, size: int) -> Image.Image:
    """Crops a square from the part: its side is a share `side` of the shorter edge, and (x, y) is its relative
    position; all in 0..1.
    """
    source = photograph(name, part)
    width = side * min(source.size)
    left, top = x * (source.width - width), y * (source.height - width)
    return source.resize((size, size), Image.Resampling.BILINEAR, box=(left, top, left + width, top + width))


def distort(image: Pixels, *, kind: str, strength: int, seed: int) -> Pixels:
    """Returns the image with one distortion of strength 1..5; strength 0 leaves it unchanged."""
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
    """A scene as shown in one image: shifted slightly, then distorted."""

    scene: Scene
    shift: tuple[float, float] = (0.0, 0.0)
    kind: str = ""
    strength: int = 0
    seed: int = 0

    def pixels(self) -> Pixels:
        """Returns the pixels (64, 64, 3)."""
        return distort(draw(self.scene, shift=self.shift), kind=self.kind, strength=self.strength, seed=self.seed)


def shift(rng: Random) -> tuple[float, float]:
    """Returns a random shift of up to 6% of the image in each direction."""
    return rng.uniform(-0.06, 0.06), rng.uniform(-0.06, 0.06)


def distorted(scene: Scene, kind: str, strength: int, rng: Random) -> Shown:
    """Returns the scene under one distortion with a new random seed."""
    return Shown(scene, kind=kind, strength=strength, seed=rng.getrandbits(32))
