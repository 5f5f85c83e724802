"""A run whose own result looks failed says so at once and in its record; a sound one says nothing."""

import warnings

import numpy as np
import pytest

import compute
from compute.engine import run_folders

TASKS_OF_MINI = ["mini/shapes", "mini/instances"]  # a probe and a retrieval


class Eye:
    """Sees pixels, but of `every` so many images the same vector; 0: of none."""

    def __init__(self, every):
        self.every, self.seen = every, 0

    def encode_image(self, images):
        return [self.vector(image) for image in images]

    def vector(self, image):
        self.seen += 1
        pixels = np.asarray(image.resize((8, 8)), dtype=float).ravel() / 255
        return np.ones_like(pixels) if self.every and self.seen % self.every == 0 else pixels


@pytest.mark.parametrize("every, words", [(0, []), (1, ["answers", "vector", "vector"]), (40, ["6 of 240"])])
def test_constant_features_and_equal_vectors_are_said_and_stored(tmp_path, every, words):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        scores = compute.evaluate(Eye(every), version="1", tasks=TASKS_OF_MINI, results=tmp_path, progress=False)
    found = [doubt for run in scores.runs.values() for doubt in run_folders.read(run.folder).doubts]
    assert len(found) == len(words) and all(word in doubt for word, doubt in zip(words, found, strict=True))
    reasons = " ".join(scores.frame()["reason"])
    assert all(doubt in reasons and doubt in str(scores) for doubt in found)
    assert any("doubtful" in str(one.message) for one in warned) == bool(words)
