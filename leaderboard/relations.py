"""What correlates with what: a visitor's choice of suites, models and figures as arrays, and the pairs in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.analysis import correlation as correlations
from compute.analysis.correlation import Correlation
from compute.types import ORIGINS, BadInput
from leaderboard.board.table import Column, Table
from leaderboard.state import Choice, Choices, Number, Parameter, Text

if TYPE_CHECKING:
    from leaderboard.routes import Boards

LEVELS = ("tasks", "categories", "suites")
GROUPS = ("all", "general-purpose", "specialised", "multi-task")
ALL = "all"
MEANS = ("figures", "printed")
ORDERS = ("clustered", "paper")
# Named choices, as query strings. UniSim-Bench's two maps rest on the task averages that Tables 2 and 3 print.
FIGURE_3 = {"suites": "unisim-core,unisim-ood", "level": "categories", "method": "kendall", "means": "printed",
            "order": "paper"}
PRESETS: Mapping[str, Mapping[str, str]] = {
    "unisim-3a": {**FIGURE_3, "group": "general-purpose"},
    "unisim-3b": {**FIGURE_3, "group": "specialised"},
    "mieb-categories": {"suites": "mieb", "level": "categories"},
    "mieb-tasks": {"suites": "mieb", "level": "tasks"},
    "pairbench": {"suites": "pairbench", "level": "tasks"},
    "cfred": {"suites": "cfred-hpdv2", "level": "tasks", "order": "paper"},
    "across": {"suites": "unisim-core,unisim-ood,pairbench,mieb", "level": "categories", "origin": "all",
               "minimum": "3", "order": "paper"},
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
class Axis:
    """One task, category or suite. `scale` turns stored values into shown ones."""

    key: str
    label: str
    group: str
    suite: str
    task: str  # empty unless a task
    metric: str
    higher: bool
    scale: float
    digits: int


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Values [models, axes] in stored units, NaN missing; `origins` [models, axes] index ORIGINS, -1 missing."""

    models: tuple[str, ...]
    axes: tuple[Axis, ...]
    values: np.ndarray
    origins: np.ndarray


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
        Choices(key="suites", default=usual.suites, choices=tuple(suites)),
        Choice(key="level", default=usual.level, choices=LEVELS),
        Choice(key="method", default=usual.method, choices=correlations.METHODS),
        Choice(key="group", default=usual.group, choices=GROUPS),
        Choice(key="origin", default=usual.origin, choices=(*ORIGINS, ALL)),
        Choice(key="order", default=usual.order, choices=ORDERS),
        Choice(key="means", default=usual.means, choices=MEANS),
        Number(key="minimum", default=usual.minimum, low=3, high=50, whole=True),
        Choices(key="models", default=usual.models, choices=tuple(models)),
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
    """The relations of one database, each made once."""

    def __init__(self, boards: Boards) -> None:
        self.boards = boards
        self.of = lru_cache(maxsize=64)(lambda asked: relate(boards, asked))


def gather(boards: Boards, asked: Asked) -> Scores:
    """The chosen suites side by side; a model is the same where its key is. Raises BadInput where nothing is left.

    With origin `all` a model's row in a suite is its published one, else its imported, else its computed one: within a
    suite two origins of one model never mix.
    """
    blocks = [_block(boards, suite, asked) for suite in asked.suites]
    models = sorted({model for block in blocks for model in block.models})
    row = {model: place for place, model in enumerate(models)}
    axes: list[Axis] = []
    columns: list[tuple[np.ndarray, np.ndarray]] = []
    for block in blocks:
        where = [row[model] for model in block.models]
        for place, axis in enumerate(block.axes):
            if any(axis.key == other.key for other in axes):
                continue  # a task that several suites hold
            values, origins = np.full(len(models), np.nan), np.full(len(models), -1)
            values[where], origins[where] = block.values[:, place], block.origins[:, place]
            axes.append(axis)
            columns.append((values, origins))
    if not columns:
        raise BadInput(f"The chosen suites have no {asked.level} to compare. Choose another level or suite")
    values, origins = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    keep = np.flatnonzero(_wanted(boards, models, asked) & ~np.isnan(values).all(axis=1))
    return Scores(models=tuple(models[place] for place in keep), axes=_unique(axes), values=values[keep],
                  origins=np.where(np.isnan(values), -1, origins)[keep])


