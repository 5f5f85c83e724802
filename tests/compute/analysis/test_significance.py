"""The matrix of decisions: how often it is wrong, against a max-t test written out, and what must not change it."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import zeta
from statsmodels.stats.multitest import multipletests

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.analysis.ranks import means, variance
from compute.analysis.significance import decisions, holm
from compute.analysis.table import ScoreTable

SHAPE = (3, 5, 4)  # tasks of each category


def decide(scores, codes=None, *, stderr=None, higher=True):
    scores = np.asarray(scores, float)
    codes = np.zeros(scores.shape[1], int) if codes is None else np.asarray(codes)
    blocks = means.blocks(
        categories=codes, weights=None, aggregate=means.CATEGORY_MEAN, task_weights=None, tasks=scores.shape[1]
    )
    parts = variance.by_category(
        scores=scores,
        stderr=np.full(scores.shape, np.nan) if stderr is None else stderr,
        categories=codes,
        parts=blocks,
        printed=np.zeros((len(scores), codes.max() + 1), bool),
    )
    return decisions(mean=means.mean_of_blocks(scores, blocks), parts=parts, higher=higher)


def board(seed, *, models=10, shape=SHAPE, apart=0.0):
    draw = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(shape)), shape)
    scores = apart * np.arange(models)[:, None] + draw.normal(size=(models, len(codes))) + draw.normal(size=len(codes))
    return scores, codes


@pytest.mark.parametrize("shape", [(6,), SHAPE], ids=str)
def test_equal_models_are_seldom_told_apart(shape):
    """5 percent of boards are expected at most; 11 or more of 80 would come by chance in 1 of 1,000 series."""
    wrong = sum(decide(*board(seed, models=8, shape=shape))[0].any() for seed in range(80))
    assert wrong <= 10


def test_true_differences_are_found_and_never_turned_round():
    better, _ = decide(*board(1, apart=1.0))
    assert not np.triu(better).any()
    assert better.sum() >= 25  # of 45 pairs
    lower, _ = decide(*board(1, apart=1.0), higher=False)
    assert_array_equal(lower, better.T)


def test_one_category_as_a_max_t_test_with_all_signs_written_out():
    """The single-step test, over all 2^8 signs; what steps down finds at least as much."""
    scores, _ = board(5, models=6, shape=(8,), apart=0.6)
    n = scores.shape[1]
    pairs = list(combinations(range(len(scores)), 2))
    gaps = np.array([scores[one] - scores[other] for one, other in pairs])  # [pairs, tasks]
    own = gaps.var(axis=1, ddof=1) / n
    logs = np.log(own)
    scatter = max(logs.var(ddof=1) - stats.loggamma(3.5).var(), 1e-12)  # beyond that of chi squared on 7
    grid = np.geomspace(0.01, 1e6, 200_001)
    prior = 2 * grid[np.abs(zeta(2, grid) - scatter).argmin()]
    bias = stats.loggamma(3.5).mean() - np.log(3.5) - (stats.loggamma(prior / 2).mean() - np.log(prior / 2))
    common = np.exp(logs.mean() - bias)
    largest = []
    apart = gaps - gaps.mean(axis=1, keepdims=True)
    for signs in product([-1, 1], repeat=n):
        flipped = apart * signs * n / (n - 1)
        spread = (prior * common + 7 * flipped.var(axis=1, ddof=1) / n) / (prior + 7)
        largest.append((flipped.mean(axis=1) ** 2 / spread).max())
    critical = np.quantile(largest, 0.95)
    squared = gaps.mean(axis=1) ** 2 / ((prior * common + 7 * own) / (prior + 7))
    better, _ = decide(scores)
    found = np.array([better[one, other] or better[other, one] for one, other in pairs])
    assert found[squared > 1.1 * critical].all() and (squared > 1.1 * critical).any()
    assert not found[squared < 0.5 * critical].any() and (squared < 0.5 * critical).any()


@pytest.mark.parametrize(("shape", "seed"), [(SHAPE, 3), ((1, 1, 1, 20), 0)], ids=str)
def test_the_order_of_models_tasks_and_categories_and_the_unit_decide_nothing(shape, seed):
    scores, codes = board(seed, shape=shape, apart=0.4)
    noise = np.full(scores.shape, 0.6)
    better, _ = decide(scores, codes, stderr=noise)
    draw = np.random.default_rng(0)
    tasks = draw.permutation(len(codes))
    for models in (draw.permutation(len(scores)) for _ in range(10)):
        assert_array_equal(decide(scores[models], codes, stderr=noise)[0], better[np.ix_(models, models)])
    assert_array_equal(decide(scores[:, tasks], codes[tasks], stderr=noise)[0], better)
    assert_array_equal(decide(scores, codes.max() - codes, stderr=noise)[0], better)
    assert_array_equal(decide(1000 * scores + 5, codes, stderr=1000 * noise)[0], better)
    for unit in (1e-30, 1e30):
        assert_array_equal(decide(unit * scores, codes, stderr=unit * noise)[0], better)


def test_a_model_of_unknown_variance_is_neither_better_nor_worse():
    scores, codes = board(4, apart=2.0)
    scores[3, codes == 1] = [9, np.nan, np.nan, np.nan, np.nan]
    better, p = decide(scores, codes)
    assert not better[3].any() and not better[:, 3].any() and np.isnan(p[3]).all()
    rest = np.delete(np.arange(len(scores)), 3)
    assert_array_equal(decide(scores[rest], codes)[0], better[np.ix_(rest, rest)])


def test_differences_that_are_the_same_everywhere_are_counted_by_sign():
    tasks = np.random.default_rng(1).normal(size=12)
    better, _ = decide(np.array([[0.0], [1], [2]]) + tasks)
    assert_array_equal(better, np.tril(np.ones((3, 3), bool), -1))
    assert not decide(np.array([[0.0], [1], [2]]) + tasks[:4])[0].any()  # 1 in 8 by chance


def test_one_task_with_a_known_error_is_compared_by_it():
    scores, noise = np.array([[0.0], [0.1], [5.0]]), np.ones((3, 1))
    better, _ = decide(scores, stderr=noise)
    assert better[2, :2].all() and not better[:2, :2].any()
    scores, noise = np.array([[0.90], [0.88], [0.5], [0.4]]), np.array([[0.001], [0.001], [0.1], [0.1]])
    better, _ = decide(scores, stderr=noise)  # the noise of others is not theirs
    assert better[0, 1] and better[1, 2:].all() and not better[2, 3]


def test_holm_against_statsmodels():
    rng = np.random.default_rng(0)
    p = rng.random(rng.integers(1, 30)) ** rng.integers(1, 6)
    p[rng.random(len(p)) < 0.2] = p[0]
    assert_array_equal(holm(p, alpha=0.05), multipletests(p, alpha=0.05, method="holm")[0])


def test_a_board_counts_tasks_that_share_their_data_once():
    scores, _ = board(6, models=6, shape=(8,), apart=0.5)
    once = Ranking.of(ScoreTable(values=scores))
    copies = Ranking.of(ScoreTable(values=np.repeat(scores, 3, axis=1), clusters=np.repeat(np.arange(8), 3)))
    assert_array_equal(copies.better, once.better)
    assert_allclose(copies.mean_low, once.mean_low)
    apart = Ranking.of(ScoreTable(values=np.repeat(scores, 3, axis=1)))
    assert (apart.mean_high - apart.mean_low < once.mean_high - once.mean_low).all()


def test_a_pair_reads_as_the_board_does_and_by_itself():
    """Of equal models, some pair has a p below 5% by itself; the board does not call it better."""
    for seed in range(30):
        scores, _ = board(seed, models=8, shape=(8,))
        ranking = Ranking.of(ScoreTable(values=scores))
        if 2 * np.nanmin(ranking.p) <= 0.05 and not ranking.better.any():
            break
    a, b = np.unravel_index(np.nanargmin(ranking.p), ranking.p.shape)
    assert "no significant" in ranking.pair(a, b)[0] and compared(ranking.table, a, b).better
    clear = Ranking.of(ScoreTable(values=board(1, models=8, apart=3.0)[0]))
    assert clear.table.models[7] in clear.pair(0, 7)[0]
    assert not Ranking.of(ScoreTable(values=scores[:2])).pair(0, 1)
