"""Folders of small images that differ, for tests of pairs."""

import numpy as np
from PIL import Image


def picture(number, *, side=48):
    """A picture of large random patches, unlike that of any other number."""
    patches = np.random.default_rng([7, number]).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(patches).resize((side + 16, side), Image.Resampling.BICUBIC)


def folder_of(path, count, *, side=48):
    """A folder with so many pictures."""
    path.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        picture(number, side=side).save(path / f"{number:04d}.png", compress_level=1)
    return path
