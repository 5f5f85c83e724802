"""`compute.correlate`, `compute.lite` and `compute.compare` of any table, against scipy and against what they call."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import compute
from compute.types import BadInput

MODELS, TASKS = 20, 10


def table(seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(MODELS, 1)) + 0.8 * draw.normal(size=(MODELS, TASKS))
    frame = pd.DataFrame(values, columns=[f"t{at}" for at in range(TASKS)])
    frame.insert(0, "model", [f"m{at}" for at in range(MODELS)])
    return frame


@pytest.mark.parametrize(
    ("method", "reference"),
    [("kendall", stats.kendalltau), ("spearman", stats.spearmanr), ("pearson", stats.pearsonr)],
    ids=["kendall", "spearman", "pearson"],
)
def test_correlations_are_those_of_scipy_over_the_shared_models(method, reference):
    frame = table()
    frame.loc[3, "t1"] = None
    result = compute.correlate(frame, method=method)
    rows = result.frame()
    assert len(rows) == TASKS * (TASKS - 1) // 2 and rows["r"].is_monotonic_decreasing
    for row in rows.itertuples():
        pair = frame[[row.first, row.second]].dropna()
        assert row.n == len(pair) == (19 if "t1" in (row.first, row.second) else 20)
        assert row.r == pytest.approx(reference(*pair.to_numpy().T).statistic)
    matrix = result.matrix()
    assert matrix.loc["t2", "t5"] == matrix.loc["t5", "t2"] and matrix.loc["t2", "t2"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [({"method": "tau"}, "'tau'"), ({"only": ["t1"]}, "two"), ({"minimum": 30}, "30")],
)
def test_correlations_that_cannot_be(options, words):
    with pytest.raises(BadInput, match=words):
        compute.correlate(table(), **options)


def test_a_smaller_suite_says_what_it_preserves_and_loses():
    frame = table()
    result = compute.lite(frame, tasks=4)
    assert len(result.tasks) == len(result.spearman_by_step) == 4
    whole, small = frame.drop(columns="model").mean(axis=1), frame[list(result.tasks)].mean(axis=1)
    assert result.fidelity.spearman == pytest.approx(stats.spearmanr(whole, small).statistic)
    assert result.spearman_by_step[-1] == pytest.approx(result.fidelity.spearman)
    change = np.abs(stats.rankdata(-whole) - stats.rankdata(-small))
    assert result.fidelity.largest_rank_change == change.max() == change[int(result.largest_change[1:])]
    assert result.held_out is not None and 0 < result.held_out.median < 1
    rows = result.frame()
    assert len(rows) == TASKS and rows["step"].tolist()[:4] == [1, 2, 3, 4] and rows["step"].isna().sum() == 6
    lost = rows[rows["step"].isna()]
    assert set(lost["nearest"]) <= set(result.tasks)
    for row in lost.itertuples():
        nearest = max(stats.spearmanr(frame[row.task], frame[task]).statistic for task in result.tasks)
        assert row.r == pytest.approx(nearest)
    text = str(result)
    assert "4 of 10 tasks" in text and "took no part" in text and result.largest_change in text


def test_smaller_suites_that_cannot_be():
    for options, word in (
        ({"tasks": 10}, "9"),
        ({"tasks": 2.5}, "whole number"),
        ({"tasks": 3, "aggregate": "borda"}, "'borda'"),
        ({"tasks": 3, "weights": {"t1": 2}}, "categories"),
        ({"tasks": 3, "lower_is_better": ["t1"]}, "direction"),
    ):
        with pytest.raises(BadInput, match=word):
            compute.lite(table(), **options)


def test_what_is_not_known_is_said():
    frame = pd.DataFrame({"model": ["x", "y"], "t": [0.5, 0.6]})
    one = compute.compare("x", "y", scores=frame)
    assert math.isnan(one.p) and not one.better and "too few tasks" in one.reason
    apart = pd.DataFrame({"model": ["x", "y"], "t": [0.5, None], "u": [None, 0.5]})
    nothing = compute.compare("x", "y", scores=apart)
    assert math.isnan(nothing.difference) and nothing.reason == "no shared task"
    some = compute.compare("x", "y", scores=apart.assign(v=[0.7, 0.6], w=[0.7, 0.5]))
    assert (some.n, some.of) == (2, 4) and "2 of 4 tasks (coverage 50%" in str(some)
    unlike = compute.compare("m1", "m2", scores=table(), lower_is_better=["t1"])
    assert math.isnan(unlike.difference) and "direction" in unlike.reason
    assert unlike.parts["difference"].notna().all()


@pytest.mark.parametrize(
    ("names", "words"),
    [(("m1", "mm2"), r"model 'mm2'.*Did you mean 'm2'"), (("m1", "m1"), "compared with itself")],
    ids=["unknown", "itself"],
)
def test_models_that_cannot_be_compared(names, words):
    with pytest.raises(BadInput, match=words):
        compute.compare(*names, scores=table())
