"""What correlates with what: a visitor's choice of suites, models and figures as arrays, and the pairs in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.analysis import correlation as correlations
from compute.analysis.correlation import Correlation
from compute.types import ORIGINS, BadInput
from leaderboard.data.memo import memoised
from leaderboard.pages.correlations.axes import ALL, Axis, Scores, gather
from leaderboard.web.parameters import Choice, MultiChoice, Number, Parameter, Text

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache

LEVELS = ("tasks", "categories", "suites")
GROUPS = ("all", "general-purpose", "specialised", "multi-task")
MEANS = ("figures", "printed")
ORDERS = ("clustered", "paper")
# Named choices, as query strings. UniSim-Bench's two maps rest on the task averages that Tables 2 and 3 print.
FIGURE_3 = {
    "suites": "unisim-core,unisim-ood",
    "level": "categories",
    "method": "kendall",
    "means": "printed",
    "order": "paper",
}
PRESETS: Mapping[str, Mapping[str, str]] = {
    "unisim-3a": {**FIGURE_3, "group": "general-purpose"},
    "unisim-3b": {**FIGURE_3, "group": "specialised"},
    "mieb-categories": {"suites": "mieb", "level": "categories"},
    "mieb-tasks": {"suites": "mieb", "level": "tasks"},
    "pairbench": {"suites": "pairbench", "level": "tasks"},
    "cfred": {"suites": "cfred-hpdv2", "level": "tasks", "order": "paper"},
    "across": {
        "suites": "unisim-core,unisim-ood,pairbench,mieb",
        "level": "categories",
        "origin": "all",
        "minimum": "5",
        "order": "paper",
    },
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One choice. `means` says whether a category's value is the mean of its figures or the one the paper prints."""

    suites: tuple[str, ...] = ("mieb",)
    level: str = "categories"
    method: str = "spearman"
    group: str = ALL
    models: tuple[str, ...] = ()  # empty: all of the group
    origin: str = "published"
    means: str = "figures"
    order: str = "clustered"
    minimum: int = 4  # models a cell needs


@dataclass(frozen=True, kw_only=True)
class Relation:
    """The correlations of a choice, axes in the order they are shown; `left_out` have no cell beside their own."""

    asked: Asked
    scores: Scores
    matrix: Correlation
    left_out: tuple[str, ...]

    def place(self, key: str) -> int | None:
        """Where an axis stands, None for one that is not shown."""
        return next((place for place, axis in enumerate(self.scores.axes) if axis.key == key), None)


def parameters(*, suites: Sequence[str], models: Sequence[str]) -> tuple[Parameter, ...]:
    """The page's query parameters; `suites` and `models` are the keys there are."""
    usual = Asked()
    return (
        MultiChoice(key="suites", default=usual.suites, choices=tuple(suites), least=1),
        Choice(key="level", default=usual.level, choices=LEVELS),
        Choice(key="method", default=usual.method, choices=correlations.METHODS),
        Choice(key="group", default=usual.group, choices=GROUPS),
        Choice(key="origin", default=usual.origin, choices=(*ORIGINS, ALL)),
        Choice(key="order", default=usual.order, choices=ORDERS),
        Choice(key="means", default=usual.means, choices=MEANS),
        Number(key="minimum", default=usual.minimum, low=3, high=50, whole=True),
        MultiChoice(key="models", default=usual.models, choices=tuple(models)),
        Text(key="pair"),
    )


def asked_for(values: Mapping[str, Any]) -> Asked:
    """A page's values as a choice. Raises BadInput when no suite is chosen."""
    kept = {name: values[name] for name in Asked.__dataclass_fields__}
    asked = Asked(**{name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()})
    if not asked.suites:
        raise BadInput("No suite is chosen. Choose one or more")
    return asked


class Relations:
    """The relations of a database, each made once a file."""

    def __init__(self, suite_cache: SuiteCache) -> None:
        self.suite_cache = suite_cache
        self.of = memoised(lambda asked: relate(suite_cache, asked), most=64, of=suite_cache.db)


