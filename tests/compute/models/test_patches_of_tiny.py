"""Places of two images matched by the bundled model: patches of 8 pixels in images of 64."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from compute.analysis.maps import patches as patch_map
from compute.models import load
from compute.models.encoders.towers import Towers
from compute.types import Model
from tests.compute.models.checkpoints import CPU


@pytest.fixture(scope="module")
def tiny() -> Towers:
    return load(Model(key="tiny", title="Tiny", adapter="clip", weights="assets/tiny"), hardware=CPU)


def drawn(*, across: int, down: int, round_one: bool) -> Image.Image:
    """A red shape, two patches wide, whose first patch is in that column and row."""
    image = Image.new("RGB", (64, 64), (200, 200, 200))
    box = (across * 8, down * 8, across * 8 + 15, down * 8 + 15)
    pen = ImageDraw.Draw(image)
    (pen.ellipse if round_one else pen.rectangle)(box, fill=(220, 30, 30))
    return image


def test_the_same_image_matches_itself_place_by_place(tiny: Towers) -> None:
    grid = tiny.patches(drawn(across=2, down=5, round_one=True))
    assert grid.shape == (8, 8, 128)
    cosines = patch_map.similarities(first=grid, second=grid).reshape(64, 64)
    np.testing.assert_array_equal(cosines.argmax(axis=1), np.arange(64))
    np.testing.assert_allclose(cosines.max(axis=1), 1, atol=1e-6)


def test_the_best_match_of_a_shape_moves_with_it(tiny: Towers) -> None:
    """Of 30 drawn pairs, nine in ten of the shape's patches: its colour is enough, trained weights are not needed."""
    rng, inside = np.random.default_rng(0), []
    while len(inside) < 120:
        here, there = rng.integers(0, 7, 2), rng.integers(0, 7, 2)
        if abs(here - there).max() < 2:
            continue
        one, other = (
            tiny.patches(drawn(across=x, down=y, round_one=len(inside) % 8 == 0))
            for x, y in (here.tolist(), there.tolist())
        )
        places = patch_map.similarities(first=one, second=other).reshape(64, 64).argmax(axis=1).reshape(8, 8)
        for place in places[here[1] : here[1] + 2, here[0] : here[0] + 2].ravel():
            down, across = divmod(int(place), 8)
            inside.append(0 <= across - there[0] <= 1 and 0 <= down - there[1] <= 1)
    assert np.mean(inside) > 0.9
