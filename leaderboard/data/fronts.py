"""Which rows of a suite are on the front of score and cost: by size, by release date, by encode time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from compute.analysis.pareto import ON, Front, front
from compute.analysis.ranking import Ranking
from leaderboard.data.board_table import BoardTable


def sizes(table: BoardTable) -> np.ndarray:
    """Parameters of each row's model in millions [rows], NaN where not known."""
    return _facts(table, table.models["parameters_m"].to_dict())


def released(table: BoardTable) -> np.ndarray:
    """Day of release of each row's model [rows], counted from the year 1, a month's first where no day is known."""
    return _facts(table, {key: _day(text) for key, text in table.models["released"].items()})


def times(table: BoardTable, ms: Mapping[str, float]) -> np.ndarray:
    """Milliseconds of one device for an image, by row [rows]; NaN where none was measured."""
    return _facts(table, ms)


def front_of(ranked: Ranking, *, rows: Sequence[int], cost: np.ndarray) -> Front:
    """The front among `rows`, which must be of one origin; `cost` [rows of the table]. Its indices are into `rows`."""
    chosen = np.asarray(rows, int)
    return front(
        cost=cost[chosen],
        rank=ranked.rank[chosen],
        better=ranked.better[np.ix_(chosen, chosen)],
        known=ranked.rank_low[chosen] > 0,
    )


def on_size_front(table: BoardTable, ranked: Ranking) -> dict[int, int]:
    """The rows on the front of score and parameters among the rows of their origin, in the order of the table; of each,
    how many models of no larger size have a higher mean and cannot be tested."""
    cost, out = sizes(table), {}
    for origin in {row.origin for row in table.rows}:
        rows = table.rows_of(origin)
        of_origin = front_of(ranked, rows=rows, cost=cost)
        for row, state, untested in zip(rows, of_origin.states, of_origin.untested, strict=True):
            if state == ON:
                out[int(row)] = int(untested)
    return dict(sorted(out.items()))


def _facts(table: BoardTable, known: Mapping[str, float | None]) -> np.ndarray:
    return np.array([known.get(row.model, np.nan) for row in table.rows], float)


def _day(text: str | None) -> float:
    try:
        return float(date.fromisoformat(f"{text}-01"[:10]).toordinal())
    except ValueError:
        return np.nan
