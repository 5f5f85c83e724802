"""Published scores that answer the same kind of question as a live comparison; `related_figures.toml` lists which."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.types import ORIGINS
from leaderboard.data import suite_queries
from leaderboard.data.memo import HasDatabase, shared
from leaderboard.data.scores import interval
from leaderboard.html.formatting import NOTHING, blank, number, span, task_url
from leaderboard.html.labels import is_synthetic

if TYPE_CHECKING:
    from leaderboard.data.database import Database

MOST = 3  # scores of one model
MOST_SOURCES = 2  # that are named; the others are counted
NONE = "No published score for this kind of question"


@dataclass(frozen=True, kw_only=True)
class RelatedColumn:
    """A column of a suite: the mean of one of its categories, or one task, with `metric` where that is not its first.

    The tasks of a category share direction and unit.
    """

    title: str
    suite: str
    category: str = ""
    task: str = ""
    metric: str = ""


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
COLUMNS = {name: RelatedColumn(**facts) for name, facts in _FILE["columns"].items()}
QUESTIONS = {key: tuple(COLUMNS[name] for name in names) for key, names in _FILE["questions"].items()}


@dataclass(frozen=True, kw_only=True)
class RelatedFigure:
    """One figure of one model. Numbers are in the unit the papers print, None where nothing is known.

    `rank` counts among the `of` models with a figure of the same origin.
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
    trained_on: bool  # the model saw a data set of it
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
    site: HasDatabase, *, models: Sequence[str], mode: str, kinds: Sequence[str], question: str = ""
) -> dict[str, list[RelatedFigure]]:
    """Up to three scores a model: published before imported before computed, then in the file's order.

    `kinds` are the inputs' modalities in their order, of a choice the reference first. Models without a figure have an
    empty list: `missing_sentence` is shown for them.
    """
    figures = _by_model(site, kind_of_question(mode=mode, kinds=kinds, question=question))
    return {model: list(figures.get(model, ())[:MOST]) for model in models}


def missing_sentence(figures: Sequence[RelatedFigure]) -> str:
    """The sentence for a model without scores, or with none that others published; else empty."""
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
def _by_model(site: HasDatabase, key: str) -> dict[str, tuple[RelatedFigure, ...]]:
    """Every model's scores for a key of QUESTIONS, the first to be shown first; of a column one origin a model."""
    metrics = suite_queries.metrics(site.db)
    figures = [pair for column in QUESTIONS.get(key, ()) for pair in _of_column(site.db, column, metrics)]
    first: dict[str, dict[str, RelatedFigure]] = {}  # by model and title
    for model, figure in sorted(figures, key=lambda pair: ORIGINS.index(pair[1].origin)):
        first.setdefault(model, {}).setdefault(figure.title, figure)
    return {model: tuple(by_title.values()) for model, by_title in first.items()}


def _of_column(db: Database, column: RelatedColumn, metrics: pd.DataFrame) -> Iterator[tuple[str, RelatedFigure]]:
    """The model and score of every row with a value in one column; none in a database without such scores.

    The values are those of the board: the mean of the tasks that a row has, or the printed one where it lacks some.
    """
    tasks, long = suite_queries.suite_tasks(db, suite=column.suite), suite_queries.task_values(db, suite=column.suite)
    own = tasks["key"] == column.task if column.task else tasks["ranked"] & (tasks["category"] == column.category)
    tasks = tasks[own]
    if tasks.empty or long.empty:
        return
    names = [column.metric or listed[0] for listed in tasks["metrics"]]
    facts, members = metrics.loc[names], pd.MultiIndex.from_arrays([tasks["key"], names])
    wide = {  # [rows, members]
        name: long.pivot(index=["model", "origin"], columns=["task", "metric"], values=name).reindex(columns=members)
        for name in ("value", "stderr", "n", "low", "high", "source")
    }
    values, rows = wide["value"].to_numpy(float), wide["value"].index
    has = ~np.isnan(values)
    printed = suite_queries.averages(db, suite=column.suite)
    printed = printed[printed["category"] == column.category].set_index("model")
    stands_in = (
        rows.get_level_values("model").isin(printed.index)
        & (rows.get_level_values("origin") == "published")
        & ~has.all(axis=1)
    )
    figures = wide["value"].mean(axis=1)
    figures[stands_in] = [printed.loc[model, "value"] for model, _ in rows[stands_in]]
    first, task = facts.iloc[0], tasks.iloc[0]
    same_origin = figures.groupby(level="origin")
    ranks, counts = (
        same_origin.rank(ascending=not first["higher_is_better"], method="min"),
        same_origin.transform("count"),
    )
    # The tasks of a mean are independent. A mean of some tasks, or one that the paper prints, has no error.
    shares = np.where(facts["proportion"], wide["n"].to_numpy(float), np.nan)
    errors = sampling_errors(values=values, stderr=wide["stderr"].to_numpy(float), share_of=shares)
    stderr = np.where(has.all(axis=1), np.sqrt((errors**2).sum(axis=1)) / len(tasks), np.nan)
    counted = tasks["ranked"].all() and not column.metric  # else the chance is that of another metric
    chance = tasks["chance"].mean(skipna=False) * first["scale"] if counted else np.nan
    kinds = sorted(set(facts["title"]))
    trained = set(suite_queries.trained_on(db, suite=column.suite).itertuples(index=False, name=None))
    for at in np.flatnonzero(figures.notna()):
        (model, origin), with_score = rows[at], tasks["key"][has[at]]
        value = figures.iloc[at]
        ends = interval(
            value=value,
            stderr=stderr[at],
            n=task["n_items"] if column.task else None,
            limits=first,
            own=(wide["low"].iloc[at, 0], wide["high"].iloc[at, 0]) if column.task else (None, None),
        )
        low, high = (None if end is None else end * first["scale"] for end in ends)
        if stands_in[at]:
            sources, note = list(printed.loc[[model], "source"]), "the mean that the paper prints"
        else:
            sources = list(wide["source"].iloc[at].dropna())
            some = f"{len(with_score)} of " if len(with_score) < len(tasks) else ""
            note = f"mean of {some}{len(tasks)} tasks" if column.category and len(tasks) > 1 else ""
        select = quote(f"{model}~{origin}", safe="/:~")
        yield (
            model,
            RelatedFigure(
                title=column.title,
                metric=" and ".join(kinds) if len(kinds) < 3 else f"{len(kinds)} metrics",
                value=float(value) * first["scale"],
                low=low,
                high=high,
                chance=None if blank(chance) else float(chance),
                percent=first["scale"] == 100,
                digits=int(first["digits"]),
                rank=int(ranks.iloc[at]),
                of=int(counts.iloc[at]),
                origin=origin,
                source=listed_sources(sources, origin=origin),
                note=note,
                trained_on=any((model, each) in trained for each in with_score),
                synthetic=is_synthetic(task["benchmark"]),
                address=task_url(column.task) if column.task else f"board?suite={column.suite}&select={select}",
            ),
        )
