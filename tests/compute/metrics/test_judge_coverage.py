"""How often the intervals of judges hold the true value, by simulation."""

import numpy as np
import pytest

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
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
    endless = judges.noisy(np.random.default_rng(0), sources=40_000, means=means)
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
    "answers, least", [(of_source, 0.9), (middling, 0.75), (lambda draw, expected: [expected] * 2, 1)]
)
def test_a_suite_of_judges_has_an_interval_that_holds_the_truth(answers, least):
    """Also of one that knows nothing, whose mean as the paper defines it is too high; a perfect one loses nothing."""
    cells = [judge.MMSCORE.cells(part) for part in ratings(np.random.default_rng(0), answers, sources=50_000)]
    true = np.mean([judge.MMSCORE.value(np.bincount(cell, minlength=width).astype(float)) for cell, _, width in cells])
    draw, suites = np.random.default_rng(1), []
    for _ in range(16):
        figures = [  # of one task no interval is taken
            judge.mean_of(judge.resampled(judge.MMSCORE, ratings(draw, answers, sources=12), draws=2)) for _ in range(7)
        ]
        values, bias = (np.array([[getattr(figure, name) for figure in figures]]) for name in ("whole", "bias"))
        suites.append(Ranking.of(ScoreTable(values=values, bias=bias, lower=np.zeros(7), upper=np.ones(7))))
    mean, excess, low, high = (
        np.array([getattr(suite, name)[0] for suite in suites]) for name in ("mean", "excess", "mean_low", "mean_high")
    )
    # Tasks without any spread, as a perfect judge's, have no interval: there the corrected mean itself is held
    low, high = (np.where(np.isnan(end), mean - excess, end) for end in (low, high))
    assert ((low - 1e-9 <= true) & (true <= high + 1e-9)).mean() >= least
    assert abs((mean - excess).mean() - true) < 0.015 and (mean.mean() - true > 0.03) == (least < 1)


def test_intervals_of_two_conditions_hold_the_true_value(monkeypatch):
    """Controllability of a judge that is better under one condition."""
    rng = np.random.default_rng(2)

    def sample(sources):
        worse = judges.noisy(rng, sources=sources, means=(9.0, 7.0, 3.5))
        return {**judges.noisy(rng, sources=sources), "invariant": worse["invariant"]}

    monkeypatch.setitem(judge.resampled.__kwdefaults__, "draws", 2)
    truth = judge.controllability(sample(40_000)).value
    monkeypatch.setitem(judge.resampled.__kwdefaults__, "draws", DRAWS)
    figures = [judge.controllability(sample(30)) for _ in range(SAMPLES)]
    assert np.mean([figure.low <= truth <= figure.high for figure in figures]) >= 0.86
