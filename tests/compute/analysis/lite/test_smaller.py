"""A smaller suite: what is kept, what cannot be chosen, how it is reported; and each step against a plain loop."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from compute.analysis.correlation import correlate
from compute.analysis.lite.selection import drop_redundant, knee, select, trace
from compute.analysis.lite.smaller import choose, compared
from compute.types import BadInput, Undefined
from tests.compute.analysis.tables import table

NAN = np.nan


def drawn(*, seed=0, **more):
    rng = np.random.default_rng(seed)
    return table(rng.normal(size=(20, 1)) + 1.5 * rng.normal(size=(20, 18)), np.arange(18) % 3, **more)


def test_tasks_with_gaps_and_excluded_ones_are_never_chosen():
    scores = drawn()
    printed, values = scores.printed.copy(), scores.values.copy()
    printed[0, 2], values[0, 2] = 1.0, NAN
    holed = replace(scores, values=values, printed=printed)
    result = choose(holed, size=16, thresholds=(), exclude=("5",))
    assert set(result.selection.chosen.tolist()) == {*range(18)} - {2, 5}
    with pytest.raises(BadInput, match="no task '99'"):
        choose(holed, size=3, exclude=("99",))


def test_agreement_of_means_by_hand():
    full, lite = np.array([2.5, 3.0, 2.0, 2.5]), np.array([4.0, 3, 2, 1])
    found = compared("abcd", full, lite, tasks=1)
    assert (found.largest_rank_change, found.model, found.n_models, found.tasks) == (2, "d", 4, 1)
    assert_allclose(found.spearman, stats.spearmanr(full, lite)[0])
    assert_allclose(found.pearson, stats.pearsonr(full, lite)[0])
    assert compared("abcd", full, lite, tasks=1, higher=False).model == "a"
    with pytest.raises(Undefined, match="must differ"):
        compared("abc", np.ones(3), np.arange(3.0), tasks=1)


# ---- each step


def test_drop_redundant_against_a_plain_loop():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(20, 1)) + 1.5 * rng.normal(size=(20, 25))
    scores[rng.random(scores.shape) < 0.2] = NAN
    scores[:, :9] += 2 * scores[:, [0]]
    codes = np.arange(25) % 12
    r = correlate(scores=scores, method="spearman", minimum=8).r
    stay, dropped = drop_redundant(r, codes=codes, thresholds=(0.25, 0.2))
    others = r.copy()
    np.fill_diagonal(others, NAN)
    kept, gone = list(range(25)), []
    for threshold in (0.25, 0.2):
        while True:
            means = {t: np.nanmean(others[t, kept]) for t in kept if (codes[kept] == codes[t]).sum() > 1}
            worst = max(means, key=means.get)
            if means[worst] <= threshold:
                break
            gone.append(worst)
            kept.remove(worst)
    assert len(gone) > 3
    assert_array_equal(dropped, gone)
    assert_array_equal(stay, kept)


@pytest.mark.parametrize("aggregate", ["category-mean", "task-mean"])
def test_each_step_is_the_best_single_addition(aggregate):
    whole = drawn(seed=3, weights=[1.0, 2.0, 0.5], aggregate=aggregate)
    found = select(whole, size=7, thresholds=())

    def value(tasks):
        mean = whole.columns(tasks).mean
        return tuple(round(of(mean, whole.mean)[0], 9) for of in (stats.spearmanr, stats.pearsonr))

    path = []
    for step in range(7):
        open_ones = set(range(3)) - {whole.codes[t] for t in path}
        choice = [t for t in range(18) if t not in path and (not open_ones or whole.codes[t] in open_ones)]
        path.append(max(choice, key=lambda t: (value([*path, t]), -t)))
        assert_allclose(found.agreement[step], value(path)[0], atol=1e-8)
    assert_array_equal(found.path, path)
    assert_array_equal(found.chosen, np.sort(path))
    assert len(found.order) == len(found.curve) == 9  # half of the tasks
    assert_allclose(trace(whole, found.order), found.curve)


@pytest.mark.parametrize(
    "curve, fewest, models, size",
    [
        ([0.5, 0.8, 0.9, 0.9], 1, 9, 1),  # the interval of 0.9 begins at 0.481
        ([0.4, 0.8, 0.9, 0.9], 1, 9, 2),
        ([0.5, 0.8, 0.9, 0.9], 3, 9, 3),  # one task of every category
        ([0.8, 0.88, 0.9, 0.85], 1, 900, 3),  # begins at 0.884
        ([0.9, 1.0, 1.0], 1, 9, 2),  # 1 has no interval
        ([0.2, 0.9], 1, 3, 2),  # nor have 3 models
    ],
)
def test_the_knee_is_the_first_within_the_interval_of_the_highest(curve, fewest, models, size):
    assert knee(curve, fewest=fewest, models=models) == size
