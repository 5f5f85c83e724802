"""What is published of a model for the kind of question that a live comparison asks, so that one look is not all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pandas as pd

from compute.types import ORIGINS
from leaderboard.data import suite_queries, task_queries
from leaderboard.data.memo import memoised
from leaderboard.data.related_evidence import EVIDENCE, RelatedEvidence, kind_of_question
from leaderboard.data.scores import interval
from leaderboard.data.suite_table import PARTIAL, PRINTED, TRAINED, SuiteColumn, SuiteTable, displayed_origin
from leaderboard.html.formatting import NOTHING, number, span
from leaderboard.html.labels import is_synthetic

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache

MOST = 3  # records of one model
MOST_SOURCES = 2  # that are named; the others are counted
NONE = "No published figure for this kind of question"


@dataclass(frozen=True, kw_only=True)
class Record:
    """One figure of one model. Numbers are in the unit the papers print, None where nothing is known.

    `rank` counts among the `of` models with a figure of the same origin; `marks` are the bits of a cell of the board.
    """

    title: str
    metric: str
    value: float
    low: float | None  # of the 95% interval
    high: float | None
    chance: float | None  # what guessing gives
    percent: bool
    digits: int
    rank: int
    of: int
    origin: str
    source: str
    note: str  # how a mean was made, where not of all its tasks
    marks: int
    synthetic: bool
    address: str  # relative to the app's root

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return f"{number(self.value, digits=self.digits)}{self._sign}"

    @property
    def interval(self) -> str:
        """The 95% interval as `low to high` with its unit, empty where it is not known."""
        said = span(self.low, self.high, digits=self.digits)
        return "" if said == NOTHING else f"{said}{self._sign}"

    @property
    def guessing(self) -> str:
        """What guessing gives, as `shown`; empty where it is not known."""
        return "" if self.chance is None else f"{number(self.chance, digits=self.digits)}{self._sign}"

    @property
    def place(self) -> str:
        """The rank in words."""
        return f"{self.rank} of {self.of}"

    @property
    def _sign(self) -> str:
        return "%" if self.percent else ""


def records(
    suite_cache: SuiteCache, *, models: Sequence[str], mode: str, kinds: Sequence[str], question: str = ""
) -> dict[str, list[Record]]:
    """Up to three records a model: published before imported before computed, then in the table's order.

    `kinds` are the inputs' modalities in their order, of a choice the reference first. Models without a figure have an
    empty list: `lacking` says so. Raises BadInput for a mode or question that is not in the table.
    """
    found = _keeper(suite_cache)(kind_of_question(mode=mode, kinds=kinds, question=question))
    return {model: list(found.get(model, ())[:MOST]) for model in models}


def lacking(found: Sequence[Record]) -> str:
    """The sentence for a model whose figures are none, or none that others published; else empty."""
    return "" if any(record.origin != "computed" for record in found) else NONE


def _gather(suite_cache: SuiteCache, key: str) -> dict[str, tuple[Record, ...]]:
    """Every model's records for a key of EVIDENCE, the first to be shown first; of a column one origin a model."""
    related = EVIDENCE.get(key, ())
    if not related:
        return {}
    tasks = {column.task for one in related for column in _columns(suite_cache.table(one.suite), one)}
    sources = task_queries.sources(suite_cache.db, tasks=sorted(tasks)).groupby(["model", "origin"])
    by_row = {row: dict(zip(frame["task"], frame["source"], strict=True)) for row, frame in sources}
    limits = suite_queries.metrics(suite_cache.db)
    found: dict[str, dict[int, Record]] = {}
    for place, one in enumerate(related):
        for model, record in _of_column(suite_cache, one, by_row, limits):
            known = found.setdefault(model, {}).get(place)
            if known is None or displayed_origin([record.origin, known.origin]) != known.origin:
                found[model][place] = record
    return {
        model: tuple(sorted(mine.values(), key=lambda record: ORIGINS.index(record.origin)))
        for model, mine in found.items()
    }


@lru_cache(maxsize=4)
def _keeper(suite_cache: SuiteCache) -> Callable[[str], dict[str, tuple[Record, ...]]]:
    """What was gathered of a database, as long as its file is read."""
    return memoised(partial(_gather, suite_cache), of=suite_cache.db)


