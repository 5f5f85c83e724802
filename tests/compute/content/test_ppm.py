"""PPM files of any white are scaled as Pillow scales them, in a fraction of its time."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image

from compute.content.decoding import decode, opened, rgb

KINDS = {"P5": 1, "P6": 3, "PyRGBA": 4, "P0CMYK": 4}  # channels


def ppm(kind: str, white: int, *, width: int = 61, height: int = 40) -> bytes:
    """Random bytes, of which some are above white."""
    count = width * height * KINDS[kind] * (1 if white < 256 else 2)
    return f"{kind}\n{width} {height}\n{white}\n".encode() + random.Random(white).randbytes(count)


@pytest.mark.parametrize("white", [1, 254, 255, 256, 4_095, 65_535])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_value_is_scaled_as_by_pillow(kind: str, white: int) -> None:
    data = ppm(kind, white)
    image, reference = opened(data), Image.open(io.BytesIO(data))
    rgb(image)
    assert image.mode == reference.mode and image.tobytes() == reference.tobytes()


def test_a_colour_ppm_of_16_bits() -> None:
    """The same pixels as those of the 8-bit file whose values it repeats: v * 257 of 65,535 is v of 255."""
    values = random.Random(1).randbytes(3 * 1_150 * 1_150)
    data = b"P6\n1150 1150\n65535\n" + bytes(value for value in values for _ in range(2))
    image = decode(data)
    assert image.size == (1_150, 1_150) and image.tobytes() == values
