"""compute.frechet: features and images from Python, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import compute
from compute.types import BadInput
from tests.compute.tasks import drawn_generators as drawn


def features(seed: int, n: int = 60, d: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def test_features_that_cannot_be_compared_are_refused():
    with pytest.raises(BadInput, match="condition"):
        compute.frechet(reference=features(0), generated={"a": features(1, n=59)}, condition=features(2))
    with pytest.raises(BadInput, match="mixed"):
        compute.frechet(reference=features(0), generated={"a": "folder"})


def test_iterables_of_images_go_with_prompts_in_their_order(tmp_path):
    count = 8
    made = compute.frechet(
        reference=(Image.fromarray(drawn.reference_image(row)) for row in range(count)),
        generated={"clean": [drawn.clean_image(row) for row in range(count)]},
        prompts=[prompt.text for prompt in drawn.all_prompts()[:count]],
        backbones="tiny",
        metrics="cfred,clipscore",
        features=tmp_path / "features",
        device="cpu",
    )
    assert made.value("cfred", "clean") > 0 and set(made.frame()["n"]) == {count}
    assert (tmp_path / "features" / "tiny").is_dir()
    with pytest.raises(BadInput, match="fid"):
        made.value("fid", "clean")
