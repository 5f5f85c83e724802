"""The rows of a suite that are shown where only one origin can be, best first."""

from __future__ import annotations

import numpy as np

from compute.analysis.ranking import Ranking
from compute.types import ORIGINS
from leaderboard.data.board_table import BoardTable
from leaderboard.html.labels import SUSPECT


def ranked_rows(table: BoardTable, ranked: Ranking) -> tuple[str, list[int]]:
    """The table's origin, and its rows with a rank, best first."""
    rows = [index for index in table.rows_of(table.origin) if ranked.rank[index] > 0]
    return table.origin, sorted(rows, key=lambda index: (ranked.rank[index], -ranked.mean[index]))


def scored_rows(table: BoardTable, *, column: int) -> tuple[str, list[int]]:
    """The table's origin, or another where it has no score in a column that is not in doubt, and the origin's rows with
    one, best first: scores of two origins are never in one order."""
    scored = np.flatnonzero(~np.isnan(table.scores.values[:, column]) & (table.marks[:, column] & SUSPECT == 0))
    found = {table.rows[row].origin for row in scored}
    origin = next((each for each in (table.origin, *ORIGINS) if each in found), table.origin)
    rows = [int(row) for row in scored if table.rows[row].origin == origin]
    sign = -1 if table.columns[column].higher else 1
    return origin, sorted(rows, key=lambda row: sign * table.scores.values[row, column])
