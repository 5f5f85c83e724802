"""One figure of a run from its items: a mean of a column, or a function of several."""

from __future__ import annotations

import numpy as np
import pandas as pd

from compute.arrays import Floats
from compute.metrics.figures import Figure
from compute.metrics.registry import METRICS
from compute.types import BadInput, Metric, Undefined


def summarise(metric: str, items: pd.DataFrame) -> Figure:
    """The metric of this key over evidence, one row an item.

    A metric with a column of its own is the mean over rows that have a value; a row without one was not answered. Its
    standard error is sd / sqrt(n), and sqrt(p (1 - p) / n) where every value is 0 or 1; its `lower_bound` takes every
    row without a value as the metric's lowest. Another metric is the function
    of columns that its row in METRICS names. Raises Undefined where there is no such figure, BadInput where a column is
    missing.
    """
    row = row_of(metric)
    if metric in items.columns:
        return _mean(metric, items[metric].to_numpy(dtype=float), row=row)
    if row is None or row.compute is None:
        raise BadInput(
            f"The evidence has no column {metric!r} and METRICS has no function of that key: the columns are "
            f"{', '.join(map(str, items.columns))}"
        )
    missing = [column for column in row.inputs if column not in items.columns]
    if missing:
        raise BadInput(f"{metric} needs the column {missing[0]!r}, which the evidence does not have")
    return row.compute(*(items[column] for column in row.inputs))


def row_of(metric: str) -> Metric | None:
    """The row of METRICS of this key; None for a column of a procedure's own."""
    return next((row for row in METRICS if row.key == metric), None)


def _mean(metric: str, values: Floats, *, row: Metric | None) -> Figure:
    asked, values = len(values), values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        raise Undefined(f"{metric}: no item was answered, so there is nothing to average")
    value = float(values.mean())
    if np.isin(values, (0.0, 1.0)).all():
        error: float | None = float(np.sqrt(value * (1 - value) / n))
    else:
        error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    # Of a metric without bounds, or where lower is better, a wrong answer has no worst value below.
    lowest = row.lower if row is not None and row.higher_is_better else None
    bound = None if n == asked or lowest is None else float((values.sum() + (asked - n) * lowest) / asked)
    return Figure(value=value, n=n, stderr=error, answered=n / asked, lower_bound=bound)
