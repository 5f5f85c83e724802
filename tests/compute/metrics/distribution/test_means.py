"""CLIPScore and mean preference scores: definitions, intervals, images of one prompt, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cosine

from compute.metrics.distribution.means import clipscore, mean_score, preference_score
from compute.types import BadInput


def draw(n: int, d: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_by_scipy_cosine() -> None:
    image, text = draw(30, 8), draw(30, 8, seed=1)
    cosines = [1 - cosine(a, b) for a, b in zip(image, text, strict=True)]
    assert min(cosines) < 0
    record = clipscore(image=5 * image, text=text)
    scores = record.scores
    assert scores == pytest.approx([2.5 * max(value, 0) for value in cosines])
    assert record.value == pytest.approx(math.fsum(scores) / 30)
    assert preference_score(image=image, text=text).value == pytest.approx(100 * np.mean(cosines))


def test_best_and_worst() -> None:
    rows = draw(5, 3)
    assert clipscore(image=rows, text=2 * rows).value == pytest.approx(2.5)
    assert clipscore(image=rows, text=-rows).value == 0
    assert preference_score(image=rows, text=-rows).value == pytest.approx(-100)


def test_interval_is_students() -> None:
    scores = draw(12, 1)[:, 0]
    record = mean_score(scores=scores)
    expected = stats.t.interval(0.95, 11, loc=scores.mean(), scale=stats.sem(scores))
    assert (record.low, record.high) == pytest.approx(expected)


def test_images_of_one_prompt_move_together() -> None:
    scores = draw(12, 1)[:, 0]
    once, twice = mean_score(scores=scores), mean_score(scores=np.repeat(scores, 2), prompts=np.repeat(range(12), 2))
    assert twice.stderr == pytest.approx(once.stderr)
    assert mean_score(scores=np.repeat(scores, 2)).stderr < 0.8 * once.stderr


@pytest.mark.parametrize("n", [10, 40])
def test_interval_holds_the_mean(n: int) -> None:
    """Skewed scores, mean 2: at 95% nominal, of 400 samples."""
    rng = np.random.default_rng(0)
    made = [mean_score(scores=rng.gamma(2.0, size=n)) for _ in range(400)]
    assert np.mean([each.low <= 2 <= each.high for each in made]) > 0.89


def test_one_prompt_has_no_interval() -> None:
    for record in (mean_score(scores=[3.0]), mean_score(scores=[2.0, 4.0], prompts=["a", "a"])):
        assert record.value == 3
        assert (record.low, record.high, record.stderr) == (None, None, None)


def test_bad_input_is_named() -> None:
    rows, spoilt = draw(4, 3), draw(4, 3)
    spoilt[2, 0] = np.nan
    with pytest.raises(BadInput, match="image has shape"):
        clipscore(image=rows, text=rows[:3])
    with pytest.raises(BadInput, match="image: row 2 "):
        clipscore(image=spoilt, text=rows)
    with pytest.raises(BadInput, match="text: row 2 "):
        preference_score(image=rows, text=spoilt)
    with pytest.raises(BadInput, match="text: row 1 is all zeros"):
        clipscore(image=rows, text=rows * [[1], [0], [1], [1]])
