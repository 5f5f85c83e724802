"""Where every model of a suite stands on the front of score and cost, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

from compute.analysis.pareto import OFF, ON, UNKNOWN
from compute.analysis.ranking import Ranking
from compute.types import BadInput
from leaderboard.data import fronts, model_queries, suite_queries
from leaderboard.data.board_table import BoardTable
from leaderboard.data.leaders import ranked_rows
from leaderboard.data.mean_rule import suite_rule
from leaderboard.data.memo import shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import number, parameters_text
from leaderboard.web.parameters import Choice, Parameter, Text

SIZE, AGE, TIME = "size", "age", "time"
SUITE = "unisim-core"  # the first with intervals and sizes
NO_RIVAL = "none of the models that it is compared with can be tested"
STATES = {ON: "On the front", OFF: "Off: proved worse", UNKNOWN: "Not known"}


@dataclass(frozen=True, kw_only=True)
class CostAxis:
    """What a score is compared with, and the words for it."""

    key: str
    title: str  # of the axis and the column
    known: str  # what a model needs
    missing: str  # of a model without it
    no_more: str  # than another
    first: str  # superlative
    write: Callable[[float], str]


def _day(value: float) -> str:
    return date.fromordinal(int(value)).isoformat()


def milliseconds(value: float) -> str:
    """A time per image: `0.29 ms`, `43.6 ms`, `1,250 ms`."""
    digits = 2 if value < 1 else 1 if value < 100 else 0
    return f"{number(value, digits=digits)} ms"


AXES = {
    SIZE: CostAxis(
        key=SIZE,
        title="Parameters",
        known="a known size",
        missing="Size not known",
        no_more="no larger",
        first="smallest",
        write=parameters_text,
    ),
    AGE: CostAxis(
        key=AGE,
        title="Release date",
        known="a known release date",
        missing="Release date not known",
        no_more="released no later",
        first="oldest",
        write=_day,
    ),
    TIME: CostAxis(
        key=TIME,
        title="Encode time per image",
        known="a measured encode time",
        missing="Not measured",
        no_more="no slower",
        first="fastest",
        write=milliseconds,
    ),
}


@dataclass(frozen=True, kw_only=True)
class CostQuery:
    """One choice of the page's controls. `category` is empty for the suite's mean, `device` for the most used."""

    suite: str
    category: str
    axis: str
    device: str


@dataclass(frozen=True, kw_only=True)
class Point:
    """A model of the suite. Costs are in millions of parameters, days since the year 1, or milliseconds an image."""

    model: str
    title: str
    rank: int
    mean: float  # in shown units
    low: float  # of its interval; NaN unknown
    high: float
    cost: float  # NaN: not known
    state: str  # ON, OFF, UNKNOWN; empty without a cost
    beaten_by: tuple[tuple[str, str], ...]  # key and title of each, cheapest first
    untested: int  # models that cost no more and rank higher, but have no interval
    leads: bool  # no model that costs no more has a higher mean
    unknown: str  # why no comparison can be tested
    spread: str  # of a measured time: how far its passes differ, and over how many images
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
    fixed: tuple[str, ...]  # categories of one task: differences are about that task alone
    few: bool  # some intervals rest on few tasks
    device: str  # of the times; empty on another axis
    dtypes: tuple[str, ...]  # of the times

    def of(self, state: str) -> list[Point]:
        """The points of one state, cheapest first, then by rank."""
        return sorted((point for point in self.points if point.state == state), key=lambda p: (p.cost, p.rank))

    @property
    def with_cost(self) -> list[Point]:
        return [point for point in self.points if point.state]

    @property
    def reason(self) -> str:
        """Why nothing can be tested, for most of the models of which that is so."""
        reasons = Counter(point.unknown for point in self.points if point.unknown not in ("", NO_RIVAL))
        return reasons.most_common(1)[0][0] if reasons else ""

    @property
    def reasons(self) -> int:
        """How many reasons there are."""
        return len({point.unknown for point in self.points} - {"", NO_RIVAL})


def parameters() -> tuple[Parameter, ...]:
    """The page's query parameters, before it is known which suites and devices there are."""
    return (
        Choice(key="suite", default=SUITE, choices=(SUITE,), noun="suite"),
        Text(key="category", longest=120),
        Choice(key="axis", default=SIZE, choices=tuple(AXES)),
        Choice(key="device", default="", choices=("",)),
    )


