"""How often the intervals of judges hold the true value, by simulation."""

import numpy as np
import pytest

from compute.metrics import judge, resampling
from tests.compute.metrics import judges
from tests.slow import unrelated_judge

SAMPLES, DRAWS = 80, 200


def interval(evidence, quantity, *, draws):
    """The value of the sensitive condition, and the ends of its interval."""
    (scores,) = judge.resampled(quantity, [judge.Ratings.of_frame(evidence["sensitive"])], draws=draws)
    ends = resampling.share_interval(scores) if quantity.is_share else resampling.interval(scores, lower=0.0)
    return scores.whole, *ends


@pytest.mark.parametrize(("means", "sources"), [(judges.GOOD, 12), (judges.POOR, 40)], ids=["good", "poor"])
def test_intervals_hold_the_true_value(means, sources):
    """At 95% nominal, 80 samples of a sound interval hold it in 86 to 100%."""
    endless = judges.noisy(np.random.default_rng(0), sources=40_000, means=means)
    rng = np.random.default_rng(1)
    samples = [judges.noisy(rng, sources=sources, means=means) for _ in range(SAMPLES)]
    for quantity in (judge.MMSCORE, judge.RELAX_SYM, judge.SMOOTHNESS):
        truth, *_ = interval(endless, quantity, draws=2)
        intervals = [interval(sample, quantity, draws=DRAWS) for sample in samples]
        assert np.mean([low <= truth <= high for _, low, high in intervals]) >= 0.86, quantity.reason


def test_a_suite_of_judges_that_know_nothing_has_an_interval_that_holds_0(monkeypatch):
    """The mean as the paper defines it does not; perfect and middling judges lose nothing by the correction."""
    three = {name: unrelated_judge.JUDGES[name] for name in ("random by source item", "middling", "perfect")}
    monkeypatch.setattr(unrelated_judge, "JUDGES", three)
    for name, true, plain, corrected, holds in unrelated_judge.rows(16, sources=12):
        assert holds >= (0.9 if true < 0.01 else 0.75), name
        assert abs(corrected - true) < 0.015, name
        assert (plain - true > 0.03) == (name != "perfect"), name


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
