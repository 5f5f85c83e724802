"""The correlations of a choice as a matrix, and the models behind each cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from compute.analysis import correlation as correlations
from compute.analysis.correlation import Correlation
from compute.types import BadInput
from leaderboard.data.database import shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.correlations.axes import Axis, AxisTable, check_origin, gather
from leaderboard.pages.correlations.query import CorrelationQuery


@dataclass(frozen=True, kw_only=True)
class CorrelationMatrix:
    """The correlations of a choice, with axes in the order shown; those in `left_out` correlate with no other axis."""

    query: CorrelationQuery
    table: AxisTable
    correlation: Correlation
    left_out: tuple[str, ...]

    def index(self, key: str) -> int:
        """Returns the index of an axis. Raises BadInput for one that is not shown."""
        keys = [axis.key for axis in self.table.axes]
        if key not in keys:
            raise BadInput("The opened pair is not part of this choice, so it is closed")
        return keys.index(key)


def correlate(suite_cache: SuiteCache, query: CorrelationQuery) -> CorrelationMatrix:
    """Computes the correlations of every two axes. Raises BadInput with the reason if every cell would be blank."""
    if query.level == "suites" and len(query.suites) < 2:
        raise BadInput("One suite alone has no correlation: choose two or more, or compare categories or tasks")
    check_origin(suite_cache, query)
    table = gather(suite_cache, query)
    matrix = correlations.correlate(scores=table.scores.turned, method=query.method, minimum=query.minimum)
    others = matrix.r.copy()
    np.fill_diagonal(others, np.nan)
    connected = ~np.isnan(others).all(axis=1)
    if not connected.any():
        raise BadInput(
            f"No two of these {query.level} share {query.minimum} models with scores of this choice, so "
            "there is no correlation to show. Choose other suites, models or scores"
        )
    order = correlations.order(matrix=matrix.r) if query.order == "clustered" else np.arange(len(connected))
    shown = order[connected[order]]
    cells = np.ix_(shown, shown)
    return CorrelationMatrix(
        query=query,
        left_out=tuple(table.axes[index].title for index in np.flatnonzero(~connected)),
        table=table.of_axes(shown),
        correlation=replace(matrix, **{name: getattr(matrix, name)[cells] for name in ("r", "n", "low", "high")}),
    )


matrix_of = shared(correlate, most=64)  # each choice once for each version of the file


@dataclass(frozen=True, kw_only=True)
class AxisPair:
    """Two axes over the models on both: values in shown units and their correlation, or why there is none."""

    x: Axis
    y: Axis
    models: tuple[str, ...]
    values: np.ndarray  # [models, 2]
    marks: np.ndarray  # [models, 2], bits of leaderboard.html.labels
    origins: tuple[tuple[str, str], ...]
    r: float
    low: float
    high: float
    why: str  # empty if there is a correlation


def pair(matrix: CorrelationMatrix, first: str, second: str) -> AxisPair:
    """Returns the models behind one cell. Raises BadInput for an axis that is not shown."""
    a, b = matrix.index(first), matrix.index(second)
    table, scores, correlation = matrix.table, matrix.table.scores, matrix.correlation
    both = np.flatnonzero(~np.isnan(scores.values[:, [a, b]]).any(axis=1))
    x, y = table.axes[a], table.axes[b]
    cells = np.ix_(both, [a, b])
    return AxisPair(
        x=x,
        y=y,
        models=tuple(scores.models[row] for row in both),
        values=scores.values[cells] * [x.scale, y.scale],
        marks=table.marks[cells],
        origins=tuple(map(tuple, table.origins[cells].tolist())),
        r=float(correlation.r[a, b]),
        low=float(correlation.low[a, b]),
        high=float(correlation.high[a, b]),
        why=why_blank(matrix, a, b),
    )


def why_blank(matrix: CorrelationMatrix, a: int, b: int) -> str:
    """Returns why a cell is blank; empty if it is not."""
    if not np.isnan(matrix.correlation.r[a, b]):
        return ""
    n = int(matrix.correlation.n[a, b])
    if n < matrix.query.minimum:
        have = "has" if n == 1 else "have"
        return f"only {n} model{'' if n == 1 else 's'} {have} both, {matrix.query.minimum} are needed"
    return f"one of the two is the same for all {n} models"