class SuiteFronts:
    """The fronts of a database's suites."""

    def __init__(self, suite_cache: SuiteCache) -> None:
        self.suite_cache = suite_cache

    def suites(self) -> pd.DataFrame:
        """The suites to choose from: those that have a mean."""
        return _suites(self.suite_cache)

    def times(self) -> pd.DataFrame:
        """As `model_queries.image_times`."""
        return _times(self.suite_cache)

    def devices(self) -> list[str]:
        """The devices that runs name, that with most timed models first."""
        return _devices(self.times())

    def get(self, query: CostQuery) -> SuiteFront:
        """The front of one choice. Raises UnknownKey for a suite that does not exist, BadInput for one without a
        mean."""
        table = self.suite_cache.table(query.suite)
        category = query.category if query.category in table.scores.categories else ""
        ranked = self._ranked(table, category)
        origin, rows = ranked_rows(table, ranked)
        device, times = self._timed(query.device) if query.axis == TIME else ("", None)
        cost = self._cost(table, query.axis, times)
        of_axis = fronts.front_of(ranked, rows=rows, cost=cost)
        column = table.category_columns[0]
        own = {table.rows[index].model: table.models.loc[table.rows[index].model, "title"] for index in rows}
        keys = list(own)
        points = tuple(
            Point(
                model=keys[at],
                title=own[keys[at]],
                rank=int(ranked.rank[index]),
                mean=float(ranked.mean[index]) * column.scale,
                low=float(ranked.mean_low[index]) * column.scale,
                high=float(ranked.mean_high[index]) * column.scale,
                cost=float(cost[index]),
                state=of_axis.states[at],
                beaten_by=tuple((keys[other], own[keys[other]]) for other in of_axis.beaten_by[at]),
                untested=int(of_axis.untested[at]),
                leads=bool(of_axis.points[at]),
                unknown=ranked.unknown[index] or (NO_RIVAL if of_axis.states[at] == UNKNOWN else ""),
                spread="" if times is None else _spread(times, keys[at]),
                trained=table.trained(index) == "yes",
            )
            for at, index in enumerate(rows)
        )
        others = [table.rows[index].model for index in table.rows_of(origin) if index not in set(rows)]
        timed = {point.model for point in points if point.state}
        nothing = any(point.state for point in points) and not any(point.state in (ON, OFF) for point in points)
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
            fixed=ranked.fixed,
            few=bool(ranked.few[rows].any()),
            device=device,
            dtypes=() if times is None else tuple(sorted(set(filter(None, times["dtype"][times.index.isin(timed)])))),
        )

    def _ranked(self, table: BoardTable, category: str) -> Ranking:
        weights = tuple((name, 0.0) for name in table.scores.categories if name != category) if category else ()
        ranked = self.suite_cache.ranked(table.suite["key"], weights)
        if ranked is None:
            raise BadInput(f"{table.suite['title']} has no scores that make a mean. Choose another suite")
        return ranked

    def _timed(self, device: str) -> tuple[str, pd.DataFrame]:
        """The device, the most used one in place of an unknown one, and its times by model."""
        times = self.times()
        devices = _devices(times)
        device = device if device in devices else next(iter(devices), "")
        return device, times[times["device"] == device].set_index("model")

    def _cost(self, table: BoardTable, axis: str, times: pd.DataFrame | None) -> np.ndarray:
        if times is not None:
            return fronts.times(table, times["ms"].to_dict())
        return fronts.sizes(table) if axis == SIZE else fronts.released(table)

    def _testable(self, table: BoardTable, cost: np.ndarray) -> tuple[str, ...]:
        """The categories in which at least one model with a cost can be tested."""
        out = []
        for category in table.scores.categories:
            ranked = self._ranked(table, category)
            _, rows = ranked_rows(table, ranked)
            if {ON, OFF} & set(fronts.front_of(ranked, rows=rows, cost=cost).states):
                out.append(category)
        return tuple(out)


def _categories(suite_cache: SuiteCache, suite: str) -> set[str]:
    tasks = suite_queries.suite_tasks(suite_cache.db, suite=suite)
    return set(tasks.loc[tasks["ranked"].astype(bool), "category"])


def _suites_with_mean(suite_cache: SuiteCache) -> pd.DataFrame:
    every = suite_queries.suites(suite_cache.db)
    means = [row.aggregate != "human" and bool(_categories(suite_cache, row.key)) for row in every.itertuples()]
    return every[np.array(means, bool)]


_suites = shared(_suites_with_mean)
_times = shared(lambda suite_cache: model_queries.image_times(suite_cache.db))


def _devices(times: pd.DataFrame) -> list[str]:
    counts = times.groupby("device")["model"].nunique()
    return sorted(counts.index, key=lambda device: (-counts[device], device))


def _spread(times: pd.DataFrame, model: str) -> str:
    """`2.1 ms to 3.7 ms in 4 passes over 10,465 images`, empty for a model without a time."""
    if model not in times.index:
        return ""
    row = times.loc[model]
    images = f"{int(row['images']):,} images"
    if row["passes"] == 1:
        return f"a single pass over {images}"
    return f"{milliseconds(row['low'])} to {milliseconds(row['high'])} in {int(row['passes'])} passes over {images}"
