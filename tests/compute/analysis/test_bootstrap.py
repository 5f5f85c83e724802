import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

from compute.analysis.bootstrap import (
    check_draws,
    check_stderr,
    mean_interval,
    rank_interval,
    redraw,
    row_keys,
    task_counts,
)
from compute.analysis.ranking import blocks
from compute.types import BadInput

NAN = np.nan


def draw(scores, stderr, codes, *, weights=None, aggregate="category-mean", task_weights=None, draws=400):
    scores, stderr, codes = np.asarray(scores, float), np.asarray(stderr, float), np.asarray(codes)
    parts = blocks(categories=codes, weights=weights, aggregate=aggregate, task_weights=task_weights, tasks=len(codes))
    keys = row_keys(scores, stderr, seed=3)
    return parts, redraw(scores=scores, stderr=stderr, categories=codes, parts=parts, keys=keys, draws=draws, seed=3)


def test_counts_stay_within_their_category_and_leave_out_the_excluded():
    codes = np.array([1, 0, 1, 0, 2, 1])
    counts = task_counts(categories=codes, included=np.array([0, 1, 2, 3, 4]), draws=500, seed=0)
    for category, size in ((0, 2), (1, 2), (2, 1)):
        assert_array_equal(counts[:, codes == category].sum(axis=1), np.full(500, size))
    assert_array_equal(counts[:, 5], np.zeros(500))
    assert_allclose(counts[:, :4].mean(axis=0), np.ones(4), atol=0.12)


@pytest.mark.parametrize("aggregate", ["category-mean", "task-mean"])
def test_means_of_draws_against_a_plain_loop_with_gaps_and_weights(aggregate):
    rng = np.random.default_rng(5)
    codes = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    scores = rng.random((9, 8))
    scores[rng.random(scores.shape) < 0.3] = NAN
    scores[:, [0, 3, 7]] = rng.random((9, 3))
    weights, task_weights = [1.0, 2.0, 0.5], np.array([1, 2, 1, 1, 1, 3, 0, 1.0])
    parts, found = draw(
        scores, np.zeros_like(scores), codes, weights=weights, aggregate=aggregate, task_weights=task_weights
    )
    counts = task_counts(
        categories=codes, included=np.sort(np.concatenate([b.columns for b in parts])), draws=400, seed=3
    )
    for model in range(9):
        for at in range(0, 400, 7):
            total = 0.0
            for block in parts:
                x, w = scores[model, block.columns], block.task_weights * counts[at, block.columns]
                if w[~np.isnan(x)].sum() == 0:
                    w = block.task_weights
                total += block.share * np.average(x[~np.isnan(x)], weights=w[~np.isnan(x)])
            assert_allclose(found[model, at], total, atol=2e-6)


def test_spread_of_the_draws_has_its_closed_form():
    """Tasks: sum share^2 var / n. Noise: sum share^2 / n^2 sum se^2 E[count^2], E[count^2] = 2 - 1/n."""
    rng = np.random.default_rng(6)
    codes = np.repeat([0, 1], [5, 8])
    scores, stderr = rng.random((1, 13)), 0.3 * rng.random((1, 13))
    _, found = draw(scores, stderr, codes, draws=40_000)
    wanted = sum(
        0.25 / n * scores[0, codes == c].var() + 0.25 / n**2 * (stderr[0, codes == c] ** 2).sum() * (2 - 1 / n)
        for c, n in ((0, 5), (1, 8))
    )
    assert_allclose(found.astype(float).var(), wanted, rtol=0.03)


def test_one_task_a_category_varies_by_its_noise_alone():
    _, found = draw([[0.2, 0.8], [0.3, 0.3]], [[0.1, 0.2], [0.0, 0.0]], [0, 1], draws=40_000)
    assert_allclose(found[0].mean(), 0.5, atol=3e-3)
    assert_allclose(found[0].std(), np.hypot(0.1, 0.2) / 2, rtol=0.02)
    assert np.ptp(found[1]) == 0


def test_draws_depend_on_seed_and_content_and_not_on_row_order():
    rng = np.random.default_rng(7)
    codes = np.repeat([0, 1, 2], 4)
    scores, stderr = rng.random((30, 12)), np.full((30, 12), 0.02)
    scores[3, 2] = scores[9, 5] = NAN
    order = rng.permutation(30)
    _, straight = draw(scores, stderr, codes)
    _, shuffled = draw(scores[order], stderr, codes)
    assert_array_equal(shuffled, straight[order])
    _, fewer = draw(scores[:11], stderr[:11], codes)
    assert_allclose(fewer, straight[:11], atol=1e-6)


def test_twins_share_the_tasks_and_not_the_noise():
    scores = np.tile(np.random.default_rng(8).random(6), (2, 1))
    _, quiet = draw(scores, np.zeros((2, 6)), np.zeros(6, int))
    assert_array_equal(quiet[0], quiet[1])
    _, noisy = draw(scores, np.full((2, 6), 0.1), np.zeros(6, int), draws=20_000)
    apart = (noisy[0] - noisy[1]).astype(float)
    assert_allclose(apart.var(), 2 * 0.1**2 / 6 * (2 - 1 / 6), rtol=0.05)


def test_rank_interval_against_rankdata_with_ties():
    rng = np.random.default_rng(9)
    draws = (rng.integers(0, 8, (13, 400)) / 8 + np.arange(13)[:, None] / 4).astype(np.float32)
    low, high = rank_interval(draws)
    ranks = np.sort(rankdata(-draws, method="min", axis=0), axis=1)
    assert_array_equal(low, ranks[:, 9])
    assert_array_equal(high, ranks[:, -10])


def test_mean_interval_takes_the_same_order_statistics():
    draws = np.random.default_rng(10).permutation(np.arange(1000, dtype=np.float32))[None]
    low, high = mean_interval(draws)
    assert (low[0], high[0]) == (24, 975)


def test_bad_arguments_are_refused():
    with pytest.raises(BadInput, match="stderr"):
        check_stderr([-0.1], shape=(1,))
    with pytest.raises(BadInput, match="stderr"):
        check_stderr([0.1, 0.2], shape=(1,))
    assert_array_equal(check_stderr([NAN, 0.2], shape=(2,)), [0, 0.2])
    for wrong in ({"draws": 10}, {"seed": -1}):
        with pytest.raises(BadInput, match="40 draws"):
            check_draws(**({"draws": 100, "seed": 0} | wrong))
