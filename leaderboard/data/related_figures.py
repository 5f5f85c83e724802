"""Published figures that answer the same kind of question as a live comparison; `related_figures.toml` lists which."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pandas as pd

from compute.types import ORIGINS
from leaderboard.data import suite_queries, task_queries
from leaderboard.data.board_table import PARTIAL, PRINTED, TRAINED, BoardTable
from leaderboard.data.memo import shared
from leaderboard.data.scores import interval
from leaderboard.html.formatting import NOTHING, number, span, task_url
from leaderboard.html.labels import is_synthetic

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache

MOST = 3  # figures of one model
MOST_SOURCES = 2  # that are named; the others are counted
NONE = "No published figure for this kind of question"


@dataclass(frozen=True, kw_only=True)
class RelatedColumn:
    """A column of a suite: the mean of one of its categories, or one task, with `metric` where it has several."""

    title: str
    suite: str
    category: str = ""
    task: str = ""
    metric: str = ""

    def members(self, table: BoardTable) -> list[int]:
        """The indices of its task columns; none in a database without such figures."""
        if self.category:
            return [at for at, column in enumerate(table.columns) if column.ranked and column.group == self.category]
        own = (column.task == self.task and self.metric in ("", column.metric) for column in table.columns)
        return np.flatnonzero(list(own))[:1].tolist()


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
COLUMNS = {name: RelatedColumn(**facts) for name, facts in _FILE["columns"].items()}
QUESTIONS = {key: tuple(COLUMNS[name] for name in names) for key, names in _FILE["questions"].items()}


@dataclass(frozen=True, kw_only=True)
class RelatedFigure:
    """One figure of one model. Numbers are in the unit the papers print, None where nothing is known.

    `rank` counts among the `of` models with a figure of the same origin; `marks` are the bits of a cell of the board.
    """

    title: str
    metric: str
    value: float
    low: float | None  # of the 95% interval
    high: float | None
    chance: float | None  # score of guessing
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
        return self._with_unit(number(self.value, digits=self.digits))

    @property
    def interval(self) -> str:
        """The 95% interval as `low to high` with its unit, empty where it is not known."""
        return self._with_unit(span(self.low, self.high, digits=self.digits))

    @property
    def shown_chance(self) -> str:
        """The score of guessing, with its unit; empty where it is not known."""
        return self._with_unit(number(self.chance, digits=self.digits))

    def _with_unit(self, text: str) -> str:
        return "" if text == NOTHING else f"{text}{'%' if self.percent else ''}"


def related_figures(
    suite_cache: SuiteCache, *, models: Sequence[str], mode: str, kinds: Sequence[str], question: str = ""
) -> dict[str, list[RelatedFigure]]:
    """Up to three figures a model: published before imported before computed, then in the file's order.

    `kinds` are the inputs' modalities in their order, of a choice the reference first. Models without a figure have an
    empty list: `missing_sentence` is shown for them.
    """
    figures = _by_model(suite_cache, kind_of_question(mode=mode, kinds=kinds, question=question))
    return {model: list(figures.get(model, ())[:MOST]) for model in models}


def missing_sentence(figures: Sequence[RelatedFigure]) -> str:
    """The sentence for a model without figures, or with none that others published; else empty."""
    return "" if any(figure.origin != "computed" for figure in figures) else NONE


def kind_of_question(*, mode: str, kinds: Sequence[str], question: str = "") -> str:
    """The key in QUESTIONS, empty where inputs of these modalities make no such question."""
    if mode == "quality":
        return f"quality:{question or 'quality'}"
    if mode == "odd":
        return mode
    first, others = kinds[:1], sorted(set(kinds[1:]))
    sides = [*first, *others] if mode == "choice" else sorted([*first, *others])
    key = f"{mode}:{'-'.join(sides)}"
    return key if key in QUESTIONS else ""


def listed_sources(sources: Sequence[str], *, origin: str, most: int = MOST_SOURCES) -> str:
    """Sources as text, each once, `most` of them by name; folders of runs are counted."""
    names = sorted(set(sources), key=lambda name: (len(name), name))  # Table 9 before Table 10
    if origin == "computed" and len(names) > 1:
        return f"{len(names)} computed runs"
    rest = len(names) - most
    return "; ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


@shared
def _by_model(suite_cache: SuiteCache, key: str) -> dict[str, tuple[RelatedFigure, ...]]:
    """Every model's figures for a key of QUESTIONS, the first to be shown first; of a column one origin a model."""
    columns = QUESTIONS.get(key, ())
    tables = [suite_cache.table(column.suite) for column in columns]
    tasks = {
        table.columns[index].task
        for column, table in zip(columns, tables, strict=True)
        for index in column.members(table)
    }
    if not tasks:
        return {}
    sources = task_queries.sources(suite_cache.db, tasks=sorted(tasks)).set_index(["model", "origin", "task"])["source"]
    metrics = suite_queries.metrics(suite_cache.db)
    figures = [pair for column in columns for pair in _of_column(suite_cache, column, sources.to_dict(), metrics)]
    first: dict[str, dict[str, RelatedFigure]] = {}  # by model and title
    for model, figure in sorted(figures, key=lambda pair: ORIGINS.index(pair[1].origin)):
        first.setdefault(model, {}).setdefault(figure.title, figure)
    return {model: tuple(by_title.values()) for model, by_title in first.items()}


