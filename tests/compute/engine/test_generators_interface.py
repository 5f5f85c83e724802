"""compute.frechet: features and images from Python, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import compute
from compute.metrics.distribution.cfred import cfred
from compute.metrics.distribution.frechet import frechet
from compute.types import BadInput
from tests.compute.tasks import drawn_generators as drawn


def features(seed: int, n: int = 60, d: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def test_features_give_the_metrics_own_values_with_intervals_around_them() -> None:
    real, mine, text = features(0), features(1) + 0.5, features(2, d=3)
    table = compute.frechet(reference=real, generated={"mine": mine}, condition=text)
    assert table.value("fd", "mine") == pytest.approx(frechet(real=real, generated=mine).value)
    assert table.value("cfred", "mine") == pytest.approx(cfred(real=real, generated=mine, condition=text).value)
    frame = table.frame().set_index("metric")
    assert {"kid", "cmmd", "precision", "recall", "density", "coverage", "vendi"} <= set(frame.index)
    (printed,) = (line.split("|")[4] for line in str(table).splitlines() if line.startswith("| KID"))
    assert float(printed.split()[0]) == pytest.approx(table.value("kid", "mine"), abs=1e-4) == frame.loc["kid", "value"]
    low, value, high, *limits = frame.loc["fd", ["low", "value", "high", "limit_low", "limit", "limit_high"]]
    assert low < value < high and limits == sorted(limits) and limits[1] < value  # few images pull the distance up
    far = compute.frechet(reference=real, generated={"far": mine + 99}, condition=text, metrics="precision,fd")
    rows = far.frame().set_index("metric")  # without spread there is no interval, and nothing to test differences by
    assert rows.loc["precision", "low"] is None or np.isnan(rows.loc["precision", "low"])
    assert rows.loc["precision", "left_out"] == () and len(rows.loc["fd", "left_out"]) == 20


def test_features_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(BadInput, match="condition"):
        compute.frechet(reference=features(0), generated={"a": features(1, n=59)}, condition=features(2))
    with pytest.raises(BadInput, match="mixed"):
        compute.frechet(reference=features(0), generated={"a": "folder"})


def test_iterables_of_images_go_with_prompts_in_their_order(tmp_path: Path) -> None:
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
    assert made.value("cfred", "clean") > 0 and {row.n for row in made.figures} == {count}
    assert (tmp_path / "features" / "tiny").is_dir()
    with pytest.raises(BadInput, match="fid"):
        made.value("fid", "clean")
