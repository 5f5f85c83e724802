"""Near copies of photographs are recognised, other photographs are not."""

from __future__ import annotations

import io
from functools import cache, partial

import numpy as np
import pytest
from PIL import Image

from compute.content import near_copies
from compute.tasks.drawing.render import photo_path

PHOTOGRAPHS = (
    "astronaut.png",
    "brick.png",
    "chelsea.png",
    "coins.png",
    "grass.png",
    "retina.jpg",
    "rocket.jpg",
    "text.png",
)


@cache
def photograph(name: str) -> Image.Image:
    with Image.open(photo_path(name)) as stored:
        return stored.convert("RGB")


@cache
def hashes(name: str) -> np.ndarray:
    return near_copies.hashes(photograph(name))


def resized(image: Image.Image, *, scale: float, method: Image.Resampling) -> Image.Image:
    return image.resize(tuple(round(scale * side) for side in image.size), method)


def recompressed(image: Image.Image, *, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


def cropped(image: Image.Image, *, box: tuple[float, float, float, float]) -> Image.Image:
    left, top, right, bottom = box
    wide, high = image.size
    return image.crop((round(left * wide), round(top * high), round(right * wide), round(bottom * high)))


COPIES = {
    "itself": lambda image: image,
    "half the size": partial(resized, scale=0.5, method=Image.Resampling.BICUBIC),
    "a third, nearest pixel": partial(resized, scale=1 / 3, method=Image.Resampling.NEAREST),
    "twice the size": partial(resized, scale=2, method=Image.Resampling.BILINEAR),
    "JPEG of quality 20": partial(recompressed, quality=20),
    "5% cut off each side": partial(cropped, box=(0.05, 0.05, 0.95, 0.95)),
    "4% cut off the left": partial(cropped, box=(0.04, 0, 1, 1)),
}


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_is_near_and_has_the_same_colours(copy):
    for name in PHOTOGRAPHS:
        made = COPIES[copy](photograph(name))
        other = near_copies.hashes(made)
        assert near_copies.near(hashes(name), [other])[0], name
        assert near_copies.near(other, [hashes(name)])[0], name
        one, other = map(near_copies.colours, (photograph(name), made))
        assert near_copies.same_colours(one, other[None])[0], name


def test_drawings_of_other_colours_are_told_apart():
    """A red and a green disc on white, which have one hash: it knows no colours."""
    from PIL import ImageDraw

    discs = []
    for colour in ("red", "#007000"):
        disc = Image.new("RGB", (64, 64), "white")
        ImageDraw.Draw(disc).ellipse((16, 16, 48, 48), fill=colour)
        discs.append(disc)
    first, second = map(near_copies.hashes, discs)
    assert near_copies.near(first, [second])[0]
    first, second = map(near_copies.colours, discs)
    assert near_copies.same_colours(first, np.stack([first, second])).tolist() == [True, False]


def test_no_two_photographs_are_near():
    all_hashes = [hashes(name) for name in PHOTOGRAPHS]
    near = np.array([near_copies.near(one, all_hashes) for one in all_hashes])
    assert (near == np.eye(len(PHOTOGRAPHS), dtype=bool)).all()


def test_an_image_of_one_pixel_and_one_of_a_single_colour_have_hashes():
    for size in ((1, 1), (1, 500), (64, 64)):
        assert near_copies.hashes(Image.new("RGB", size, "red")).shape == (len(near_copies.PARTS),)
