"""Models of a suite on the front of score and cost, with reasons, and the cost of running the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import pandas as pd

from compute.analysis.ranking import Ranking
from compute.catalog import shipped
from compute.rounding import rate_text
from compute.types import BadInput
from leaderboard.data import fronts
from leaderboard.data.database import Database
from leaderboard.data.fronts import AGE, DIMENSION, GPU, LAPTOP, MEMORY, OFF, ON, SIZE, UNKNOWN, Front
from leaderboard.data.mean_rule import RankChoice, suite_rule
from leaderboard.data.suite_cache import SuiteCache, ranked_rows
from leaderboard.html.formatting import memory_text, parameters_text
from leaderboard.html.labels import suite_choices

NO_RIVAL = "none of the models that it is compared with can be tested"
STATES = {ON: "On the front", OFF: "Off: significantly worse", UNKNOWN: "Not tested"}


class CostAxis(NamedTuple):
    """A cost that scores are compared with, in words."""

    key: str
    title: str  # of the axis and the column
    known: str  # what a model needs
    no_more: str  # than another
    first: str  # superlative
    write: Callable[[float], str]


def iso(day: float) -> str:
    """Returns a day since the year 1 as a date."""
    return date.fromordinal(int(day)).isoformat()


VECTOR = "one vector of known dimension an item"
SPEED, FASTER = "a measured speed", "of the same speed or faster"
MACHINES = {GPU: "RTX 4090", LAPTOP: "laptop CPU"}
AXES = {
    axis.key: axis
    for axis in (
        CostAxis(SIZE, "Parameters", "a known size", "of the same size or smaller", "smallest", parameters_text),
        CostAxis(MEMORY, "Memory", "known memory", "of the same memory or less", "smallest", memory_text),
        *(
            CostAxis(
                key, f"Images/s, {machine}", SPEED, FASTER, "fastest", lambda seconds: f"{rate_text(1 / seconds)}/s"
            )
            for key, machine in MACHINES.items()
        ),
        CostAxis(
            *(DIMENSION, "Dimension", VECTOR, "of the same dimension or smaller", "smallest"),
            lambda size: f"{size:,.0f}, {memory_text(size * 4e6 / 2**20)}",  # of a million float32 vectors
        ),
        CostAxis(AGE, "Release date", "a known release date", "of the same date or older", "oldest", iso),
    )
}


@dataclass(frozen=True, kw_only=True)
class SuiteFront:
    """A suite against one cost.

    Its points, best first, are the models with a rank: model, title, rank, tie (its class; empty: not known), mean, low
    and high (NaN: unknown), cost as in `fronts.costs` (NaN: unknown) and as it is `shown`; state (ON, OFF, UNKNOWN;
    empty without a cost); `beaten_by`, key and title of each, cheapest first; `untested`, the number of models that
    cost no more and rank higher but have no interval; `leads`, whether no model that costs no more has a higher mean;
    `unknown`, why no comparison can be tested; `trained` on a data set of the suite. Values are in shown units.
    """

    suite: pd.Series
    axis: CostAxis
    category: str  # empty: the mean
    score: str  # what the score is, in words
    digits: int
    origin: str
    points: tuple[Any, ...]
    unranked: list[tuple[str, str]]  # key and title of the models of this origin that have no rank
    categories: tuple[str, ...]  # to choose from
    testable: list[str]  # categories in which something is known, if nothing is over the whole

    def of(self, state: str) -> list[Any]:
        """Returns the points of one state, cheapest first, then by rank."""
        return sorted((point for point in self.points if point.state == state), key=lambda p: (p.cost, p.rank))

    @property
    def with_cost(self) -> list[Any]:
        return [point for point in self.points if point.state]

    @property
    def tested(self) -> bool:
        """Returns whether the state of any model is known."""
        return any(point.state in (ON, OFF) for point in self.points)

    @property
    def reasons(self) -> list[str]:
        """Returns why models cannot be tested, the most frequent reason first."""
        counts = Counter(point.unknown for point in self.points if point.unknown not in ("", NO_RIVAL))
        return [reason for reason, _ in counts.most_common()]


def suites(db: Database) -> list[tuple[str, str]]:
    """Returns the suites to choose from: those that have a mean."""
    every = db.query("suites")
    return suite_choices(every[(every["aggregate"] != "human") & (every["tasks"] > 0)])


def suite_front(suite_cache: SuiteCache, *, suite: str, category: str = "", axis: str = SIZE) -> SuiteFront:
    """Returns the front of a suite's mean, or of a category's. Raises UnknownKey for an unknown suite, BadInput for one
    without a mean.
    """
    table = suite_cache.table(suite)
    cost = fronts.costs(table, axis)

    def front(category: str) -> tuple[Ranking, list[int], Front]:
        others = tuple((name, 0.0) for name in table.scores.categories if name != category) if category else ()
        ranked = suite_cache.ranked(suite, RankChoice(others))
        if ranked is None:
            raise BadInput(f"{table.suite['title']} has no scores that make a mean. Choose another suite")
        rows = ranked_rows(table, ranked)
        return ranked, rows, fronts.front_of(ranked, rows=rows, cost=cost)

    category = category if category in table.scores.categories else ""
    ranked, rows, found = front(category)
    models = [(table.rows[row].model, table.rows[row].title) for row in rows]
    unknown = [
        ranked.unknown[row] or (NO_RIVAL if state == UNKNOWN else "")
        for row, state in zip(rows, found.states, strict=True)
    ]
    column = table.category_columns[0]
    points = pd.DataFrame(models, columns=["model", "title"]).assign(
        rank=ranked.rank[rows],
        tie=[ranked.classes[row] for row in rows],
        mean=ranked.mean[rows] * column.scale,
        low=ranked.mean_low[rows] * column.scale,
        high=ranked.mean_high[rows] * column.scale,
        cost=cost[rows],
        shown=[table.models.loc[model, "released"] for model, _ in models]
        if axis == AGE
        else [AXES[axis].write(each) for each in cost[rows]],
        state=found.states,
        beaten_by=[tuple(models[other] for other in others) for others in found.beaten_by],
        untested=found.untested,
        leads=found.points,
        unknown=unknown,
        trained=[table.trained(row) == "yes" for row in rows],
    )
    others = [table.rows[row] for row in table.rows_of(table.origin) if row not in set(rows)]
    nothing = not category and {*found.states} - {""} == {UNKNOWN}
    return SuiteFront(
        suite=table.suite,
        axis=AXES[axis],
        category=category,
        score=f"mean of {category}" if category else suite_rule(table),
        digits=column.digits,
        origin=table.origin,
        points=tuple(points.itertuples(index=False)),
        unranked=[(row.model, row.title) for row in others],
        categories=table.scores.categories,
        testable=[name for name in table.scores.categories if {ON, OFF} & {*front(name)[2].states}] if nothing else [],
    )


@cache
def suite_items(suite: str) -> Mapping[str, int]:
    """Returns the cost of a catalogue suite's tasks, as a dry run counts it before anything is fetched."""
    from compute import tasks
    from compute.engine.estimate import item_counts
    from compute.tasks.source import Source

    source = Source(offline=True)
    chosen = [task for task in shipped().tasks if suite in task.suites]
    return item_counts(chosen, needs=lambda task: tasks.needs(task, source=source))
