"""Estimates of incomplete models: equal to scikit-learn's ridge, with intervals that hold, or a reason."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from compute.analysis import estimates
from compute.analysis.estimates import CANNOT, TOO_FEW, UNLIKE, next_tasks, possible
from compute.analysis.table import ScoreTable


def drawn(seed, *, models=30, partial=40, tasks=24, shown=12):
    """A table of two factors: complete models, then others that show only the first tasks; and all of the scores."""
    rng = np.random.default_rng(seed)
    able = rng.normal(size=(models + partial, 2)) @ rng.normal([[0.08], [0.03]], 0.03, (2, tasks))
    whole = 0.5 + able + rng.normal(0, 0.02, (models + partial, tasks))
    values = whole.copy()
    values[models:, shown:] = np.nan
    return ScoreTable(values=values), whole


def of_families(table, families):
    return None if families is None else pd.DataFrame({"family": families}, index=table.models)


def estimated(table, families=None, **more):
    return estimates.estimates(table, of_families(table, families), **more)


def complete(table, families=None):
    return estimates.complete(table, of_families(table, families))


def test_a_prediction_is_scikit_learns_ridge():
    table, whole = drawn(0, partial=1)
    of, seen, penalty = complete(table), np.array([0, 3, 5, 7, 11]), 0.3
    found, _ = of.predict(whole[-1], seen, penalty)
    centre, spread = of.values.mean(axis=0), of.values.std(axis=0)
    z, unseen = (of.values - centre) / spread, np.delete(np.arange(24), seen)
    ridge = Ridge(alpha=penalty * len(seen), fit_intercept=False).fit(z[:, seen], z[:, unseen])
    expected = centre[unseen] + spread[unseen] * ridge.predict(((whole[-1] - centre) / spread)[None, seen])[0]
    assert np.abs(found - expected).max() < 1e-8


def test_a_residual_is_that_of_a_ridge_without_the_family_and_another_that_is_left_out():
    table, _ = drawn(1, partial=1)
    of, seen, penalty = complete(table, families=[f"f{at // 3}" for at in range(31)]), np.arange(8), 0.1
    errors, scales = of.residuals(seen, penalty, without=of.families == 0)
    kept = of.families != 0
    x, y = of.values[:, seen] / of.values[kept][:, seen].std(axis=0), of.values[:, 8:]
    for row in (3, 10):
        among = kept & (of.families != of.families[row])
        ridge = Ridge(alpha=penalty * 8).fit(x[among], y[among])
        assert np.abs(y[row] - ridge.predict(x[[row]])[0] - errors[row]).max() < 1e-8
    assert np.isnan(errors[~kept]).all() and np.isnan(scales[~kept]).all() and (scales[kept] > 0).all()


def test_intervals_hold_for_models_that_took_no_part():
    held = []
    for seed in range(5):
        table, whole = drawn(seed)
        found, _, (check,) = estimated(table)
        held += [one.low <= whole[row].mean() <= one.high for row, one in found.items()]
        assert min(check.models, check.families, check.best, check.newest) >= 0.95 or check.widened > 1
        for row, one in found.items():
            assert one.low < one.mean < one.high and one.rank_low <= one.rank_high and one.tasks == 12
            assert one.complete == 30 and np.isnan(one.scores[:12]).all()
            assert one.categories[0, 0] == pytest.approx(one.mean)
            assert np.r_[whole[row, :12], one.scores[12:, 0]].mean() == pytest.approx(one.mean)
    assert len(held) > 180 and np.mean(held) >= 0.93


def test_lower_is_better_and_units_turn_the_places_alone():
    table, _ = drawn(2)
    turned = ScoreTable(values=-100 * table.values, higher=np.zeros(24, bool))
    for (row, one), (other, same) in zip(*(estimated(each)[0].items() for each in (table, turned)), strict=True):
        assert (
            row == other and same.mean == pytest.approx(-100 * one.mean) and same.low == pytest.approx(-100 * one.high)
        )
        assert (one.rank_low, one.rank_high) == (same.rank_low, same.rank_high)


def test_where_there_is_no_estimate_the_reason_is_said():
    table, _ = drawn(5, partial=4)
    values = table.values
    values[31, :12] = np.where(np.arange(12) % 2, 2.0, -1.0)
    values[32, 4:] = np.nan
    can = np.ones(values.shape, bool)
    can[33, 20:] = False
    found, reasons, _ = estimated(table, possible=can)
    assert list(found) == [30] and reasons == {31: UNLIKE, 32: TOO_FEW.format(8), 33: CANNOT.format(4)}
    assert set(estimated(table.rows(range(12, 34)))[1].values()) == {
        "only 18 models have every task: an estimate needs 30"
    }
    (reason,) = set(estimated(table, families=["one"] * 34)[1].values())
    assert "of 1 families" in reason
    noise = ScoreTable(values=np.random.default_rng(0).normal(size=(30, 24)))
    noise.values[29, 5:] = np.nan
    assert not estimated(noise)[0]


def test_what_a_model_cannot_do_is_never_estimated():
    both = ["embed_image", "embed_text"]
    can = possible(
        [["embed_image"], both, ["choose"], [], both],
        [["image"], ["image", "text"]],
        late=[False] * 4 + [True],
        one_vector=[True, False],
    )
    assert can.tolist() == [[True, False], [True] * 2, [True] * 2, [True] * 2, [False, True]]


def test_what_to_run_next_fits_the_budget_and_costs_count():
    table, whole = drawn(7)
    of, hours, every = complete(table), np.ones(24), np.ones(24, bool)
    order = next_tasks(of, table.values[-1], hours=hours, budget=5.5, among=every)
    assert len(order.tasks) == 5 and set(order.tasks) <= set(range(12, 24))
    now, first, last = order.halves((0, 1, 5))
    one = estimated(table)[0][69]
    assert 0 < last < first and now == pytest.approx((one.high - one.low) / 2)
    dear = np.where(np.arange(24) == order.tasks[0], 100.0, 1.0)
    assert order.tasks[0] not in next_tasks(of, table.values[-1], hours=dear, budget=50, among=every).tasks
    everything = next_tasks(of, np.full(24, np.nan), hours=hours, budget=99, among=every)
    assert len(everything.tasks) == 24 and everything.halves([24]) == [0] and np.isnan(everything.halves([4])).all()
    among = np.arange(24) >= 20
    only = next_tasks(of, table.values[-1], hours=hours, budget=99, among=among)
    assert set(only.tasks) == {20, 21, 22, 23}


def test_of_many_complete_models_some_are_enough():
    table, whole = drawn(8, models=260, partial=40)
    of = complete(table)
    assert len(of.values) == estimates.MOST_MODELS and len(of.means) == 260
    assert of.values.mean(axis=1).max() == whole[:260].mean(axis=1).max()
    assert np.mean([one.low <= whole[row].mean() <= one.high for row, one in estimated(table)[0].items()]) >= 0.9
