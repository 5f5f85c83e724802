"""Whether two images show the same picture: resized, compressed again or lightly cropped copies are recognised.

The hash is that of the signs of low frequencies (Zauner 2010, "pHash"): 63 coefficients of a discrete cosine transform
of the grey image, each compared with their median. A crop moves them, so an image has a hash of its whole and of a few
crops, and two images are near copies if the whole of either is near any part of the other.

The hash knows no colours, and of drawings with few shapes many look similar to it. Where a copy is to be named, not
only avoided, the coarse colours of the parts are compared too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

VERSION = 1  # raise it when the hashes change
SIDE, FREQUENCIES = 32, 8  # of the grey image, and of its transform that are compared
# Bits of FREQUENCIES² - 1 by which near copies differ at most. Unrelated photographs of scikit-image differ by >= 16.
NEAR = 14
# Standard deviation of a grey image, in levels of 255, below which its signs are those of rounding: a plain colour.
LEAST_STRUCTURE = 1.0
COARSE = 4  # pixels per side of the coarse colours
# Root mean square difference of coarse colours, in levels of 255, up to which near copies are the same picture. Crops
# by 6% of photographs of scikit-image differ by at most 9; nine in ten drawings that the hash alone confuses by more.
COLOURS_NEAR = 12.0
# Parts of an image that are hashed, as shares of its sides: left, top, right, bottom. The first is the whole.
PARTS = (
    (0.0, 0.0, 1.0, 1.0),
    *((cut, cut, 1 - cut, 1 - cut) for cut in (0.015, 0.03, 0.05)),
    *((left, top, left + 0.95, top + 0.95) for left in (0.0, 0.05) for top in (0.0, 0.05)),
)


def has_structure(image: Image.Image) -> bool:
    """Whether an RGB image has light and dark in it: the hashes of two that have none say nothing of one another."""
    return float(np.asarray(image.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)).std()) >= LEAST_STRUCTURE


def hashes(image: Image.Image) -> np.ndarray:
    """(parts,) uint64: the hash of each of PARTS of an RGB image."""
    from scipy.fft import dctn

    found = []
    for part in _parts(image.convert("L"), SIDE):
        low = dctn(part.astype(np.float64), norm="ortho")[:FREQUENCIES, :FREQUENCIES].ravel()[1:]
        found.append(int.from_bytes(np.packbits(np.append(False, low > np.median(low))).tobytes(), "big"))
    return np.array(found, dtype=np.uint64)


def colours(image: Image.Image) -> np.ndarray:
    """(parts, COARSE² x 3) uint8: the coarse colours of each of PARTS of an RGB image."""
    return np.stack([part.ravel() for part in _parts(image.convert("RGB"), COARSE)])


def _parts(image: Image.Image, side: int) -> list[np.ndarray]:
    """Returns each of PARTS of a copy that may be changed, `side` pixels wide and high."""
    image.thumbnail((8 * SIDE, 8 * SIDE), Image.Resampling.BOX, reducing_gap=None)
    width, height = image.size
    boxes = [(left * width, top * height, right * width, bottom * height) for left, top, right, bottom in PARTS]
    return [np.asarray(image.resize((side, side), Image.Resampling.BOX, box=box)) for box in boxes]


def same_colours(image: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) bool: which of `others` (n, parts, values) have the coarse colours of the image (parts, values)."""
    one, many = image.astype(np.float32), np.asarray(others, dtype=np.float32)
    whole = ((many - one[0]) ** 2).mean(axis=2).min(axis=1)
    return np.minimum(whole, ((many[:, :1] - one) ** 2).mean(axis=2).min(axis=1)) <= COLOURS_NEAR**2


def near(image: np.ndarray, others: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """(n,) bool: which of `others` (n, parts) are near copies of the image with these hashes (parts,)."""
    others = np.asarray(others, dtype=np.uint64).reshape(-1, len(PARTS))
    whole = np.bitwise_count(others ^ image[0]).min(axis=1)
    return np.minimum(whole, np.bitwise_count(others[:, :1] ^ image).min(axis=1)) <= NEAR
