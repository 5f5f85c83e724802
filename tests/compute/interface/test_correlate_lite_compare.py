"""`compute.correlate`, `compute.lite` and `compute.compare` of any table, against scipy and against what they call."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import compute
from compute.types import BadInput

MODELS, TASKS = 20, 10


def table(seed=0):
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(MODELS, 1)) + 0.8 * draw.normal(size=(MODELS, TASKS))
    frame = pd.DataFrame(values, columns=[f"t{at}" for at in range(TASKS)])
    frame.insert(0, "model", [f"m{at}" for at in range(MODELS)])
    return frame


def test_a_smaller_suite_says_what_it_preserves_and_loses():
    frame = table()
    result = compute.lite(frame, tasks=4)
    assert len(result.tasks) == len(result.spearman_by_step) == 4
    whole, small = frame.drop(columns="model").mean(axis=1), frame[list(result.tasks)].mean(axis=1)
    assert result.fidelity.spearman == pytest.approx(stats.spearmanr(whole, small).statistic)
    assert result.held_out is not None and 0 < result.held_out.median < 1
    rows = result.frame()
    assert len(rows) == TASKS and rows["step"].tolist()[:4] == [1, 2, 3, 4] and rows["step"].isna().sum() == 6
    lost = rows[rows["step"].isna()]
    assert set(lost["nearest"]) <= set(result.tasks)
    for row in lost.itertuples():
        nearest = max(stats.spearmanr(frame[row.task], frame[task]).statistic for task in result.tasks)
        assert row.r == pytest.approx(nearest)


@pytest.mark.parametrize(
    "call, options, word",
    [
        (compute.correlate, {"method": "tau"}, "'tau'"),
        (compute.correlate, {"only": ["t1"]}, "two"),
        (compute.correlate, {"minimum": 30}, "30"),
        (compute.lite, {"tasks": 10}, "9"),
        (compute.lite, {"tasks": 2.5}, "whole number"),
        (compute.lite, {"tasks": 3, "aggregate": "borda"}, "'borda'"),
        (compute.lite, {"tasks": 3, "weights": {"t1": 2}}, "categories"),
        (compute.lite, {"tasks": 3, "lower_is_better": ["t1"]}, "direction"),
        (compute.compare, {"a": "m1", "b": "mm2"}, r"model 'mm2'.*Did you mean 'm2'"),
        (compute.compare, {"a": "m1", "b": "m1"}, "compared with itself"),
    ],
)
def test_what_cannot_be_computed_is_refused(call, options, word):
    with pytest.raises(BadInput, match=word):
        call(scores=table(), **options)
