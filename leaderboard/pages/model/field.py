"""One model among the rows of its suite: its position in each task, and which rows are nearest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from compute.analysis.field import Neighbours, Standing, neighbours, standardised, standing
from compute.analysis.figures.ranked import strip
from compute.analysis.ranking import Ranking
from compute.types import BadInput
from leaderboard.data.board_table import TRAINED, BoardTable, SuiteColumn
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import number
from leaderboard.html.labels import explained_signs

OTHERS = "Median and middle half of the other models"


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
        """Returns who measured these rows."""
        return self.table.rows[self.row].origin

    @property
    def own(self) -> int:
        """Returns the index of the model's row in `rows`."""
        return int(np.flatnonzero(self.rows == self.row)[0])


def suites_of(suite_cache: SuiteCache, model: str) -> list[str]:
    """Returns the suites in which the model has a row."""
    scored = set(suite_cache.db.query("suites_of_model", model=model)["suite"])
    suites = [suite for suite in suite_cache.suites() if suite in scored]
    return [suite for suite in suites if suite_cache.table(suite).rows_of_model(model)]


def field(suite_cache: SuiteCache, *, suite: str, model: str, origin: str = "") -> Field:
    """Returns the model among the rows of one origin: `origin`, else that of its fullest row (the papers' own when
    equal).

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
    """Returns whether a column measures the model: it counts in the mean, or it measures generators and is not a
    rank.
    """
    return column.ranked or (column.default and not column.metric.endswith("_rank"))


def nearest(field: Field) -> Neighbours:
    """Returns the distances of the rows of `field.rows` from the model, over at least half of its tasks and at least
    five.
    """
    values = field.table.scores.turned[np.ix_(field.rows, field.columns)]
    own = int((~np.isnan(values[field.own])).sum())
    return neighbours(values, row=field.own, minimum=max(5, -(-own // 2)))


def against_field(field: Field, *, ranked: Ranking | None, by: str) -> go.Figure:
    """Returns a line per category or a task (`by`), of those that the model has a score of: it, and the middle of the
    others.

    Tasks without categories, or of different units, are in standard deviations.
    """
    table, columns = field.table, [field.table.columns[index] for index in field.columns]
    mixed = len({column.scale for column in columns}) > 1 or not table.scores.categories
    if by == "category" and len(table.scores.categories) > 1 and ranked is not None:
        values, codes = ranked.category_means[field.rows], table.scores.codes
        marks = [(table.marks[field.row, codes == code] & TRAINED).any() for code in range(values.shape[1])]
        columns, mixed = list(table.category_columns), False
    else:
        at = np.ix_(field.rows, field.columns)
        values = standardised(table.scores.turned[at]) if mixed else table.scores.values[at]
        marks = table.marks[field.row, field.columns]
    if not mixed:
        values = values * [column.scale for column in columns]
    known = np.flatnonzero(~np.isnan(values[field.own]))
    own, others = values[field.own, known], np.delete(values[:, known], field.own, axis=0)
    others = others if len(others) else own[None]  # the field is the model alone
    low, middle, high = np.nanpercentile(np.where(np.isnan(others).all(axis=0), own, others), (25, 50, 75), axis=0)
    digits = [2 if mixed else columns[index].digits for index in known]
    said, span = [], []
    for at, (index, one, of) in enumerate(zip(known, own, others.T, strict=True)):
        before = of > one if mixed or columns[index].higher else of < one
        place = f"rank {before.sum() + 1} of {(~np.isnan(of)).sum() + 1}"
        said.append(f"{number(one, digits=digits[at])}, {place}<br>{explained_signs(marks[index])}")
        span.append(f"{number(low[at], digits=digits[at])} to {number(high[at], digits=digits[at])}")
    return strip(
        names=[columns[index].title for index in known],
        value=np.concatenate([own, middle]),
        low=np.concatenate([own, low]),
        high=np.concatenate([own, high]),
        groups=[table.rows[field.row].title] * len(known) + [OTHERS] * len(known),
        notes=[*said, *span],
        x="Standard deviations from the mean of all rows, right is better" if mixed else "Score, %",
        grey=OTHERS,
    )
