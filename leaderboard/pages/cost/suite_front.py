"""Which models of a suite are on the front of score and cost, and why; and what the suite takes to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from compute.analysis.pareto import OFF, ON, UNKNOWN
from compute.analysis.ranking import Ranking
from compute.catalog import shipped
from compute.types import BadInput
from leaderboard.data import fronts
from leaderboard.data.board_table import BoardTable
from leaderboard.data.fronts import AGE, DIMENSION, MEMORY, SIZE
from leaderboard.data.leaders import ranked_rows
from leaderboard.data.mean_rule import suite_rule
from leaderboard.data.memo import memoised
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import memory_text, parameters_text
from leaderboard.web.parameters import Choice, Number, Parameter, Text

if TYPE_CHECKING:
    from compute.engine.estimate import ItemCounts

SUITE = "unisim-core"  # the first with intervals and sizes
RATE = 100.0  # items a second
NO_RIVAL = "none of the models that it is compared with can be tested"
STATES = {ON: "On the front", OFF: "Off: significantly worse", UNKNOWN: "Not tested"}


@dataclass(frozen=True)
class CostAxis:
    """What a score is compared with, and the words for it."""

    key: str
    title: str  # of the axis and the column
    known: str  # what a model needs
    no_more: str  # than another
    first: str  # superlative
    write: Callable[[float], str]


AXES = {
    axis.key: axis
    for axis in (
        CostAxis(SIZE, "Parameters", "a known size", "no larger", "smallest", parameters_text),
        CostAxis(MEMORY, "Memory", "known memory", "no larger in memory", "smallest", memory_text),
        CostAxis(
            DIMENSION,
            "Dimension",
            "one vector of known dimension an item",
            "no larger in dimension",
            "smallest",
            "{:,.0f}".format,
        ),
        CostAxis(
            AGE,
            "Release date",
            "a known release date",
            "released no later",
            "oldest",
            lambda day: date.fromordinal(int(day)).isoformat(),
        ),
    )
}


@dataclass(frozen=True, kw_only=True)
class CostQuery:
    """One choice of the page's controls. `category` is empty for the suite's mean; `rate` in items a second."""

    suite: str
    category: str = ""
    axis: str = SIZE
    rate: float = RATE


@dataclass(frozen=True, kw_only=True)
class Point:
    """A model of the suite; costs as in `fronts.costs`."""

    model: str
    title: str
    rank: int
    tie: str  # its class; empty: not known
    mean: float  # in shown units
    low: float  # of its interval; NaN unknown
    high: float
    cost: float  # NaN: not known
    shown: str  # the cost as it is written
    state: str  # ON, OFF, UNKNOWN; empty without a cost
    beaten_by: tuple[tuple[str, str], ...]  # key and title of each, cheapest first
    untested: int  # models that cost no more and rank higher, but have no interval
    leads: bool  # no model that costs no more has a higher mean
    unknown: str  # why no comparison can be tested
    trained: bool  # on a data set of the suite


@dataclass(frozen=True, kw_only=True)
class SuiteFront:
    """A suite against one cost."""

    suite: pd.Series
    axis: CostAxis
    category: str  # empty: the mean
    score: str  # what the score is, in words
    digits: int
    origin: str
    points: tuple[Point, ...]  # those with a rank, best first
    unranked: tuple[tuple[str, str], ...]  # key and title of the models of this origin that have none
    categories: tuple[str, ...]  # to choose from
    testable: tuple[str, ...]  # categories in which something is known, where nothing is over the whole

    def of(self, state: str) -> list[Point]:
        """The points of one state, cheapest first, then by rank."""
        return sorted((point for point in self.points if point.state == state), key=lambda p: (p.cost, p.rank))

    @property
    def with_cost(self) -> list[Point]:
        return [point for point in self.points if point.state]

    @property
    def tested(self) -> bool:
        """Whether of any model it is known where it stands."""
        return any(point.state in (ON, OFF) for point in self.points)

    @property
    def reasons(self) -> list[str]:
        """Why models cannot be tested, the most frequent reason first."""
        return [
            reason
            for reason, _ in Counter(p.unknown for p in self.points).most_common()
            if reason not in ("", NO_RIVAL)
        ]


def parameters() -> tuple[Parameter, ...]:
    """The page's query parameters, before it is known which suites there are."""
    return (
        Choice(key="suite", default=SUITE, choices=(SUITE,), noun="suite"),
        Text(key="category", longest=120),
        Choice(key="axis", default=SIZE, choices=tuple(AXES)),
        Number(key="rate", default=RATE, low=0.01, high=1e6),
    )


