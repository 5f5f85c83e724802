"""The drawings of the examples; which task has which example is frozen in tests/golden."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from leaderboard.html.drawn_examples import DRAWINGS, EXAMPLES, picture


def test_every_drawing_is_used_and_differs_from_the_others():
    tiles = [tile for example in EXAMPLES for tile in example.tiles]
    assert all(bool(tile.drawing) != bool(tile.text) for tile in tiles)
    names = {tile.drawing for tile in tiles if tile.drawing}
    assert names == {file.stem for file in DRAWINGS.iterdir()}
    files = {picture(name) for name in names}
    assert len(files) == len(names) and sum(map(len, files)) < 50_000
    for data in files:
        pixels = np.asarray(Image.open(io.BytesIO(data)))
        assert pixels.shape == (64, 64, 3) and pixels.std() > 5
