"""Detects whether two images show the same picture: resized, recompressed or lightly cropped copies.

The hash consists of the signs of low frequencies (Zauner 2010, "pHash"): 63 coefficients of a discrete cosine transform
of the grey image, each compared with their median. A crop changes them, so the whole image and a few crops of it are
hashed. Two images are near-duplicates if the whole of either is near any part of the other.

The hash ignores colours, and many drawings with few shapes look similar to it. Where a duplicate is named and not only
avoided, the coarse colours of the parts are compared too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

VERSION = 1  # increase it when the hashes change
SIDE, FREQUENCIES = 32, 8  # of the grey image, and of the compared part of its transform
# Largest difference of near-duplicates, in bits of FREQUENCIES² - 1. Unrelated photographs of scikit-image differ by >=
# 16.
NEAR = 14
# Standard deviation of a grey image, in levels of 255, below which its signs are rounding noise: a plain colour.
LEAST_STRUCTURE = 1.0
COARSE = 4  # pixels per side of the coarse colours
# Largest root mean square difference of coarse colours, in levels of 255, of near-duplicates that show the same
# picture. Crops by 6% of photographs of scikit-image differ by at most 9; nine in ten drawings that the hash alone
# confuses differ by more.
COLOURS_NEAR = 12.0
# Parts of an image that are hashed, as shares of its sides: left, top, right, bottom. The first is the whole.
PARTS = (
    (0.0, 0.0, 1.0, 1.0),
    *((cut, cut, 1 - cut, 1 - cut) for cut in (0.015, 0.03, 0.05)),
    *((left, top, left + 0.95, top + 0.95) for left in (0.0, 0.05) for top in (0.0, 0.05)),
)


def has_structure(image: Image.Image) -> bool:
    """Returns whether an RGB image has light and dark areas; without them, hashes are not informative."""
    return float(np.asarray(image.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)).std()) >= LEAST_STRUCTURE


def hashes(image: Image.Image) -> np.ndarray:
    """Returns (parts,) uint64: the hash of each of PARTS of an RGB image."""
    from scipy.fft import dctn

    found = []
    for part in _parts(image.convert("L"), SIDE):
        low = dctn(part.astype(np.float64), norm="ortho")[:FREQUENCIES, :FREQUENCIES].ravel()[1:]
        found.append(int.from_bytes(np.packbits(np.append(False, low > np.median(low))).tobytes(), "big"))
    return np.array(found, dtype=np.uint64)


def colours(image: Image.Image) -> np.ndarray:
    """Returns (parts, COARSE² x 3) uint8: the coarse colours of each of PARTS of an RGB image."""
    return np.stack([part.ravel() for part in _parts(image.convert("RGB"), COARSE)])


def _parts(image: Image.Image, side: int) -> list[np.ndarray]:
    """Returns each of PARTS of an image, `side` pixels wide and high. The image is modified: pass a copy."""
    image.thumbnail((8 * SIDE, 8 * SIDE), Image.Resampling.BOX, reducing_gap=None)
    width, height = image.size
    boxes = [(left * width, top * height, right * width, bottom * height) for left, top, right, bottom in PARTS]
    return [np.asarray(image.resize((side, side), Image.Resampling.BOX, box=box)) for box in boxes]


def same_colours(image: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Returns (n,) bool: which of `others` (n, parts, values) have the coarse colours of the image (parts, values)."""
    one, many = image.astype(np.float32), np.asarray(others, dtype=np.float32)
    whole = ((many - one[0]) ** 2).mean(axis=2).min(axis=1)
    return np.minimum(whole, ((many[:, :1] - one) ** 2).mean(axis=2).min(axis=1)) <= COLOURS_NEAR**2


def near(image: np.ndarray, others: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Returns (n,) bool: which of `others` (n, parts) are near-duplicates of the image with these hashes (parts,)."""
    others = np.asarray(others, dtype=np.uint64).reshape(-1, len(PARTS))
    whole = np.bitwise_count(others ^ image[0]).min(axis=1)
    return np.minimum(whole, np.bitwise_count(others[:, :1] ^ image).min(axis=1)) <= NEAR
