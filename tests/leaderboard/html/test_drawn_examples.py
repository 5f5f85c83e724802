"""The drawn examples: every type of the catalogue has its own, and its words are those of how the type is run."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from compute.catalog import shipped
from leaderboard.html.drawn_examples import DRAWINGS, EXAMPLES, example_of, picture

# What the protocol of a procedure and its examples must both say, whatever their other words.
TASKS = shipped().tasks


def facts(task) -> dict:
    return {"procedure": task.procedure, "category": task.category, "modalities": task.modalities}


@pytest.mark.parametrize("key", [task.key for task in TASKS])
def test_every_task_of_the_catalogue_has_an_example_of_its_type(key):
    task = next(task for task in TASKS if task.key == key)
    example = example_of(**facts(task))
    assert example is not None and example.procedure == task.procedure
    if any(task.category in each.categories for each in EXAMPLES if each.procedure == task.procedure):
        assert task.category in example.categories or {example.modality} == set(task.modalities)
    assert all(bool(tile.drawing) != bool(tile.text) for tile in example.tiles)
    has_pictures, has_texts = (any(getattr(tile, kind) for tile in example.tiles) for kind in ("drawing", "text"))
    if set(task.modalities) == {"text"}:
        assert not has_pictures
    if set(task.modalities) == {"image"} and task.procedure not in ("judging", "frechet"):
        assert has_pictures and not has_texts


def test_every_drawing_is_used_and_differs_from_the_others():
    names = {tile.drawing for example in EXAMPLES for tile in example.tiles if tile.drawing}
    assert names == {file.stem for file in DRAWINGS.iterdir()}
    files = {picture(name) for name in names}
    assert len(files) == len(names) and sum(map(len, files)) < 50_000
    for data in files:
        pixels = np.asarray(Image.open(io.BytesIO(data)))
        assert pixels.shape == (64, 64, 3) and pixels.std() > 5
