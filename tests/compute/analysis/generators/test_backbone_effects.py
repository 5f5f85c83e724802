"""Which side's backbones carry an agreement: shares, gaps with intervals, and what cannot be said."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from compute.analysis.generators.backbone_effects import DRAWS, complete, effects, people_agreement
from compute.types import Undefined

CELLS = pd.DataFrame([[0.9, 0.9], [0.5, 0.5], [0.1, 0.1]], ["a", "b", "c"], ["x", "y"])


def test_shares_add_up_and_an_effect_of_one_side_is_that_sides():
    found = effects(CELLS)
    assert (found.image.share, found.text.share, found.rest) == pytest.approx((1, 0, 0))
    assert (found.image.best, found.image.worst) == ("a", "c")
    assert found.image.gap.value == pytest.approx(0.8) and not found.image.apart  # no draws, no proof
    mixed = np.random.default_rng(0).random((3, 2))
    found = effects(pd.DataFrame(mixed))
    assert found.image.share + found.text.share + found.rest == pytest.approx(1)
    # Two-way analysis of variance, written down.
    rows = mixed.mean(axis=1, keepdims=True) - mixed.mean()
    assert found.image.share == pytest.approx((2 * rows**2).sum() / ((mixed - mixed.mean()) ** 2).sum())


def test_cells_that_are_all_alike_have_no_shares():
    found = effects(CELLS * 0 + 0.7, draws=np.full((50, 3, 2), 0.7))
    assert found.image.share is found.text.share is found.rest is None
    assert not found.mean.known and not found.image.apart


def test_gaps_are_proven_by_draws_and_hold_for_all_pairs_at_once():
    rng = np.random.default_rng(0)
    sure = effects(CELLS, draws=CELLS.to_numpy() + 0.02 * rng.normal(size=(DRAWS, 3, 2)))
    assert sure.image.apart and not sure.text.apart
    low, high = sure.image.gap.low, sure.image.gap.high
    single = 1.96 * 0.02  # of a difference of two means over two cells, each of error 0.02 / sqrt(2)
    assert low < 0.8 - 1.1 * single and high > 0.8 + 1.1 * single
    # Of 20 backbones that are all alike, the largest difference is proven in at most about 5% of samples.
    proven = 0
    for _ in range(100):
        alike = 0.02 * rng.normal(size=(20, 2))
        drawn = alike + 0.02 * rng.normal(size=(400, 20, 2))
        proven += effects(pd.DataFrame(alike), draws=drawn).image.apart
    assert proven <= 10


def test_agreement_with_people_has_its_sign_turned_and_draws_from_six_generators_on():
    rng = np.random.default_rng(0)
    human = rng.random(9)
    distances = np.column_stack([-human, human, rng.random(9)])
    values, draws = people_agreement(distances=distances, human=human)
    assert values == pytest.approx([1, -1, -spearmanr(distances[:, 2], human).statistic])
    assert draws is not None and draws.shape == (DRAWS, 3)
    assert people_agreement(distances=distances[:5], human=human[:5])[1] is None
    with pytest.raises(Undefined):
        people_agreement(distances=np.ones((9, 1)), human=human)


def test_backbones_that_miss_cells_are_left_out_the_worst_first():
    cells = np.ones((4, 3))
    cells[1] = np.nan
    cells[0, 2] = np.nan
    rows, columns = complete(cells)
    assert not np.isnan(cells[np.ix_(rows, columns)]).any()
    assert rows.sum() * columns.sum() >= 6
    assert all(part.all() for part in complete(np.ones((2, 2))))
