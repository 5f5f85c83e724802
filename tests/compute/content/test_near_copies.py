"""Near copies of photographs are recognised, other photographs are not."""

import io
from functools import cache

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from compute.content import near_copies
from compute.tasks.drawing.render import photo_path

PHOTOGRAPHS = [f"{name}.png" for name in ("astronaut", "brick", "chelsea", "coins", "grass", "text")] + [
    "retina.jpg",
    "rocket.jpg",
]


@cache
def photograph(name):
    with Image.open(photo_path(name)) as stored:
        return stored.convert("RGB")


@cache
def hashes(name):
    return near_copies.hashes(photograph(name))


def recompressed(image):
    file = io.BytesIO()
    image.save(file, "JPEG", quality=20)
    return Image.open(file).convert("RGB")


def scaled(share, method):
    return lambda image: image.resize(tuple(round(share * side) for side in image.size), method)


def cropped(*border):
    """Shares of the sides that are cut off: left, top, right, bottom."""
    return lambda image: ImageOps.crop(
        image, tuple(round(share * side) for share, side in zip(border, image.size * 2, strict=True))
    )


COPIES = {
    "itself": lambda image: image,
    "half the size": scaled(0.5, Image.Resampling.BICUBIC),
    "a third, nearest pixel": scaled(1 / 3, Image.Resampling.NEAREST),
    "twice the size": scaled(2, Image.Resampling.BILINEAR),
    "JPEG of quality 20": recompressed,
    "5% cut off each side": cropped(0.05, 0.05, 0.05, 0.05),
    "4% cut off the left": cropped(0.04, 0, 0, 0),
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
