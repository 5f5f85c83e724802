"""How often the intervals of judges hold the true value, and how far off few sources are, by simulation."""

import numpy as np
import pytest

from compute.metrics import judge, resampling
from tests.compute.metrics import judges

SAMPLES, DRAWS = 80, 200


def interval(evidence, quantity, *, draws):
    """The value of the sensitive condition, and the ends of its interval."""
    (scores,) = judge.resampled(quantity, [judge.Ratings.of_frame(evidence["sensitive"])], draws=draws)
    ends = resampling.share_interval(scores) if quantity.is_share else resampling.interval(scores, lower=0.0)
    return scores.whole, *ends


@pytest.mark.parametrize("means, sources", [(judges.GOOD, 12), (judges.POOR, 40)], ids=["good", "poor"])
def test_intervals_hold_the_true_value(means, sources):
    """At 95% nominal, 80 samples of a sound interval hold it in 86 to 100%."""
    endless = judges.noisy(np.random.default_rng(0), sources=20_000, means=means)
    rng = np.random.default_rng(1)
    samples = [judges.noisy(rng, sources=sources, means=means) for _ in range(SAMPLES)]
    for quantity in (judge.MMSCORE, judge.RELAX_SYM, judge.SMOOTHNESS):
        truth, *_ = interval(endless, quantity, draws=2)
        intervals = [interval(sample, quantity, draws=DRAWS) for sample in samples]
        assert np.mean([low <= truth <= high for _, low, high in intervals]) >= 0.86, quantity.reason


def ratings(draw, answers, *, sources):
    """Of one task under both conditions; `answers` gives both orders' scores for the expected ones."""
    found = []
    for condition in judge.CONDITIONS:
        expected = judges.expected(condition, sources)
        forward, reverse = answers(draw, expected)
        found.append(judge.Ratings.of_frame(judges.frame(expected=expected, forward=forward, reverse=reverse)))
    return found


def of_source(draw, expected):
    """A score of the source item's own for all of its pairs, give or take one."""
    own = np.repeat(draw.integers(1, 11, len(expected) // 3), 3)
    return np.clip(own + draw.integers(-1, 2, (2, len(expected))), 1, 10)


def middling(draw, expected):
    """The true score with an error of two points or so, more where pairs are transformed."""
    return np.clip(np.rint(expected - 1 + 2 * draw.normal(size=(2, len(expected)))), 1, 10)


@pytest.mark.parametrize(
    "answers, biased", [(of_source, True), (middling, True), (lambda draw, expected: [expected] * 2, False)]
)
def test_the_bias_of_few_sources_is_known(answers, biased):
    """Of a judge that knows nothing the mean as the paper defines it is too high; a perfect one loses nothing."""
    cells = [judge.MMSCORE.cells(part) for part in ratings(np.random.default_rng(0), answers, sources=20_000)]
    true = np.mean([judge.MMSCORE.value(np.bincount(cell, minlength=width).astype(float)) for cell, _, width in cells])
    draw = np.random.default_rng(1)
    tasks = [
        judge.mean_of(judge.resampled(judge.MMSCORE, ratings(draw, answers, sources=12), draws=2)) for _ in range(112)
    ]
    mean, bias = (np.mean([getattr(task, name) for task in tasks]) for name in ("whole", "bias"))
    assert abs(mean - bias - true) < 0.015 and (mean - true > 0.03) == biased
