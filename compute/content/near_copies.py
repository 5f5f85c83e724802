"""Whether two images show the same picture: resized, compressed again or lightly cropped copies are recognised.

The hash is that of the signs of low frequencies (Zauner 2010, "pHash"): 63 coefficients of a discrete cosine transform
of the grey image, each compared with their median. A crop moves them, so an image has a hash of its whole and of a few
crops, and two images are near copies if the whole of either is near any part of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

VERSION = 1  # raise it when the hashes change
SIDE, FREQUENCIES = 32, 8  # of the grey image, and of its transform that are compared
# Bits of FREQUENCIES² - 1 by which near copies differ at most. Unrelated photographs of scikit-image differ by >= 16.
NEAR = 14
# Parts of an image that are hashed, as shares of its sides: left, top, right, bottom. The first is the whole.
PARTS = (
    (0.0, 0.0, 1.0, 1.0),
    *((cut, cut, 1 - cut, 1 - cut) for cut in (0.015, 0.03, 0.05)),
    *((left, top, left + 0.95, top + 0.95) for left in (0.0, 0.05) for top in (0.0, 0.05)),
)


def hashes(image: Image.Image) -> np.ndarray:
    """(parts,) uint64: the hash of each of PARTS of an RGB image."""
    from PIL import Image as Images

    grey = image.convert("L")
    grey.thumbnail((8 * SIDE, 8 * SIDE), Images.Resampling.BOX, reducing_gap=None)
    width, height = grey.size
    boxes = [(left * width, top * height, right * width, bottom * height) for left, top, right, bottom in PARTS]
    return np.array(
        [_hash(grey.resize((SIDE, SIDE), Images.Resampling.BOX, box=box)) for box in boxes], dtype=np.uint64
    )


def _hash(grey: Image.Image) -> int:
    from scipy.fft import dctn

    low = dctn(np.asarray(grey, dtype=np.float64), norm="ortho")[:FREQUENCIES, :FREQUENCIES].ravel()[1:]
    return int.from_bytes(np.packbits(np.append(False, low > np.median(low))).tobytes(), "big")


def near(image: np.ndarray, others: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """(n,) bool: which of `others` (n, parts) are near copies of the image with these hashes (parts,)."""
    others = np.asarray(others, dtype=np.uint64).reshape(-1, len(PARTS))
    whole = np.bitwise_count(others ^ image[0]).min(axis=1)
    parts = np.bitwise_count(others[:, :1] ^ image).min(axis=1)
    return np.minimum(whole, parts) <= NEAR