class SuiteFronts:
    """The fronts of a database's suites."""

    def __init__(self, suite_cache: SuiteCache) -> None:
        self.suite_cache = suite_cache

    def suites(self) -> pd.DataFrame:
        """The suites to choose from: those that have a mean."""
        every = self.suite_cache.db.query("suites")
        return every[(every["aggregate"] != "human") & (every["tasks"] > 0)]

    def get(self, query: CostQuery) -> SuiteFront:
        """The front of one choice. Raises UnknownKey for a suite that does not exist, BadInput for one without a
        mean."""
        table = self.suite_cache.table(query.suite)
        category = query.category if query.category in table.scores.categories else ""
        ranked = self._ranked(table, category)
        origin, rows = ranked_rows(table, ranked)
        cost = fronts.costs(table, query.axis)
        of_axis = fronts.front_of(ranked, rows=rows, cost=cost)
        column = table.category_columns[0]
        own = {table.rows[index].model: table.models.loc[table.rows[index].model, "title"] for index in rows}
        keys = list(own)
        points = tuple(
            Point(
                model=keys[at],
                title=own[keys[at]],
                rank=int(ranked.rank[index]),
                tie=ranked.classes[index],
                mean=float(ranked.mean[index]) * column.scale,
                low=float(ranked.mean_low[index]) * column.scale,
                high=float(ranked.mean_high[index]) * column.scale,
                cost=float(cost[index]),
                shown=table.models.loc[keys[at], "released"]
                if query.axis == AGE
                else AXES[query.axis].write(cost[index]),
                state=of_axis.states[at],
                beaten_by=tuple((keys[other], own[keys[other]]) for other in of_axis.beaten_by[at]),
                untested=int(of_axis.untested[at]),
                leads=bool(of_axis.points[at]),
                unknown=ranked.unknown[index] or (NO_RIVAL if of_axis.states[at] == UNKNOWN else ""),
                trained=table.trained(index) == "yes",
            )
            for at, index in enumerate(rows)
        )
        others = [table.rows[index].model for index in table.rows_of(origin) if index not in set(rows)]
        nothing = {point.state for point in points} - {""} == {UNKNOWN}
        return SuiteFront(
            suite=table.suite,
            axis=AXES[query.axis],
            category=category,
            score=f"mean of {category}" if category else suite_rule(table),
            digits=column.digits,
            origin=origin,
            points=points,
            unranked=tuple((model, table.models.loc[model, "title"]) for model in others),
            categories=table.scores.categories,
            testable=self._testable(table, cost) if nothing and not category else (),
        )

    def _ranked(self, table: BoardTable, category: str) -> Ranking:
        weights = tuple((name, 0.0) for name in table.scores.categories if name != category) if category else ()
        ranked = self.suite_cache.ranked(table.suite["key"], weights)
        if ranked is None:
            raise BadInput(f"{table.suite['title']} has no scores that make a mean. Choose another suite")
        return ranked

    def _testable(self, table: BoardTable, cost: np.ndarray) -> tuple[str, ...]:
        """The categories in which at least one model with a cost can be tested."""
        ranked = {category: self._ranked(table, category) for category in table.scores.categories}
        return tuple(
            category
            for category, of in ranked.items()
            if {ON, OFF} & set(fronts.front_of(of, rows=ranked_rows(table, of)[1], cost=cost).states)
        )


@memoised
def suite_items(suite: str) -> ItemCounts:
    """What the tasks of a suite of the catalogue take, as a dry run counts it before anything is fetched."""
    from compute import tasks
    from compute.engine.estimate import item_counts
    from compute.tasks.source import Source

    source = Source(offline=True)
    chosen = [task for task in shipped().tasks if suite in task.suites]
    return item_counts(chosen, needs=lambda task: tasks.needs(task, source=source))
