"""PPM files of any white are scaled as Pillow scales them, in a fraction of its time."""

from __future__ import annotations

import io
import random
import time

import pytest
from PIL import Image

from compute.content.decoding import decode, opened
from compute.content.ppm import use_table
from compute.types import BadInput

KINDS = {"P5": 1, "P6": 3, "PyRGBA": 4, "P0CMYK": 4}  # channels


def ppm(kind: str, white: int, *, width: int = 61, height: int = 40) -> bytes:
    """Random bytes, of which some are above white."""
    count = width * height * KINDS[kind] * (1 if white < 256 else 2)
    return f"{kind}\n{width} {height}\n{white}\n".encode() + random.Random(white).randbytes(count)


@pytest.mark.parametrize("white", [1, 100, 254, 255, 256, 1_000, 4_095, 65_534, 65_535])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_value_is_scaled_as_by_pillow(kind: str, white: int) -> None:
    data = ppm(kind, white)
    image, reference = opened(data), Image.open(io.BytesIO(data))
    use_table(image)
    image.load()
    assert image.mode == reference.mode and image.tobytes() == reference.tobytes()


def test_a_colour_ppm_of_16_bits_takes_no_more_than_a_moment() -> None:
    """The same pixels as those of the 8-bit file whose values it repeats: v * 257 of 65,535 is v of 255."""
    values = random.Random(1).randbytes(3 * 1_150 * 1_150)
    data = b"P6\n1150 1150\n65535\n" + bytes(value for value in values for _ in range(2))
    began = time.process_time()
    image = decode(data)
    assert time.process_time() - began < 0.5
    assert image.size == (1_150, 1_150) and image.tobytes() == values


@pytest.mark.parametrize("white", [100, 65_535])
@pytest.mark.parametrize("missing", [1, 2, 500])
def test_one_that_breaks_off_is_refused(white: int, missing: int) -> None:
    with pytest.raises(BadInput, match="a damaged image"):
        decode(ppm("P6", white)[:-missing])