def relate(suite_cache: SuiteCache, asked: Asked) -> Relation:
    """Correlations of every two axes. Raises BadInput naming the reason where no cell can be filled."""
    if asked.level == "suites" and len(asked.suites) < 2:
        raise BadInput("One suite has nothing beside it: choose two or more, or compare categories or tasks")
    scores = gather(suite_cache, asked)
    turned = np.where([axis.higher for axis in scores.axes], scores.values, -scores.values)
    matrix = correlations.correlate(scores=turned, method=asked.method, minimum=asked.minimum)
    beside = matrix.r.copy()
    np.fill_diagonal(beside, np.nan)
    there = ~np.isnan(beside).all(axis=1)
    if not there.any():
        raise BadInput(
            f"No two of these {asked.level} share {asked.minimum} models with figures of this choice, so "
            "there is no correlation to show. Choose other suites, models or figures"
        )
    order = correlations.order(matrix=matrix.r) if asked.order == "clustered" else np.arange(len(there))
    shown = order[there[order]]
    cut = np.ix_(shown, shown)
    return Relation(
        asked=asked,
        left_out=tuple(scores.axes[place].label for place in np.flatnonzero(~there)),
        scores=Scores(
            models=scores.models,
            axes=tuple(scores.axes[place] for place in shown),
            values=scores.values[:, shown],
            origins=scores.origins[:, shown],
            marks=scores.marks[:, shown],
        ),
        matrix=Correlation(
            r=matrix.r[cut],
            n=matrix.n[cut],
            low=matrix.low[cut],
            high=matrix.high[cut],
            method=matrix.method,
            level=matrix.level,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two axes over the models that have both: values in shown units, what they correlate to, and why not."""

    x: Axis
    y: Axis
    models: tuple[str, ...]
    values: np.ndarray  # [models, 2]
    marks: np.ndarray  # [models, 2], bits of leaderboard.data.suite_table
    origins: tuple[tuple[str, str], ...]
    r: float
    low: float
    high: float
    why: str  # empty where there is a correlation


def pair(relation: Relation, first: str, second: str) -> Pair:
    """The models behind one cell. Raises BadInput for an axis that is not shown."""
    places = [relation.place(key) for key in (first, second)]
    if None in places:
        raise BadInput("The opened pair is not part of this choice, so it is closed")
    a, b = places
    values = relation.scores.values[:, [a, b]]
    both = np.flatnonzero(~np.isnan(values).any(axis=1))
    x, y = relation.scores.axes[a], relation.scores.axes[b]
    return Pair(
        x=x,
        y=y,
        models=tuple(relation.scores.models[place] for place in both),
        values=values[both] * [x.scale, y.scale],
        marks=relation.scores.marks[np.ix_(both, [a, b])],
        origins=tuple(
            (ORIGINS[relation.scores.origins[place, a]], ORIGINS[relation.scores.origins[place, b]]) for place in both
        ),
        r=float(relation.matrix.r[a, b]),
        low=float(relation.matrix.low[a, b]),
        high=float(relation.matrix.high[a, b]),
        why=blank(relation, a, b),
    )


def blank(relation: Relation, a: int, b: int) -> str:
    """Why a cell is blank; empty where it is not."""
    if not np.isnan(relation.matrix.r[a, b]):
        return ""
    n = int(relation.matrix.n[a, b])
    if n < relation.asked.minimum:
        have = "has" if n == 1 else "have"
        return f"only {n} model{'' if n == 1 else 's'} {have} both, {relation.asked.minimum} are needed"
    return f"one of the two is the same for all {n} models"


def strangers(relation: Relation) -> list[tuple[str, str, int]]:
    """Pairs of suites between which every cell is blank, with the most models that any of those cells has."""
    suites = np.array([axis.suite for axis in relation.scores.axes])
    found = []
    for first, second in itertools.combinations(dict.fromkeys(suites), 2):
        between = np.ix_(suites == first, suites == second)
        if np.isnan(relation.matrix.r[between]).all():
            found.append((str(first), str(second), int(relation.matrix.n[between].max())))
    return found


def cells(relation: Relation) -> Iterator[tuple[int, int]]:
    """Every two different axes once."""
    return itertools.combinations(range(len(relation.scores.axes)), 2)
