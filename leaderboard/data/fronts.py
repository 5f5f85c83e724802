"""Rows of a suite on the front of score and cost: by size, memory, dimension, speed or release date.

On the front by point values alone stands every model that scores higher than all that cost no more: a lead of any size
counts, luck included. Here a model is off the front only where a model that costs no more is significantly better, by
the decisions that also give a model its rank interval (`significance`). Where none of the models that cost no more can
be tested, it is not known whether a model is on the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranking import Ranking
from compute.analysis.ranks.means import UNRANKED
from compute.arrays import Bools, Ints
from leaderboard.data.board_table import BoardTable

ON, OFF, UNKNOWN = "on", "off", "unknown"


@dataclass(frozen=True, kw_only=True)
class Front:
    """The state of every model relative to the front."""

    states: tuple[str, ...]  # ON, OFF, UNKNOWN: no comparison can be tested; empty: no rank or no cost
    beaten_by: tuple[tuple[int, ...], ...]  # [models], the better ones that cost no more, cheapest first
    untested: Ints  # [models], of those that cost no more and rank higher, how many have no interval to test
    points: Bools  # [models], on the front of the point values: none that costs no more ranks higher


def front(*, cost: ArrayLike, rank: ArrayLike, better: ArrayLike, known: ArrayLike) -> Front:
    """Returns the front of models [models], for which small `cost` and small `rank` are good.

    cost float [models], NaN unknown; rank int [models], UNRANKED where there is none; better bool [models, models],
    whether the row is significantly better than the column; known bool [models], whether a model's differences can be
    tested. Models of one cost compare with each other; a testable model without a rival is on the front.
    """
    price, ranks, better_than, testable = (np.asarray(values) for values in (cost, rank, better, known))
    models = len(price)
    counts = (ranks != UNRANKED) & ~np.isnan(price)
    costs_no_more = counts[:, None] & counts & (price <= price[:, None])
    higher = costs_no_more & (ranks < ranks[:, None])
    beats = costs_no_more & better_than.T
    rivals = costs_no_more & ~np.eye(models, dtype=bool)
    compared = testable & ((rivals & testable).any(axis=1) | ~rivals.any(axis=1))
    states = np.where(beats.any(axis=1), OFF, np.where(compared, ON, UNKNOWN))
    cheapest_first = np.lexsort((ranks, price))
    return Front(
        states=tuple(str(state) if counts[model] else "" for model, state in enumerate(states)),
        beaten_by=tuple(tuple(cheapest_first[row].tolist()) for row in beats[:, cheapest_first]),
        untested=(higher & ~testable).sum(axis=1),
        points=counts & ~higher.any(axis=1),
    )


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
    """Returns one of COSTS of each row's model [rows], NaN if unknown: millions of parameters, memory in units of 2^20
    bytes, dimension of a vector (only with one vector per item), seconds per image, days since the year 1 (a month
    counts as its first day).
    """
    facts = table.models[COSTS[key]]
    if key == AGE:
        facts = facts.map(lambda text: date.fromisoformat(f"{text}-01"[:10]).toordinal() if text else np.nan)
    elif key == DIMENSION:
        facts = facts.mask(table.models["late_interaction"].isin([True]))
    return facts.astype(float)[[row.model for row in table.rows]].to_numpy()


def front_of(ranked: Ranking, *, rows: Sequence[int], cost: np.ndarray) -> Front:
    """Returns the front among `rows`, which must be of one origin; `cost` [rows of the table]. Its indices refer to
    `rows`.
    """
    chosen = np.asarray(rows, int)
    return front(
        cost=cost[chosen],
        rank=ranked.rank[chosen],
        better=ranked.better[np.ix_(chosen, chosen)],
        known=ranked.rank_low[chosen] > 0,
    )


def size_front(table: BoardTable, ranked: Ranking) -> dict[int, int]:
    """Returns the rows on the front of score and parameters among the rows of their origin, in order, and for each the
    number of models of no larger size that have a higher mean and cannot be tested.
    """
    cost, out = costs(table, SIZE), {}
    for origin in {row.origin for row in table.rows}:
        rows = table.rows_of(origin)
        found = front_of(ranked, rows=rows, cost=cost)
        out |= {row: int(found.untested[at]) for at, row in enumerate(rows) if found.states[at] == ON}
    return dict(sorted(out.items()))