def _of_column(
    suite_cache: SuiteCache,
    related: RelatedEvidence,
    sources: dict[tuple[str, str], dict[str, str]],
    limits: pd.DataFrame,
) -> list[tuple[str, Record]]:
    """The records of every row with a figure in one column."""
    table = suite_cache.table(related.suite)
    members = _columns(table, related)
    if not members:
        return []
    places = [table.columns.index(column) for column in members]
    head, values, how = _values(suite_cache, table, related, members)
    about, origins = limits.loc[head.metric], np.array([row.origin for row in table.rows])
    found = []
    for at in np.flatnonzero(~np.isnan(values)):
        row = table.rows[at]
        mine, whole = sources.get((row.model, row.origin), {}), not how[at] & (PARTIAL | PRINTED)
        rivals = values[(origins == row.origin) & ~np.isnan(values)]
        better = rivals > values[at] if head.higher else rivals < values[at]
        low, high = _interval(values[at], table.stderr[at, places], head, about) if whole else (None, None)
        held = [place for place in places if not np.isnan(table.values[at, place])]
        marks = (
            int(table.marks[at, places[0]])
            if related.task
            else TRAINED * int((table.marks[at, places] & TRAINED).any())
        )
        found.append(
            (
                row.model,
                Record(
                    title=related.title,
                    metric=head.metric_title,
                    value=float(values[at]) * head.scale,
                    low=low,
                    high=high,
                    chance=None if head.chance is None else head.chance * head.scale,
                    percent=head.scale == 100,
                    digits=head.digits,
                    rank=int(better.sum()) + 1,
                    of=len(rivals),
                    origin=row.origin,
                    source=_printed_in(table, row.model, related.category)
                    if how[at] & PRINTED
                    else named([mine[column.task] for column in members if column.task in mine], origin=row.origin),
                    note="" if related.task else _made(int(how[at]), len(held), len(places)),
                    marks=marks,
                    synthetic=is_synthetic(table.suite["benchmark"]),
                    address=f"task?task={quote(related.task, safe='/:~')}"
                    if related.task
                    else f"board?suite={related.suite}&select={quote(row.id, safe='/:~')}",
                ),
            )
        )
    return found


def _columns(table: SuiteTable, related: RelatedEvidence) -> list[SuiteColumn]:
    """The task columns behind it; empty in a database that has no such figures."""
    if related.category:
        return [column for column in table.columns if column.ranked and column.group == related.category]
    return [one for one in table.columns if one.task == related.task and related.metric in ("", one.metric)][:1]


def _values(
    suite_cache: SuiteCache, table: SuiteTable, related: RelatedEvidence, members: list[SuiteColumn]
) -> tuple[SuiteColumn, np.ndarray, np.ndarray]:
    """The column that says how to show it, its values [rows] in stored units as on the board, and marks of each."""
    if related.task:
        values = table.values[:, table.columns.index(members[0])]
        return members[0], values, np.zeros(len(values), int)
    place, ranked = table.categories.index(related.category), suite_cache.ranked(related.suite)
    return table.category_columns[place], ranked.category_means[:, place], ranked.marks[:, place]


def _interval(
    value: float, stderr: np.ndarray, head: SuiteColumn, limits: pd.Series
) -> tuple[float | None, float | None]:
    """The 95% interval in shown units, None where a task's error is not known; of a mean, its tasks are independent."""
    error, n = float(np.sqrt((stderr**2).sum())) / len(stderr), head.n if head.kind == "task" else None
    low, high = interval(value=value, stderr=error, n=n, limits=limits)
    return (None, None) if low is None or high is None else (low * head.scale, high * head.scale)


def _made(how: int, held: int, members: int) -> str:
    if how & PRINTED:
        return "the mean that the paper prints"
    return f"mean of {held} of {members} tasks" if how & PARTIAL else f"mean of {members} tasks" if members > 1 else ""


def _printed_in(table: SuiteTable, model: str, category: str) -> str:
    rows = table.averages[(table.averages["model"] == model) & (table.averages["category"] == category)]
    return named(list(rows["source"]), origin="published")


def named(sources: Sequence[str], *, origin: str, most: int = MOST_SOURCES) -> str:
    """Sources as text, each once, `most` of them by name; folders of runs are counted."""
    names = sorted(set(sources), key=lambda name: (len(name), name))  # Table 9 before Table 10
    if origin == "computed" and len(names) > 1:
        return f"{len(names)} computed runs"
    rest = len(names) - most
    return "; ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
