"""The rows of a suite that are shown where only one origin can be, best first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leaderboard.data.ranked import Ranked
from leaderboard.data.suite_table import SuiteTable, displayed_origin
from leaderboard.html.labels import SUSPECT


@dataclass(frozen=True, kw_only=True)
class Leader:
    """A row of a suite's ranking. Means are in stored units; ends of an interval that is not known are None."""

    model: str
    title: str
    rank: int
    rank_interval: tuple[int, int] | None
    mean: float
    mean_interval: tuple[float, float] | None


def leaders(table: SuiteTable, ranked: Ranked, *, most: int) -> list[Leader]:
    """The `most` best rows among those of the displayed origin that have a rank, best first."""
    _, rows = ranked_rows(table, ranked)
    return [_leader(table, ranked, index) for index in rows[:most]]


def _leader(table: SuiteTable, ranked: Ranked, index: int) -> Leader:
    model = table.rows[index].model
    ends = float(ranked.mean_low[index]), float(ranked.mean_high[index])
    known = ranked.rank_low[index] > 0
    return Leader(
        model=model,
        title=str(table.models.loc[model, "title"]),
        rank=int(ranked.rank[index]),
        rank_interval=(int(ranked.rank_low[index]), int(ranked.rank_high[index])) if known else None,
        mean=float(ranked.mean[index]),
        mean_interval=None if np.isnan(ends).any() else ends,
    )


def ranked_rows(table: SuiteTable, ranked: Ranked) -> tuple[str, list[int]]:
    """The displayed origin among the rows with a rank (of all rows where none has one), and its rows with a rank, best
    first."""
    with_rank = {row.origin for row, rank in zip(table.rows, ranked.rank, strict=True) if rank > 0}
    origin = displayed_origin(with_rank or {row.origin for row in table.rows})
    rows = [index for index in table.rows_of(origin) if ranked.rank[index] > 0]
    return origin, sorted(rows, key=lambda index: (ranked.rank[index], -ranked.mean[index]))


def scored_rows(table: SuiteTable, *, column: int) -> tuple[str, list[int]]:
    """The displayed origin among the rows with a figure in a column that is not in doubt, and its rows with one, best
    first: figures of two origins are never in one order."""
    scored = np.flatnonzero(~np.isnan(table.values[:, column]) & (table.marks[:, column] & SUSPECT == 0))
    origin = displayed_origin(table.rows[row].origin for row in scored)
    rows = [int(row) for row in scored if table.rows[row].origin == origin]
    sign = -1 if table.columns[column].higher else 1
    return origin, sorted(rows, key=lambda row: sign * table.values[row, column])
