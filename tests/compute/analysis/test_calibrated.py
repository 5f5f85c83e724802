"""References: scipy's percentileofscore, scikit-learn's roc_auc_score."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import percentileofscore
from sklearn.metrics import roc_auc_score

from compute.analysis import calibrated
from compute.analysis.calibrated import BETWEEN, EITHER, LESS, MATCHING, MORE, UNRELATED, USUAL
from compute.types import BadInput, Undefined

STEP = 100 / (calibrated.QUANTILES - 1)  # percentile points between two quantiles


def made(unrelated, matching=(), *, name="tasks", scenes=100):
    given = {"unrelated": unrelated, "matching": matching, "domain": name, "scenes": scenes}
    return calibrated.measured(model="m", pairing="image-image", source=name, synthetic=False, **given)


def share(scores, value):
    return percentileofscore(scores, value, kind="mean") / 100


@pytest.mark.parametrize("digits", [None, 1])
def test_places_are_scipys_percentiles(digits):
    """Of scores that all differ, and of scores with many ties."""
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.2, 0.1, 3000), rng.normal(0.5, 0.2, 2000)
    if digits is not None:
        low, high = low.round(digits), high.round(digits)
    reference = made(low, high)
    values = np.unique(np.concatenate([low, high]))[:: 40 if digits is None else 1]
    for value in (*values, -3.0, 0.2501, 9.0):
        found = calibrated.place(reference, value)
        assert found.above_unrelated == pytest.approx(share(low, value), abs=STEP / 100)
        assert found.above_matching == pytest.approx(share(high, value), abs=STEP / 100)
        assert found.percentile == 50 * (found.above_unrelated + found.above_matching)


def of_quantiles(unrelated, matching):
    return replace(made([0.0]), unrelated=unrelated, matching=matching)


def test_a_place_is_clamped_at_the_ends_and_needs_a_number():
    reference = of_quantiles([0, 1, 3], [10, 20])
    assert [calibrated.place(reference, value).percentile for value in (-np.inf, 5, 15, np.inf)] == [0, 50, 75, 100]
    with pytest.raises(Undefined, match="m gave no number"):
        calibrated.place(reference, np.nan)


def test_ties_count_half_also_where_all_scores_are_equal():
    same = made(np.full(40, 0.5), np.full(40, 0.5))
    assert calibrated.place(same, 0.5).percentile == 50 and same.separation == 0.5
    assert calibrated.place(same, 0.4).percentile == 0 and calibrated.place(same, 0.6).percentile == 100
    half = made(np.zeros(40), np.repeat([0.2, 1.0], 20))
    assert calibrated.place(half, 1.0).above_matching == pytest.approx(0.75, abs=0.01)
    assert calibrated.place(half, 1.0 + 1e-12).above_matching == calibrated.place(half, 1.0).above_matching


def test_the_separation_is_the_area_under_the_curve():
    rng = np.random.default_rng(1)
    whole = rng.normal(0, 2, 300), rng.normal(1, 3, 200)
    for low, high in (whole, map(np.round, whole)):
        wanted = roc_auc_score(np.repeat([0, 1], [300, 200]), np.concatenate([low, high]))
        assert calibrated.separation(unrelated=low, matching=high) == pytest.approx(wanted, abs=1e-12)
        assert made(low, high).separation == pytest.approx(wanted, abs=1e-6)
    assert calibrated.separation(unrelated=[0.0], matching=[np.inf]) == 1


def test_readings_follow_from_the_two_limits():
    """Evenly spread: 97.5% of the unrelated end at 0.975, 97.5% of the matching begin 0.025 above their start."""
    spread = np.linspace(0, 1, 1001)

    def reading(start, score):
        return calibrated.place(made(spread, spread + start), score).reading

    overlap = [reading(0.5, score) for score in (-1, 0.52, 0.525, 0.975, 0.98, 1.5, 9, np.inf, -np.inf)]
    assert overlap == [UNRELATED, UNRELATED, EITHER, EITHER, MATCHING, MATCHING, MATCHING, MATCHING, UNRELATED]
    apart = [reading(2, score) for score in (0.975, 0.98, 2.02, 2.025)]
    assert apart == [UNRELATED, BETWEEN, BETWEEN, MATCHING]


def test_single_images_have_one_distribution():
    reference = made(np.linspace(0, 1, 1001))
    assert reference.alone and reference.separation is None and reference.n_matching == 0
    found = [calibrated.place(reference, score) for score in (0.02, 0.025, 0.25, 0.975, 0.98)]
    assert [one.reading for one in found] == [LESS, USUAL, USUAL, USUAL, MORE]
    assert found[2].percentile == pytest.approx(25) and found[2].above_matching is None


def test_infinite_scores_count_as_the_most_extreme_finite_one():
    reference = made(np.array([-np.inf, 10.0, 12.0]), np.array([20.0, 30.0, np.inf]))
    assert reference.unrelated[0] == 10 and reference.matching[-1] == 30 and reference.separation == 1
    assert calibrated.place(reference, np.inf).reading == MATCHING
    for scores in ([np.inf, np.inf], [], [1.0, np.nan]):
        with pytest.raises(Undefined, match="do not form a distribution"):
            made(np.array(scores))


@pytest.mark.parametrize("wrong", [[1.0], [2.0, 1.0], [0.0, np.inf], [[0.0, 1.0]], []])
def test_quantiles_that_are_none_are_refused(wrong):
    with pytest.raises(BadInput, match="quantiles"):
        of_quantiles(wrong, [])