def relate(boards: Boards, asked: Asked) -> Relation:
    """Correlations of every two axes. Raises BadInput naming the reason where no cell can be filled."""
    if asked.level == "suites" and len(asked.suites) < 2:
        raise BadInput("One suite has nothing beside it: choose two or more, or compare categories or tasks")
    scores = gather(boards, asked)
    turned = np.where([axis.higher for axis in scores.axes], scores.values, -scores.values)
    matrix = correlations.correlate(scores=turned, method=asked.method, minimum=asked.minimum)
    beside = matrix.r.copy()
    np.fill_diagonal(beside, np.nan)
    there = ~np.isnan(beside).all(axis=1)
    if not there.any():
        raise BadInput(f"No two of these {asked.level} share {asked.minimum} models with figures of this choice, so "
                       "there is no correlation to show. Choose other suites, models or figures")
    order = correlations.order(matrix=matrix.r) if asked.order == "clustered" else np.arange(len(there))
    shown = order[there[order]]
    cut = np.ix_(shown, shown)
    return Relation(
        asked=asked, left_out=tuple(scores.axes[place].label for place in np.flatnonzero(~there)),
        scores=Scores(models=scores.models, axes=tuple(scores.axes[place] for place in shown),
                      values=scores.values[:, shown], origins=scores.origins[:, shown]),
        matrix=Correlation(r=matrix.r[cut], n=matrix.n[cut], low=matrix.low[cut], high=matrix.high[cut],
                           method=matrix.method, level=matrix.level))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two axes over the models that have both: values in shown units, what they correlate to, and why not."""

    x: Axis
    y: Axis
    models: tuple[str, ...]
    values: np.ndarray  # [models, 2]
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
        x=x, y=y, models=tuple(relation.scores.models[place] for place in both),
        values=values[both] * [x.scale, y.scale],
        origins=tuple((ORIGINS[relation.scores.origins[place, a]], ORIGINS[relation.scores.origins[place, b]])
                      for place in both),
        r=float(relation.matrix.r[a, b]), low=float(relation.matrix.low[a, b]), high=float(relation.matrix.high[a, b]),
        why=blank(relation, a, b))


def blank(relation: Relation, a: int, b: int) -> str:
    """Why a cell is blank; empty where it is not."""
    if not np.isnan(relation.matrix.r[a, b]):
        return ""
    n = int(relation.matrix.n[a, b])
    if n < relation.asked.minimum:
        return f"{_models(n)} with both, fewer than {relation.asked.minimum}"
    return f"one of the two is the same for all {n} models"


def cells(relation: Relation) -> Iterator[tuple[int, int]]:
    """Every two different axes once."""
    return itertools.combinations(range(len(relation.scores.axes)), 2)


def _models(n: int) -> str:
    return {0: "no model", 1: "1 model"}.get(n, f"{n} models")


def _block(boards: Boards, suite: str, asked: Asked) -> Scores:
    table = boards.table(suite)
    rows = _rows(table, asked.origin)
    axes, values = {"tasks": _tasks, "categories": _categories, "suites": _suite}[asked.level](boards, table, asked)
    origins = np.array([ORIGINS.index(table.rows[row].origin) for row in rows], int)
    return Scores(models=tuple(table.rows[row].model for row in rows), axes=axes, values=values[rows],
                  origins=np.repeat(origins[:, None], len(axes), axis=1))


def _rows(table: Table, origin: str) -> list[int]:
    if origin != ALL:
        return [place for place, row in enumerate(table.rows) if row.origin == origin]
    best: dict[str, int] = {}
    for place, row in enumerate(table.rows):
        held = best.get(row.model)
        if held is None or ORIGINS.index(row.origin) < ORIGINS.index(table.rows[held].origin):
            best[row.model] = place
    return sorted(best.values())


def _tasks(boards: Boards, table: Table, asked: Asked) -> tuple[tuple[Axis, ...], np.ndarray]:
    shown = [place for place, column in enumerate(table.columns) if not column.metric.endswith("_rank")]
    axes = tuple(_axis(table.columns[place], table, key=table.columns[place].key) for place in shown)
    return axes, table.values[:, shown]


def _categories(boards: Boards, table: Table, asked: Asked) -> tuple[tuple[Axis, ...], np.ndarray]:
    ranked = boards.ranked(table.suite["key"])
    if ranked is None:
        return (), np.empty((len(table.rows), 0))
    axes = tuple(_axis(column, table, key=f"{table.suite['key']}:{column.key}") for column in table.families)
    return axes, table.printed if asked.means == "printed" else ranked.families


def _suite(boards: Boards, table: Table, asked: Asked) -> tuple[tuple[Axis, ...], np.ndarray]:
    ranked, about = boards.ranked(table.suite["key"]), table.suite
    if ranked is not None:
        first, values = table.families[0], ranked.mean
    else:
        place = next((place for place, column in enumerate(table.columns) if column.group == "People"), None)
        if place is None:
            return (), np.empty((len(table.rows), 0))
        first, values = table.columns[place], table.values[:, place]
    return (Axis(key=about["key"], label=about["title"], group=about["benchmark_title"], suite=about["key"], task="",
                 metric="mean" if ranked is not None else first.metric_title, higher=True, scale=first.scale,
                 digits=first.digits),), values[:, None]


def _axis(column: Column, table: Table, *, key: str) -> Axis:
    return Axis(key=key, label=column.title, group=column.group if column.task else table.suite["title"],
                suite=table.suite["key"], task=column.task, metric=column.metric_title, higher=column.higher,
                scale=column.scale, digits=column.digits)


def _unique(axes: list[Axis]) -> tuple[Axis, ...]:
    """Axes with labels that tell them apart: the group added where two are named alike, the key where still so."""
    for extra in ("group", "key"):
        labels = [axis.label for axis in axes]
        axes = [axis if labels.count(axis.label) == 1 else
                replace(axis, label=f"{axis.label} ({getattr(axis, extra)})") for axis in axes]
    return tuple(axes)


def _wanted(boards: Boards, models: list[str], asked: Asked) -> np.ndarray:
    table = boards.table(asked.suites[0])
    groups = table.models["group"].fillna("")
    chosen = set(asked.models)
    return np.array([(asked.group == ALL or groups.get(model, "") == asked.group) and (not chosen or model in chosen)
                     for model in models], bool)
