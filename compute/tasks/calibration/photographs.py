"""Photographs for calibration: those in scikit-image's package, except those of the ready comparisons.

They are few, and some are scans, micrographs or telescope images. Each is one scene, regardless of how many crops are
compared: the pairs of a photograph are the whole image with changed crops of it.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from compute.content import items
from compute.tasks.data import CalibrationPairs
from compute.tasks.drawing.render import photo_path
from compute.tasks.pairbench.pixels import png
from compute.tasks.perturb import PERTURBATIONS, perturb
from compute.tasks.perturb import VERSION as PERTURB_VERSION

VERSION = 1  # increase it when any item changes
IDENTITY = {"version": VERSION, "perturbations": PERTURB_VERSION}
SOURCE = "photographs of scikit-image"
CAPTIONS = {
    "brick.png": "a brick wall",
    "camera.png": "a man with a camera on a tripod",
    "cell.png": "a cell under a microscope",
    "clock_motion.png": "a clock, blurred by motion",
    "coins.png": "ancient coins",
    "grass.png": "a lawn of grass",
    "gravel.png": "gravel on the ground",
    "hubble_deep_field.jpg": "galaxies in the sky",
    "ihc.png": "stained tissue under a microscope",
    "moon.png": "the surface of the moon",
    "motorcycle_left.png": "a motorcycle in a garage",
    "page.png": "a page of a printed book",
    "retina.jpg": "the retina of an eye",
    "text.png": "handwritten formulas on paper",
}
CHANGED = 10  # changed crops per photograph
SIDES = (256, 384, 512)  # pixels of the longer side, at most
KEPT, STRENGTHS = (0.6, 0.95), (0.1, 0.5)  # share of each side in a crop; strength of the change


def material() -> dict[str, CalibrationPairs]:
    """Returns the pairs of each photograph; they are too few for a domain.

    Raises NotHere if scikit-image's files are missing.
    """
    wholes, parts = [], []
    for number, file in enumerate(CAPTIONS):
        lots = np.random.default_rng([0, VERSION, number])
        with Image.open(photo_path(file)) as stored:
            image = stored.convert("RGB")
        wholes.append(png(_sized(image, lots)))
        parts += [png(_sized(_changed(image, lots), lots)) for _ in range(CHANGED)]
    whole, part = (items.images(files, of=SOURCE) for files in (wholes, parts))
    said = items.texts(list(CAPTIONS.values()), of=SOURCE)
    scene = np.repeat(np.arange(len(wholes)), CHANGED)
    other = _others(scene, len(wholes))
    rows = np.arange(len(parts))
    return {
        "image-image": CalibrationPairs.of(
            matching=(whole.take(scene), part.take(rows)),
            unrelated=(whole.take(other), part.take(rows)),
            scenes=scene,
        ),
        "image-text": CalibrationPairs.of(
            matching=(part.take(rows), said.take(scene)),
            unrelated=(part.take(rows), said.take(other)),
            scenes=scene,
        ),
    }


def _changed(whole: Image.Image, lots: np.random.Generator) -> Image.Image:
    """Returns a crop of the photograph under one of PairBench's transformations."""
    share = lots.uniform(*KEPT)
    wide, high = (round(side * share) for side in whole.size)
    left, top = (int(lots.integers(0, side - kept + 1)) for side, kept in zip(whole.size, (wide, high), strict=True))
    part = whole.crop((left, top, left + wide, top + high))
    kind, strength = str(lots.choice(list(PERTURBATIONS))), float(lots.uniform(*STRENGTHS))
    return perturb(_reduced(part, max(SIDES)), kind=kind, strength=strength, seed=int(lots.integers(2**31)))


def _sized(image: Image.Image, lots: np.random.Generator) -> Image.Image:
    return _reduced(image, int(lots.choice(SIDES)))


def _reduced(image: Image.Image, side: int) -> Image.Image:
    smaller = image.copy()
    smaller.thumbnail((side, side), Image.Resampling.LANCZOS)
    return smaller


def _others(scene: np.ndarray, count: int) -> np.ndarray:
    """Returns another photograph for each crop; every photograph is used equally often."""
    lots = np.random.default_rng([0, VERSION, count])
    steps = np.concatenate([lots.permutation(np.arange(1, count))[:CHANGED] for _ in range(count)])
    return (scene + steps) % count