def _of_column(
    suite_cache: SuiteCache, column: RelatedColumn, sources: dict[tuple[str, str, str], str], metrics: pd.DataFrame
) -> Iterator[tuple[str, RelatedFigure]]:
    """The model and figure of every row with a value in one column."""
    table = suite_cache.table(column.suite)
    members = column.members(table)
    if not members:
        return
    if column.task:
        head, values, how = (
            table.columns[members[0]],
            table.scores.values[:, members[0]],
            np.zeros(len(table.rows), int),
        )
        marks = table.marks[:, members[0]]
    else:
        category, ranked = table.scores.categories.index(column.category), suite_cache.ranked(column.suite)
        head, values = table.category_columns[category], ranked.category_means[:, category]
        how = table.mean_marks(ranked)[:, category]
        marks = TRAINED * (table.marks[:, members] & TRAINED).any(axis=1)
    same_origin = pd.Series(values).groupby([row.origin for row in table.rows])
    ranks, counts = same_origin.rank(method="min", ascending=not head.higher), same_origin.transform("count")
    known = (~np.isnan(table.scores.values[:, members])).sum(axis=1)
    # The tasks of a mean are independent. A mean of some tasks, or one that the paper prints, has none.
    stderr = np.sqrt((table.scores.stderr[:, members] ** 2).sum(axis=1)) / len(members)
    stderr[(how & (PARTIAL | PRINTED)) > 0] = np.nan
    for at in np.flatnonzero(~np.isnan(values)):
        row = table.rows[at]
        n = head.n if head.kind == "task" else None
        own = table.own_interval(at, members[0]) if column.task else (None, None)
        ends = interval(value=values[at], stderr=stderr[at], n=n, limits=metrics.loc[head.metric], own=own)
        low, high = (None if end is None else end * head.scale for end in ends)
        if how[at] & PRINTED:
            means = table.averages
            names = list(means.loc[(means["model"] == row.model) & (means["category"] == column.category), "source"])
        else:
            keys = [(row.model, row.origin, table.columns[index].task) for index in members]
            names = [sources[key] for key in keys if key in sources]
        yield (
            row.model,
            RelatedFigure(
                title=column.title,
                metric=head.metric_title,
                value=float(values[at]) * head.scale,
                low=low,
                high=high,
                chance=None if head.chance is None else head.chance * head.scale,
                percent=head.scale == 100,
                digits=head.digits,
                rank=int(ranks[at]),
                of=int(counts[at]),
                origin=row.origin,
                source=listed_sources(names, origin=row.origin),
                note="" if column.task else _note(int(how[at]), int(known[at]), len(members)),
                marks=int(marks[at]),
                synthetic=is_synthetic(table.suite["benchmark"]),
                address=task_url(column.task)
                if column.task
                else f"board?suite={column.suite}&select={quote(row.id, safe='/:~')}",
            ),
        )


def _note(how: int, known: int, members: int) -> str:
    if how & PRINTED:
        return "the mean that the paper prints"
    return f"mean of {known} of {members} tasks" if how & PARTIAL else f"mean of {members} tasks" if members > 1 else ""
