"""One model in its suites, and one task among its models: the arrays behind both pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from compute.analysis.field import Neighbours, Standing, neighbours, standing
from compute.types import ORIGINS, BadInput
from leaderboard.data.suite_table import Column, Table

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache


@dataclass(frozen=True, kw_only=True)
class Field:
    """A model's row in a suite, among the rows of the same origin."""

    table: Table
    place: int  # row in the table
    rows: np.ndarray  # rows of the same origin, the model's own among them
    columns: np.ndarray  # task columns that are compared
    standing: Standing  # over `columns`

    @property
    def origin(self) -> str:
        """Who measured these rows."""
        return self.table.rows[self.place].origin


def suites_of(suite_cache: SuiteCache, *, model: str, suites: list[str]) -> list[str]:
    """The suites in which the model has a row."""
    return [suite for suite in suites if any(row.model == model for row in suite_cache.table(suite).rows)]


def origins_of(table: Table, *, model: str) -> list[str]:
    """Who measured the model in a suite."""
    return [row.origin for row in table.rows if row.model == model]


def field(suite_cache: SuiteCache, *, suite: str, model: str, origin: str = "") -> Field:
    """The model among the rows of one origin: the one asked for, else its fullest (the papers' own when equal).

    Raises BadInput when it has no such row.
    """
    table = suite_cache.table(suite)
    columns = np.array([place for place, column in enumerate(table.columns) if compared(column)], int)
    own = [place for place, row in enumerate(table.rows) if row.model == model and origin in ("", row.origin)]
    if not own:
        raise BadInput(f"{model} has no score in {table.suite['title']}. Choose another suite")
    there = ~np.isnan(table.values[:, columns])
    place = min(own, key=lambda row: (-there[row].sum(), ORIGINS.index(table.rows[row].origin)))
    rows = np.array([other for other, row in enumerate(table.rows) if row.origin == table.rows[place].origin])
    return Field(
        table=table,
        place=place,
        rows=rows,
        columns=columns,
        standing=standing(
            scores=table.values[np.ix_(rows, columns)],
            row=int(np.flatnonzero(rows == place)[0]),
            higher=np.array([table.columns[column].higher for column in columns]),
        ),
    )


def compared(column: Column) -> bool:
    """Whether a column says how a model does: it counts in the mean, or it measures generators and is no rank."""
    return column.ranked or (column.default and not column.metric.endswith("_rank"))


def nearest(field: Field) -> Neighbours:
    """How far the rows of `field.rows` are from the model, over half of its tasks or more, at least five."""
    values = field.table.values[np.ix_(field.rows, field.columns)]
    row = int(np.flatnonzero(field.rows == field.place)[0])
    own = int((~np.isnan(values[row])).sum())
    return neighbours(
        scores=values,
        row=row,
        minimum=max(5, -(-own // 2)),
        higher=np.array([field.table.columns[column].higher for column in field.columns]),
    )


def one_row_a_model(table: Table, *, column: int | None = None) -> np.ndarray:
    """Rows of a table, one a model: its fullest, so that each counts once. `column`: of those with a score there."""
    there = (~np.isnan(table.values)).sum(axis=1)
    best: dict[str, int] = {}
    for place, row in enumerate(table.rows):
        if column is not None and np.isnan(table.values[place, column]):
            continue
        held = best.get(row.model)
        order = ORIGINS.index(row.origin)
        if held is None or (-there[place], order) < (-there[held], ORIGINS.index(table.rows[held].origin)):
            best[row.model] = place
    return np.array(sorted(best.values()), int)


def column_of(table: Table, *, task: str) -> int | None:
    """The headline column of a task in a table, if it has one."""
    return next((place for place, column in enumerate(table.columns) if column.task == task), None)
