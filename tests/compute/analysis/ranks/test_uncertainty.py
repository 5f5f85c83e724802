import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student

from compute.analysis.ranks import ranking
from compute.analysis.ranks.uncertainty import rank_with_uncertainty
from compute.types import BadInput

NAN = np.nan


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    scores = 0.5 + 0.1 * rng.normal(size=(25, 1)) + 0.1 * rng.normal(size=(25, 30))
    scores[rng.random(scores.shape) < 0.05] = NAN
    return scores, np.repeat(np.arange(5), 6), np.full(scores.shape, 0.02)


def test_point_ranks_are_those_of_the_means(table):
    scores, codes, stderr = table
    found = rank_with_uncertainty(scores=scores, categories=codes, stderr=stderr)
    point = ranking.aggregate(scores=scores, categories=codes)
    assert_array_equal(found.mean, point.mean)
    assert_array_equal(found.rank, ranking.rank(point.mean))
    assert (found.rank_low <= found.rank).all() and (found.rank <= found.rank_high).all()
    assert (found.mean_low < found.mean).all() and (found.mean < found.mean_high).all()


def test_interval_of_the_mean_agrees_with_scipys_t():
    values = np.random.default_rng(1).random(40)
    ours = rank_with_uncertainty(scores=values[None], categories=np.zeros(40, int))
    theirs = student.interval(0.95, df=39, loc=values.mean(), scale=values.std(ddof=1) / np.sqrt(40))
    assert_allclose([ours.mean_low[0], ours.mean_high[0]], theirs)
    assert_allclose(ours.dof, [39])
    assert not ours.few[0]


def test_far_apart_models_are_sure_of_their_rank_and_near_ones_are_not():
    rng = np.random.default_rng(4)
    noise = 0.05 * rng.normal(size=(3, 20))
    scores = np.array([[0.9], [0.5], [0.5001]]) + noise - noise.mean(axis=1, keepdims=True)
    found = rank_with_uncertainty(scores=scores, categories=np.zeros(20, int))
    assert_array_equal(found.rank, [1, 3, 2])
    assert_array_equal(found.rank_low, [1, 2, 2])
    assert_array_equal(found.rank_high, [1, 3, 3])


def test_lower_is_better_turns_ranks_and_keeps_units():
    scores = np.array([[10.0, 12], [20, 21], [30, 33]])
    found = rank_with_uncertainty(scores=scores, categories=[0, 0], higher=[False, False])
    assert_array_equal(found.rank, [1, 2, 3])
    assert_allclose(found.mean, [11, 20.5, 31.5])
    half = student.isf(0.025, df=1) * 1.0  # two scores, 10 and 12: their mean has the standard error 1
    assert_allclose([found.mean_low[0], found.mean_high[0]], [11 - half, 11 + half])


def test_unknown_noise_is_no_interval_rather_than_a_point():
    found = rank_with_uncertainty(scores=[[0.1, 0.9], [0.2, 0.4]], categories=[0, 1], names=("A", "B"))
    assert_array_equal(found.rank, [1, 2])
    assert_array_equal(found.rank_low, [-1, -1])
    assert np.isnan(found.mean_low).all() and np.isnan(found.dof).all()
    assert found.unknown == ("one task stands for A and B, and the error of its score is not known",) * 2
    assert found.fixed == (0, 1)
    noisy = rank_with_uncertainty(scores=[[0.1, 0.9], [0.2, 0.4]], categories=[0, 1], stderr=[[0.3, 0.3], [NAN, NAN]])
    assert_array_equal(noisy.rank_low, [1, -1])
    assert_array_equal(noisy.rank_high, [2, -1])  # the other may be anywhere, so the first may be behind it
    assert_array_equal(np.isnan(noisy.mean_low), [False, True])
    half = 1.96 * np.hypot(0.3, 0.3) / 2
    assert_allclose([noisy.mean_low[0], noisy.mean_high[0]], [0.5 - half, 0.5 + half], atol=1e-5)


def test_scores_that_are_all_equal_give_the_mean_no_interval():
    found = rank_with_uncertainty(scores=[[1.0, 1.0, 1.0], [0.5, 0.6, 0.2]], categories=[0, 0, 0])
    assert_array_equal(np.isnan(found.mean_low), [True, False])
    assert found.rank_low[0] == -1 < found.rank_low[1]
    assert "all equal" in found.unknown[0] and found.unknown[1] == ""


def test_unranked_models_take_no_part():
    scores = np.array([[0.9, 0.8, NAN], [0.5, 0.4, 0.3], [0.2, 0.1, 0.2]])
    stderr = np.full(scores.shape, 0.001)
    found = rank_with_uncertainty(scores=scores, categories=[0, 0, 1], stderr=stderr)
    assert_array_equal(found.rank, [-1, 1, 2])
    assert_array_equal(found.rank_high, [-1, 1, 2])
    assert np.isnan(found.p[0]).all() and found.unknown[0] == ""
    none = rank_with_uncertainty(scores=[[NAN, NAN]], categories=[0, 0])
    assert_array_equal(none.rank, [-1])


def test_mixed_directions_and_bad_noise_are_refused(table):
    scores, codes, stderr = table
    with pytest.raises(BadInput, match="direction"):
        rank_with_uncertainty(scores=scores, categories=codes, higher=np.arange(30) > 3)
    with pytest.raises(BadInput, match="stderr"):
        rank_with_uncertainty(scores=scores, categories=codes, stderr=-stderr)
