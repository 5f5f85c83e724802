"""Inception Score, CLIPScore and mean scores: definitions, torch-fidelity, intervals."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cosine

from compute.metrics.distribution.reference_free import (
    clipscore,
    inception_score,
    mean_score,
    preference_score,
)
from compute.types import BadInput


def draw(n, d, *, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_inception_score_of_torch_fidelity():
    reference = pytest.importorskip("torch_fidelity.metric_isc")
    torch = pytest.importorskip("torch")
    logits = 3 * draw(200, 12)
    expected = reference.isc_features_to_metric(torch.from_numpy(logits), splits=10, shuffle=False)
    found = inception_score(logits=logits, splits=10).value
    assert found == pytest.approx(expected[reference.KEY_METRIC_ISC_MEAN], rel=1e-9)


def test_inception_score_of_sure_and_even_answers_is_the_number_of_classes():
    logits = 1000 * np.tile(np.eye(5), (4, 1))
    assert inception_score(logits=logits, splits=4).value == pytest.approx(5)
    assert inception_score(logits=logits[:1].repeat(20, axis=0), splits=4).value == 1


def test_inception_score_warns_or_refuses():
    assert "predictions" in inception_score(logits=np.zeros((40, 3)), splits=1).warnings[0]
    assert "4 images a part for 9 classes" in inception_score(logits=draw(40, 9), splits=10).warnings[0]
    with pytest.raises(BadInput, match="splits 7"):
        inception_score(logits=draw(6, 4), splits=7)


def test_clipscore_and_preference_by_scipy_cosine():
    image, text = draw(30, 8), draw(30, 8, seed=1)
    cosines = [1 - cosine(a, b) for a, b in zip(image, text, strict=True)]
    assert min(cosines) < 0
    record = clipscore(image=5 * image, text=text)
    scores = record.scores
    assert scores == pytest.approx([2.5 * max(value, 0) for value in cosines])
    assert record.value == pytest.approx(math.fsum(scores) / 30)
    assert preference_score(image=image, text=text).value == pytest.approx(100 * np.mean(cosines))


def test_the_interval_is_students_over_prompts():
    scores = draw(12, 1)[:, 0]
    expected = stats.t.interval(0.95, 11, loc=scores.mean(), scale=stats.sem(scores))
    twice = mean_score(scores=np.repeat(scores, 2), prompts=np.repeat(range(12), 2))
    for record in (mean_score(scores=scores), twice):
        assert (record.low, record.high) == pytest.approx(expected)
