"""The rows of a suite that are shown where only one origin can be, best first."""

from __future__ import annotations

import numpy as np

from compute.analysis.ranking import Ranking
from leaderboard.data.board_table import BoardTable, displayed_origin
from leaderboard.html.labels import SUSPECT


def ranked_rows(table: BoardTable, ranked: Ranking) -> tuple[str, list[int]]:
    """The displayed origin among the rows with a rank (of all rows where none has one), and its rows with a rank, best
    first."""
    with_rank = {row.origin for row, rank in zip(table.rows, ranked.rank, strict=True) if rank > 0}
    origin = displayed_origin(with_rank or {row.origin for row in table.rows})
    rows = [index for index in table.rows_of(origin) if ranked.rank[index] > 0]
    return origin, sorted(rows, key=lambda index: (ranked.rank[index], -ranked.mean[index]))


def scored_rows(table: BoardTable, *, column: int) -> tuple[str, list[int]]:
    """The displayed origin among the rows with a figure in a column that is not in doubt, and its rows with one, best
    first: figures of two origins are never in one order."""
    scored = np.flatnonzero(~np.isnan(table.scores.values[:, column]) & (table.marks[:, column] & SUSPECT == 0))
    origin = displayed_origin(table.rows[row].origin for row in scored)
    rows = [int(row) for row in scored if table.rows[row].origin == origin]
    sign = -1 if table.columns[column].higher else 1
    return origin, sorted(rows, key=lambda row: sign * table.scores.values[row, column])
