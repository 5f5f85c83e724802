"""The matrix of decisions and the test of a pair: against sign flips written out, scipy, and other orders."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.multitest import multipletests

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.analysis.significance import decisions, holm, of_pair
from compute.analysis.table import ScoreTable
from tests.compute.analysis.tables import table

SHAPE = (3, 5, 4)  # tasks of each category
NAN = np.nan


def decide(scores, codes=None, *, clusters=None, higher=True):
    scores = np.asarray(scores, float)
    codes = np.zeros(scores.shape[1], int) if codes is None else np.asarray(codes)
    return decisions(scores=scores, blocks=table(scores, codes).blocks, clusters=clusters, higher=higher)


def board(seed, *, models=10, shape=SHAPE, apart=0.0):
    draw = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(shape)), shape)
    scores = apart * np.arange(models)[:, None] + draw.normal(size=(models, len(codes))) + draw.normal(size=len(codes))
    return scores, codes


def written_out(scores, codes, clusters, *, alpha=0.05):
    """The step-down test over every pattern of signs, a pair at a time, on the tasks that both have."""
    sets = np.unique(clusters)
    pairs, parts = list(combinations(range(len(scores)), 2)), []
    for one, other in pairs:
        gap = scores[one] - scores[other]
        total = np.zeros(len(sets))
        for code in np.unique(codes):
            there = np.flatnonzero((codes == code) & ~np.isnan(gap))
            for task in there:
                total[sets == clusters[task]] += gap[task] / len(there) / len(np.unique(codes))
        parts.append(total)
    parts = np.array(parts)
    squares = (parts**2).sum(axis=1)
    parts /= np.sqrt(squares + np.median(squares) / 2)[:, None]
    drawn = np.abs(np.array(list(product([1, -1], repeat=len(sets)))) @ parts.T)
    left = set(range(len(pairs)))
    while left:
        largest = drawn[:, sorted(left)].max(axis=1)
        new = {pair for pair in left if np.mean(largest >= drawn[0, pair] - 1e-9) <= alpha}
        if not new:
            break
        left -= new
    better = np.zeros((len(scores), len(scores)), bool)
    for pair, (one, other) in enumerate(pairs):
        if pair not in left:
            better[(one, other) if parts[pair].sum() > 0 else (other, one)] = True
    return better


@pytest.mark.parametrize(
    "shape, clusters, lost",
    [
        ((8,), None, False),
        ((2, 9), None, False),
        ((1, 4, 5), [0, 1, 2, 3, 4, 1, 2, 5, 6, 7], False),
        ((5, 6), None, True),
    ],
    ids=["one category", "small beside large", "shared data sets", "missing scores"],
)
def test_decisions_are_those_of_all_signs_written_out(shape, clusters, lost):
    found = 0
    for seed in range(6):
        scores, codes = board(seed, models=6, shape=shape, apart=0.8)
        if lost:
            scores[[0, 2, 4], [1, 7, 0]] = NAN
        own = np.arange(len(codes)) if clusters is None else np.array(clusters)
        expected = written_out(scores, codes, own)
        for sign, higher in ((1, True), (-1, False)):
            assert_array_equal(decide(sign * scores, codes, clusters=own, higher=higher), expected)
        found += expected.sum()
    assert 0 < found < 6 * 15


def test_models_that_lack_the_hardest_tasks_are_not_better_for_it():
    wrong = 0
    for seed in range(40):
        scores = 60 + np.linspace(-20, 20, 16) + 1.5 * np.random.default_rng(seed).normal(size=(12, 16))
        scores[:4, :5] = NAN
        ranking = Ranking.of(ScoreTable(values=scores, least=0.6))
        wrong += ranking.better.any()
        assert_allclose(ranking.mean[:4] - ranking.excess[:4], 60, atol=2)
        assert_allclose(ranking.excess[4:], 0, atol=1e-9)
    assert wrong <= 7


@pytest.mark.parametrize("shape, seed", [(SHAPE, 3), ((1, 1, 1, 20), 0)], ids=str)
@pytest.mark.parametrize("lost", [0, NAN], ids=["complete", "missing"])
def test_the_order_of_models_tasks_and_categories_and_the_unit_decide_nothing(shape, seed, lost):
    scores, codes = board(seed, shape=shape, apart=0.4)
    scores[[1, 5], [4, 6]] += lost
    better = decide(scores, codes)
    assert better.any()
    draw = np.random.default_rng(0)
    tasks = draw.permutation(len(codes))
    for models in (draw.permutation(len(scores)) for _ in range(10)):
        assert_array_equal(decide(scores[models], codes), better[np.ix_(models, models)])
    same = [(scores[:, tasks], codes[tasks]), (scores, codes.max() - codes), (1000 * scores + 5, codes)]
    for moved in (*same, (1e-30 * scores, codes), (1e30 * scores, codes)):
        assert_array_equal(decide(*moved), better)


def test_few_data_sets_decide_nothing_and_are_said():
    tasks = np.random.default_rng(1).normal(size=12)
    rows = np.array([[0.0], [1], [2]])
    assert_array_equal(decide(rows + tasks), np.tril(np.ones((3, 3), bool), -1))
    ranking = Ranking.of(ScoreTable(values=rows + tasks[:5]))
    assert not ranking.better.any() and not ranking.decided.any() and set(ranking.classes) == {""}
    assert all("too few" in reason for reason in ranking.unknown)
    copies = Ranking.of(ScoreTable(values=np.repeat(rows + tasks[:5], 3, axis=1), clusters=np.repeat(np.arange(5), 3)))
    assert copies.unknown == ranking.unknown


def test_few_data_sets_are_decided_about_their_items_where_errors_are_known():
    """The scores of equal models vary by their items alone; a false "better" on 5 percent of boards."""
    draw, wrong = np.random.default_rng(2), 0
    errors = np.array([0.01, 0.02, 0.05, 0.03])[:, None]
    for _ in range(120):
        ranking = Ranking.of(ScoreTable(values=0.5 + errors * draw.normal(size=(4, 1)), stderr=errors))
        wrong += ranking.better.any()
    assert wrong <= 14 and ranking.on_items and (ranking.rank_low > 0).all()
    assert any("other tasks of the kinds were not tried" in note for note in ranking.notes)
    clear = Ranking.of(ScoreTable(values=np.array([[0.9], [0.5], [0.49], [0.1]]), stderr=errors))
    assert_array_equal(clear.better, np.array([[0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], bool))


@pytest.mark.parametrize("seed, n", [(0, 6), (1, 9), (2, 12)])
def test_a_pair_is_scipys_exact_test_and_its_interval_inverts_it(seed, n):
    x = np.random.default_rng(seed).normal(0.6, 1, size=n)

    def p(shift):
        exact = {"permutation_type": "samples", "n_resamples": np.inf}
        return stats.permutation_test((x - shift, np.zeros(n)), lambda a, b: np.mean(a - b), **exact).pvalue

    found = of_pair(x / n, np.full(n, 1 / n))
    assert_allclose(found.p, p(0.0))
    for end, inside in ((found.low, 1), (found.high, -1)):
        assert p(end - 1e-6 * inside) <= 0.05 < p(end + 1e-6 * inside)


def test_a_difference_that_is_the_same_everywhere_has_p_and_no_interval():
    found = of_pair(np.full(7, 0.25 / 7), np.full(7, 1 / 7))
    assert_allclose(found.p, 2 / 2**7)
    assert np.isnan([found.low, found.high]).all()


def test_holm_against_statsmodels():
    rng = np.random.default_rng(0)
    p = rng.random(rng.integers(1, 30)) ** rng.integers(1, 6)
    p[rng.random(len(p)) < 0.2] = p[0]
    assert_array_equal(holm(p), multipletests(p, alpha=0.05, method="holm")[0])


def test_a_pair_reads_as_the_board_does_and_by_itself():
    """Of equal models, some pair has a p below 5% by itself; the board does not call it better."""
    for seed in range(30):
        ranking = Ranking.of(ScoreTable(values=board(seed, models=8, shape=(8,))[0]))
        alone = [pair for pair in combinations(range(8), 2) if compared(ranking.table, *pair).better]
        if alone and not ranking.better.any():
            break
    found = compared(ranking.table, *alone[0])
    assert found.reading in ("better", "worse") and found.on_board(ranking, *alone[0]).reading == "same"
    clear = Ranking.of(ScoreTable(values=board(1, models=8, apart=3.0)[0]))
    for pair, decided in (((0, 7), "worse"), ((7, 0), "better")):
        assert compared(clear.table, *pair).on_board(clear, *pair).decided == decided
