"""The share picture of a task: the best scores and their intervals on a strip."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from leaderboard.pages.task.described import _rows


def test_no_interval_reaches_beyond_what_the_metric_can_be() -> None:
    """A score of 99% with an error of 1% once had a whisker to 101%; an end that the metric itself gives stays."""
    values = np.array([[0.99], [0.95], [0.5]])
    nothing = np.full((3, 1), np.nan)
    table = SimpleNamespace(
        columns=[SimpleNamespace(lower=0.0, upper=1.0, digits=1, scale=100.0)],
        values=values,
        stderr=np.array([[0.01], [0.01], [np.nan]]),
        low=nothing,
        high=nothing,
        models=pd.DataFrame({"title": ["A", "B", "C"]}, index=["a", "b", "c"]),
        rows=[SimpleNamespace(model=key) for key in "abc"],
    )
    first, second, third = _rows(table, 0, [0, 1, 2])
    assert (first.high, third.value) == (1.0, 0.0), "the strip is from 0.5 to 1"
    assert first.value == pytest.approx(0.98) and first.low == pytest.approx(2 * (0.99 - 1.96 * 0.01 - 0.5), abs=1e-4)
    assert second.high == pytest.approx(2 * (0.95 + 1.96 * 0.01 - 0.5), abs=1e-4)
    assert third.low is third.high is None
