"""Resampled suites: win probabilities and intervals of Borda points next to a bootstrap written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

import compute
from tests.compute.analysis.tables import ranked

MODELS, TASKS = 5, 12


def scores(seed: int = 0) -> np.ndarray:
    return 0.25 * np.arange(MODELS)[:, None] + np.random.default_rng(seed).normal(size=(MODELS, TASKS))


def test_win_probabilities_are_those_of_a_plain_bootstrap_within_categories():
    x, categories = scores(), np.repeat([0, 1], [4, 8])
    draw, wins, draws = np.random.default_rng(9), np.zeros((MODELS, MODELS)), 4000
    for _ in range(draws):
        means = (x[:, draw.integers(0, 4, 4)].mean(axis=1) + x[:, draw.integers(4, 12, 8)].mean(axis=1)) / 2
        wins += means[:, None] > means
    found = ranked(x, categories)
    order = found.order
    share = found.win_probability()
    assert list(share.index) == [found.table.models[at] for at in order]
    off = ~np.eye(MODELS, dtype=bool)
    np.testing.assert_allclose(share.to_numpy()[off], (wins / draws)[np.ix_(order, order)][off], atol=0.03)
    np.testing.assert_allclose((share + share.T).to_numpy()[off], 1)
    lower = ranked(-x, categories, higher=np.zeros(TASKS, bool)).win_probability()
    np.testing.assert_allclose(lower, share)
    assert ranked(x[:, :1]).win_probability().isna().to_numpy().all()


def test_borda_points_have_the_interval_of_a_bootstrap_over_clusters():
    x, pairs = scores(), {f"group {at}": [f"task {2 * at}", f"task {2 * at + 1}"] for at in range(TASKS // 2)}
    frame = pd.DataFrame(x, columns=[f"task {at}" for at in range(TASKS)])
    frame.insert(0, "model", [f"model {at}" for at in range(MODELS)])
    found = compute.rank(frame, aggregate="borda", groups=pairs)
    points = MODELS - stats.rankdata(-x, axis=0)
    np.testing.assert_allclose(found.mean, points.sum(axis=1))
    draw = np.random.default_rng(9)
    of_pair = points.reshape(MODELS, TASKS // 2, 2).sum(axis=2)
    totals = np.array([of_pair[:, draw.integers(0, TASKS // 2, TASKS // 2)].sum(axis=1) for _ in range(4000)])
    low, high = np.quantile(totals, (0.025, 0.975), axis=0)
    np.testing.assert_allclose(found.mean_low, low, atol=1.5)
    np.testing.assert_allclose(found.mean_high, high, atol=1.5)
