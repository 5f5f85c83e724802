"""The front of score and cost: by its definition, written out here."""

import numpy as np
import pytest

from compute.analysis.ranks.means import UNRANKED
from leaderboard.data.fronts import OFF, ON, UNKNOWN, front
from tests.compute.analysis.tables import ranked

TASKS = 12


def drawn(seed, *, models=9):
    """Costs with equals and unknowns among them, and scores [models, tasks] with real differences and noise."""
    rng = np.random.default_rng(seed)
    cost = rng.choice([1.0, 2.0, 2.0, 5.0, 8.0, 13.0, np.nan], models)
    level = np.linspace(0.3, 0.6, models)[rng.permutation(models)][:, None]
    return cost, level + rng.normal(0, 0.08, TASKS) + rng.normal(0, 0.05, (models, TASKS))


def test_a_model_is_off_where_one_that_costs_no_more_is_better():
    """And off the front of the point values where one that costs no more scores more."""
    seen = []
    for seed in range(4):
        cost, scores = drawn(seed)
        ranking, mean = ranked(scores), scores.mean(axis=1)
        better = ranking.better
        found = front(cost=cost, rank=ranking.rank, better=better, known=ranking.rank_low != UNRANKED)
        for model, state in enumerate(found.states):
            beaten_by = {other for other in np.flatnonzero(better[:, model]) if cost[other] <= cost[model]}
            assert set(found.beaten_by[model]) == beaten_by
            assert state == ("" if np.isnan(cost[model]) else OFF if beaten_by else ON)
            assert sorted(found.beaten_by[model], key=lambda other: cost[other]) == list(found.beaten_by[model])
            cheaper = cost <= cost[model]
            assert found.points[model] == (cheaper[model] and not (mean[cheaper] > mean[model] + 1e-12).any())
            # A model ahead of all that cost no more cannot be significantly worse than one of them.
            assert not found.points[model] or state == ON
            seen.append(state)
    assert min(map(seen.count, (ON, OFF, ""))) > 2


def test_what_cannot_be_tested_is_neither_on_nor_off_and_proves_nothing():
    better = np.zeros((4, 4), bool)
    better[2, 3] = True
    found = front(
        cost=[1.0, 2.0, 3.0, 4.0], rank=[1, 4, 2, 3], better=better, known=np.array([False, True, True, True])
    )
    assert found.states == (UNKNOWN, UNKNOWN, ON, OFF)  # the second has no rival but the first
    assert found.untested.tolist() == [0, 1, 1, 1]  # the first leads, and may be better than each
    assert found.points.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    "cost, known, states",
    [
        ([1.0, 1.0], [True, False], (UNKNOWN, UNKNOWN)),  # one pair, and it cannot be tested
        ([1.0, 2.0], [True, False], (ON, UNKNOWN)),  # nobody costs less than the first
        ([1.0, 2.0], [False, True], (UNKNOWN, UNKNOWN)),
        ([1.0, 1.0], [True, True], (ON, ON)),
        ([np.nan, 1.0], [False, True], ("", ON)),  # without a cost it is no rival
    ],
)
def test_a_model_none_of_whose_rivals_can_be_tested_is_not_known_to_be_on_the_front(cost, known, states):
    assert front(cost=cost, rank=[1, 2], better=np.zeros((2, 2), bool), known=known).states == states
