"""Ranks, intervals and classes of a table, against scipy, statsmodels and the rules written plainly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student

from compute.analysis.ranks import means
from compute.analysis.significance import letter
from tests.compute.analysis.tables import ranked

NAN = np.nan


def profiles(levels, *, tasks=24, noise=0.03, seed=0):
    """Rows whose means are exactly `levels`, with independent deviations between tasks."""
    deviation = noise * np.random.default_rng(seed).normal(size=(len(levels), tasks))
    return np.asarray(levels)[:, None] + deviation - deviation.mean(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    scores = 0.5 + 0.1 * rng.normal(size=(25, 1)) + 0.1 * rng.normal(size=(25, 30))
    scores[rng.random(scores.shape) < 0.05] = NAN
    return scores, np.repeat(np.arange(5), 6), np.full(scores.shape, 0.02)


def test_point_ranks_are_those_of_the_means(table):
    scores, codes, stderr = table
    found = ranked(scores, codes, stderr=stderr)
    mean = np.mean([np.nanmean(scores[:, codes == code], axis=1) for code in range(5)], axis=0)
    assert_allclose(found.mean, mean)
    complete = ~np.isnan(scores).any(axis=1)
    assert_allclose(found.excess[complete], 0, atol=1e-9)
    assert_array_equal(found.rank, means.rank(mean - found.excess))  # as if every row had every task
    assert (found.rank_low <= found.rank).all() and (found.rank <= found.rank_high).all()
    assert (found.mean_low < found.mean - found.excess).all() and (found.mean - found.excess < found.mean_high).all()


def test_lower_is_better_turns_ranks_and_keeps_units():
    scores = np.array([[10.0, 12], [20, 21], [30, 33]])
    found = ranked(scores, [0, 0], higher=[False, False])
    assert_array_equal(found.rank, [1, 2, 3])
    assert_allclose(found.mean, [11, 20.5, 31.5])
    half = student.isf(0.025, df=1) * 1.0  # two scores, 10 and 12: their mean has the standard error 1
    assert_allclose([found.mean_low[0], found.mean_high[0]], [11 - half, 11 + half])


def test_unknown_noise_is_no_interval_rather_than_a_point():
    found = ranked([[0.1, 0.9], [0.2, 0.4]], [0, 1])
    assert_array_equal(found.rank, [1, 2])
    assert_array_equal(found.rank_low, [-1, -1])
    assert np.isnan(found.mean_low).all()
    assert all("one task stands for category 0 and category 1" in why for why in found.unknown)
    assert found.fixed == ("category 0", "category 1") and found.classes == ("", "")
    noisy = ranked([[0.1, 0.9], [0.2, 0.4]], [0, 1], stderr=[[0.3, 0.3], [NAN, NAN]])
    assert_array_equal(noisy.rank_low, [-1, -1])  # of the second nothing is known, and of the first alone no range
    assert_array_equal(np.isnan(noisy.mean_low), [False, True])
    half = 1.96 * np.hypot(0.3, 0.3) / 2
    assert_allclose([noisy.mean_low[0], noisy.mean_high[0]], [0.5 - half, 0.5 + half], atol=1e-5)


def test_a_class_holds_no_pair_of_which_one_is_significantly_better():
    """The rule again over all pairs, on levels so near each other that a class's first is not its only judge."""
    for seed in range(8):
        scores = profiles(np.linspace(0.6, 0.5, 18), noise=0.06, seed=seed)
        result = ranked(scores, np.repeat([0, 1, 2], 8))
        order = np.argsort(result.rank)
        letters = np.array(result.classes)[order]
        better = result.better[np.ix_(order, order)]
        starts = [0, *(at for at in range(1, 18) if letters[at] != letters[at - 1])]
        assert letters.tolist() == [letter(sum(at >= start for start in starts) - 1) for at in range(18)]
        for start, stop in zip(starts, [*starts[1:], 18], strict=True):
            assert not better[start:stop, start:stop].any()
            assert stop == 18 or better[start:stop, stop].any()
