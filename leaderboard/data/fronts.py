"""Which rows of a suite are on the front of score and cost: by size, memory, dimension, speed or release date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np

from compute.analysis.pareto import ON, Front, front
from compute.analysis.ranking import Ranking
from leaderboard.data.board_table import BoardTable

SIZE, MEMORY, DIMENSION, AGE = "size", "memory", "dimension", "age"
GPU, LAPTOP = "gpu", "laptop"  # seconds an image on one
COSTS = {
    SIZE: "parameters_m",
    MEMORY: "memory_mb",
    DIMENSION: "embed_dim",
    GPU: "seconds_gpu",
    LAPTOP: "seconds_laptop",
    AGE: "released",
}


def costs(table: BoardTable, key: str) -> np.ndarray:
    """One of COSTS of each row's model [rows], NaN where it is not known: millions of parameters, memory in units of
    2^20 bytes, numbers in a vector (of one vector an item alone), seconds an image, days since the year 1 (a month
    counts as its first).
    """
    facts = table.models[COSTS[key]]
    if key == AGE:
        facts = facts.map(lambda text: date.fromisoformat(f"{text}-01"[:10]).toordinal() if text else np.nan)
    elif key == DIMENSION:
        facts = facts.mask(table.models["late_interaction"].isin([True]))
    return facts.astype(float)[[row.model for row in table.rows]].to_numpy()


def front_of(ranked: Ranking, *, rows: Sequence[int], cost: np.ndarray) -> Front:
    """The front among `rows`, which must be of one origin; `cost` [rows of the table]. Its indices are into `rows`."""
    chosen = np.asarray(rows, int)
    return front(
        cost=cost[chosen],
        rank=ranked.rank[chosen],
        better=ranked.better[np.ix_(chosen, chosen)],
        known=ranked.rank_low[chosen] > 0,
    )


def size_front(table: BoardTable, ranked: Ranking) -> dict[int, int]:
    """The rows on the front of score and parameters among the rows of their origin, in order; of each how many of no
    larger size have a higher mean and cannot be tested."""
    cost, out = costs(table, SIZE), {}
    for origin in {row.origin for row in table.rows}:
        rows = table.rows_of(origin)
        found = front_of(ranked, rows=rows, cost=cost)
        out |= {row: int(found.untested[at]) for at, row in enumerate(rows) if found.states[at] == ON}
    return dict(sorted(out.items()))
