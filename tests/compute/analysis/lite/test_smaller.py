"""A smaller suite of made-up scores: what is kept, what cannot be chosen, and how it is reported."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from compute.analysis.lite.smaller import between, choose, compared
from compute.analysis.table import ScoreTable
from compute.types import BadInput, Undefined


def made_up(*, models=12, tasks=10, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(models, 1)) + 0.6 * rng.normal(size=(models, tasks))
    return ScoreTable(
        name="made-up",
        models=tuple(f"m{place:02}" for place in range(models)),
        tasks=tuple(f"t{place}" for place in range(tasks)),
        categories=("A", "B"),
        codes=np.arange(tasks) % 2,
        values=values,
    )


def test_tasks_with_gaps_and_excluded_ones_are_never_chosen():
    scores = made_up()
    printed = scores.printed.copy()
    printed[0, 0] = 1.0
    values = scores.values.copy()
    values[0, 2] = np.nan
    holed = replace(scores, values=values, printed=printed)
    result = choose(holed, size=8, thresholds=(), exclude=("t5",))
    assert not {2, 5} & set(result.selection.chosen.tolist())
    with pytest.raises(BadInput, match="no task 't99'"):
        choose(holed, size=3, exclude=("t99",))


def test_agreement_of_means_by_hand():
    full, lite = np.array([2.5, 3.0, 2.0, 2.5]), np.array([4.0, 3, 2, 1])
    found = compared("abcd", full, lite, tasks=1)
    assert (found.largest_rank_change, found.model, found.n_models, found.tasks) == (2, "d", 4, 1)
    assert_allclose(found.spearman, stats.spearmanr(full, lite)[0])
    assert_allclose(found.pearson, stats.pearsonr(full, lite)[0])
    assert compared("abcd", full, lite, tasks=1, higher=False).model == "a"
    with pytest.raises(Undefined, match="must differ"):
        compared("abc", np.ones(3), np.arange(3.0), tasks=1)


def test_two_suites_agree_over_the_models_of_both():
    whole = made_up()
    part = whole.columns([0, 1, 2]).rows(range(2, 12))
    found = between(whole, part)
    assert (found.n_models, found.tasks) == (10, 3)
    assert_allclose(found.spearman, stats.spearmanr(whole.mean[2:], part.mean)[0])
    with pytest.raises(BadInput, match="Only 2 models"):
        between(whole.rows(range(4)), whole.rows(range(2, 12)))
