"""One model among the rows of its suite: its position in each task, and which rows are nearest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.analysis.field import Neighbours, Standing, neighbours, standing
from compute.types import BadInput
from leaderboard.data.board_table import BoardTable, SuiteColumn
from leaderboard.data.suite_cache import SuiteCache


@dataclass(frozen=True, kw_only=True)
class Field:
    """A model's row in a suite, among the rows of the same origin."""

    table: BoardTable
    row: int  # of the model, in the table
    rows: np.ndarray  # of the same origin, the model's own among them
    columns: np.ndarray  # task columns that are compared
    standing: Standing  # over `columns`

    @property
    def origin(self) -> str:
        """Who measured these rows."""
        return self.table.rows[self.row].origin

    @property
    def own(self) -> int:
        """The index of the model's row in `rows`."""
        return int(np.flatnonzero(self.rows == self.row)[0])


def suites_of(suite_cache: SuiteCache, model: str) -> list[str]:
    """The suites in which the model has a row."""
    return [suite for suite in suite_cache.suites() if suite_cache.table(suite).rows_of_model(model)]


def field(suite_cache: SuiteCache, *, suite: str, model: str, origin: str = "") -> Field:
    """The model among the rows of one origin: `origin`, else that of its fullest row (the papers' own when equal).

    Raises BadInput when it has no such row.
    """
    table = suite_cache.table(suite)
    columns = np.array([index for index, column in enumerate(table.columns) if compared(column)], int)
    own = table.rows_of_model(model, origin=origin)
    if not own:
        raise BadInput(f"{model} has no score in {table.suite['title']}. Choose another suite")
    row = table.fullest_row(own, columns=columns)
    rows = np.array(table.rows_of(table.rows[row].origin))
    return Field(
        table=table,
        row=row,
        rows=rows,
        columns=columns,
        standing=standing(table.scores.turned[np.ix_(rows, columns)], row=int(np.flatnonzero(rows == row)[0])),
    )


def compared(column: SuiteColumn) -> bool:
    """Whether a column measures the model: it counts in the mean, or it measures generators and is not a rank."""
    return column.ranked or (column.default and not column.metric.endswith("_rank"))


def nearest(field: Field) -> Neighbours:
    """How far the rows of `field.rows` are from the model, over half of its tasks or more, at least five."""
    values = field.table.scores.turned[np.ix_(field.rows, field.columns)]
    own = int((~np.isnan(values[field.own])).sum())
    return neighbours(values, row=field.own, minimum=max(5, -(-own // 2)))
