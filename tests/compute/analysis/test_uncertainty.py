import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import bootstrap as scipy_bootstrap

from compute.analysis import ranking
from compute.analysis.uncertainty import rank_with_uncertainty
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


def test_interval_of_the_mean_agrees_with_scipy_bootstrap():
    values = np.random.default_rng(1).random(40)
    ours = rank_with_uncertainty(scores=values[None], categories=np.zeros(40, int), draws=20_000)
    theirs = scipy_bootstrap(
        (values,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(2)
    ).confidence_interval
    assert_allclose([ours.mean_low[0], ours.mean_high[0]], [theirs.low, theirs.high], atol=3e-3)


def test_same_seed_same_answer_whatever_the_row_order(table):
    scores, codes, stderr = table
    order = np.random.default_rng(3).permutation(len(scores))
    a = rank_with_uncertainty(scores=scores, categories=codes, stderr=stderr, seed=5)
    b = rank_with_uncertainty(scores=scores[order], categories=codes, stderr=stderr[order], seed=5)
    for name in ("rank", "rank_low", "rank_high", "mean_low", "mean_high"):
        assert_array_equal(getattr(b, name), getattr(a, name)[order])
    other = rank_with_uncertainty(scores=scores, categories=codes, stderr=stderr, seed=6)
    assert not np.array_equal(other.mean_low, a.mean_low)


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
    assert_allclose([found.mean_low[0], found.mean_high[0]], [10, 12], atol=1e-5)


def test_affine_change_of_unit_changes_no_rank(table):
    scores, codes, stderr = table
    plain = rank_with_uncertainty(scores=scores, categories=codes)
    moved = rank_with_uncertainty(scores=1000 + 400 * scores, categories=codes)
    assert_array_equal(plain.rank, moved.rank)
    assert_array_equal(plain.rank_low, moved.rank_low)
    assert_allclose(moved.mean_high, 1000 + 400 * plain.mean_high, rtol=1e-6)


def test_nothing_to_vary_gives_no_interval_rather_than_a_point():
    found = rank_with_uncertainty(scores=[[0.1, 0.9], [0.2, 0.4]], categories=[0, 1])
    assert_array_equal(found.rank, [1, 2])
    assert_array_equal(found.rank_low, [-1, -1])
    assert np.isnan(found.mean_low).all() and not found.resampled
    noisy = rank_with_uncertainty(scores=[[0.1, 0.9], [0.2, 0.4]], categories=[0, 1], stderr=[[0.3, 0.3], [NAN, NAN]])
    assert_array_equal(noisy.rank_high, [2, 2])
    assert_array_equal(np.isnan(noisy.mean_low), [False, True])


def test_unranked_models_take_no_part():
    scores = np.array([[0.9, 0.8, NAN], [0.5, 0.4, 0.3], [0.2, 0.1, 0.2]])
    found = rank_with_uncertainty(scores=scores, categories=[0, 0, 1])
    assert_array_equal(found.rank, [-1, 1, 2])
    assert_array_equal(found.rank_high, [-1, 1, 2])
    assert np.isnan(found.draws[0]).all()
    none = rank_with_uncertainty(scores=[[NAN, NAN]], categories=[0, 0])
    assert_array_equal(none.rank, [-1])


def test_mixed_directions_and_bad_noise_are_refused(table):
    scores, codes, stderr = table
    with pytest.raises(BadInput, match="direction"):
        rank_with_uncertainty(scores=scores, categories=codes, higher=np.arange(30) > 3)
    with pytest.raises(BadInput, match="stderr"):
        rank_with_uncertainty(scores=scores, categories=codes, stderr=-stderr)
