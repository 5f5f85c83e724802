"""One figure of a run from its items: a mean of a column, or a function of several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from compute.arrays import Floats
from compute.metrics.partition import nmi, nmi_stderr
from compute.types import BadInput, Undefined


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A score: `n` items it rests on, `stderr` where there is a formula for it."""

    value: float
    n: int
    stderr: float | None = None


def summarise(metric: str, items: pd.DataFrame) -> Figure:
    """The metric of the given key over evidence, one row an item.

    A metric with a column of its own is the mean over rows that have a value; a row without one was not answered. Its
    standard error is sd / sqrt(n), and sqrt(p (1 - p) / n) where every value is 0 or 1. `cosine_spearman` is a function
    of `human` and `value`, `nmi` of `expected` and `answer`. Raises Undefined where there is no such figure, BadInput
    where a column is missing.
    """
    if metric in items.columns:
        return _mean(metric, items[metric].to_numpy(dtype=float))
    if metric not in FUNCTIONS:
        raise BadInput(
            f"The evidence has no column {metric!r} and no function of that name: it has "
            f"{', '.join(map(str, items.columns))}; functions are {', '.join(FUNCTIONS)}"
        )
    columns, function = FUNCTIONS[metric]
    missing = [column for column in columns if column not in items.columns]
    if missing:
        raise BadInput(f"{metric} needs the column {missing[0]!r}, which the evidence lacks")
    return function(*(items[column] for column in columns))


def _mean(metric: str, values: Floats) -> Figure:
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        raise Undefined(f"{metric}: no item was answered, so there is nothing to average")
    value = float(values.mean())
    if np.isin(values, (0.0, 1.0)).all():
        return Figure(value=value, n=n, stderr=float(np.sqrt(value * (1 - value) / n)))
    return Figure(value=value, n=n, stderr=float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None)


def cosine_spearman(human: ArrayLike, value: ArrayLike) -> Figure:
    """Spearman correlation of human scores and similarities, both (n,); pairs with a gap are left out.

    Standard error (1 - r²) sqrt((1 + r² / 2) / (n - 3)): Fisher's z with the variance of Bonett and Wright 2000, taken
    back to r. Raises Undefined below three pairs or where one side is constant. Source: MIEB section 3 (visual STS).
    """
    human, value = np.asarray(human, float), np.asarray(value, float)
    both = np.isfinite(human) & np.isfinite(value)
    human, value, n = human[both], value[both], int(both.sum())
    if n < 3:
        raise Undefined(f"A rank correlation needs three pairs, here are {n}")
    for name, side in (("human scores", human), ("similarities", value)):
        if np.ptp(side) == 0:
            raise Undefined(f"All {n} {name} are {side[0]:g}, so there is no correlation")
    from scipy.stats import spearmanr

    r = float(spearmanr(human, value).statistic)
    return Figure(value=r, n=n, stderr=float((1 - r**2) * np.sqrt((1 + r**2 / 2) / (n - 3))) if n > 3 else None)


def _nmi(expected: pd.Series, answer: pd.Series) -> Figure:
    groups = {"labels": expected.astype(str), "clusters": answer.astype(str)}
    return Figure(value=nmi(**groups), n=len(expected), stderr=nmi_stderr(**groups))


FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Figure]]] = {
    "cosine_spearman": (("human", "value"), cosine_spearman),
    "nmi": (("expected", "answer"), _nmi),
}
