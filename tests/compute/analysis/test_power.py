"""The smallest difference that is seen, against simulated tests, statsmodels and closed forms."""

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from compute.analysis import power
from compute.types import Undefined

DRAWS = 20_000


@pytest.mark.parametrize("discordance", [0.1, 0.5])
def test_mcnemars_test_sees_the_difference_in_four_of_five_data_sets(discordance, n=400):
    """Simulated: items that only the first, only the second, or neither alone has right; McNemar's test at 5%."""
    difference = power.of_proportions(n, discordance=discordance)
    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    first, second, _ = np.random.default_rng(0).multinomial(n, shares, size=DRAWS).T
    seen = (first - second) ** 2 > 1.959964**2 * (first + second)
    assert seen.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("n", [2, 30, 10_000])
def test_means_against_statsmodels(n):
    effect = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8, alternative="two-sided")
    assert power.of_means(n, deviation=0.3) == pytest.approx(0.3 * effect, rel=1e-5)


def test_too_few_items_see_nothing():
    assert power.of_proportions(40) <= 0.2
    for n in (1, 30):
        with pytest.raises(Undefined, match="neither"):
            power.of_proportions(n)
    with pytest.raises(Undefined, match="no spread"):
        power.of_means(1, deviation=1.0)
    assert power.of_means(10, deviation=0.0) == 0


def test_discordance_and_spread_of_runs():
    """Three models: pairs differ on 1, 2 and 3 of 4 items, the median is 2."""
    scores = [np.array(row, float) for row in ([1, 1, 1, 1], [1, 1, 1, 0], [0, 0, 1, 0])]
    assert power.discordance(scores) == pytest.approx(0.5)
    scores = np.random.default_rng(0).normal(size=(3, 8))
    deviations = [np.std(scores[i] - scores[j], ddof=1) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert power.spread(scores) == pytest.approx(np.median(deviations))


def test_items_without_an_answer_are_left_out():
    scores = [np.array([1, np.nan, 0, 1.0]), np.array([0, 1, np.nan, 1.0])]
    assert power.discordance(scores) == pytest.approx(0.5)
    for quantity in (power.discordance, power.spread):
        with pytest.raises(Undefined, match="two models"):
            quantity(scores[:1])


@pytest.mark.parametrize("bound", [1.959964, 3.0])
def test_so_many_more_items_see_a_difference_in_four_of_five_data_sets(bound):
    """Simulated: a statistic of 1.2 after 50 items, and its test after as many more as are said to be needed."""
    n = 50 + power.more_items(50, z=1.2, bound=bound)
    draws = np.random.default_rng(2).normal(1.2 / math.sqrt(50), 1, size=(4000, n))
    assert (draws.sum(axis=1) / math.sqrt(n) > bound).mean() == pytest.approx(0.8, abs=0.02)
    assert power.more_items(50, z=-1.2, bound=bound) == n - 50


def test_a_difference_that_is_seen_needs_no_more_items_and_none_is_never_seen():
    assert power.more_items(50, z=5) == 0
    with pytest.raises(Undefined, match="no difference"):
        power.more_items(50, z=0)
