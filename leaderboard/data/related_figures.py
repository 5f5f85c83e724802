"""Published scores that answer the same kind of question as a live comparison; `related_figures.toml` lists which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
import pandas as pd

from compute.analysis.intervals import Z95
from compute.database.store import TASK_VALUES
from compute.io.files import words_beside
from compute.types import ORIGINS
from leaderboard.data.board_table import SuiteColumn
from leaderboard.data.memo import shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import blank, task_url
from leaderboard.html.labels import TRAINED

MOST = 3  # scores of one model
MOST_SOURCES = 2  # that are named; the others are counted


COLUMNS, QUESTIONS = words_beside(__file__).values()  # columns of suites by name; their names by the kind of question


@dataclass(frozen=True, kw_only=True)
class RelatedFigure:
    """One score of one model, in stored units; NaN where nothing is known.

    `rank` counts among the `of` models with a score of the same origin; a mean of some of the tasks has none.
    """

    title: str
    column: SuiteColumn
    value: float
    low: float  # of the 95% interval
    high: float
    rank: int | None
    of: int
    origin: str
    source: str
    note: str  # how a mean was made, where not of all its tasks
    trained_on: bool  # the model saw a data set of it
    address: str  # relative to the app's root

    def text(self, *values: float | None) -> str:
        """A value with its unit, or `low to high`; empty where it is not known."""
        if any(map(blank, values)):
            return ""
        return f"{' to '.join(map(self.column.number, values))}{self.column.unit}"


def related_figures(
    suite_cache: SuiteCache, *, models: Sequence[str], mode: str, kinds: Sequence[str], question: str = ""
) -> dict[str, list[RelatedFigure]]:
    """Up to three scores a model: published before imported before computed, then in the file's order.

    `kinds` are the inputs' modalities in their order, of a choice the reference first. Models without a score have an
    empty list.
    """
    figures = _by_model(suite_cache, kind_of_question(mode=mode, kinds=kinds, question=question))
    return {model: list(figures.get(model, ())[:MOST]) for model in models}


def kind_of_question(*, mode: str, kinds: Sequence[str], question: str = "") -> str:
    """The key in QUESTIONS, empty where inputs of these modalities make no such question."""
    first, others = kinds[:1], sorted(set(kinds[1:]))
    sides = [*first, *others] if mode == "choice" else sorted([*first, *others])
    key = {"quality": f"quality:{question or 'quality'}", "odd": mode}.get(mode, f"{mode}:{'-'.join(sides)}")
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
    """Every model's scores for a key of QUESTIONS, the first to be shown first; of a column one origin a model."""
    figures = [pair for name in QUESTIONS.get(key, ()) for pair in _of_column(suite_cache, **COLUMNS[name])]
    first: dict[str, dict[str, RelatedFigure]] = {}  # by model and title
    for model, figure in sorted(figures, key=lambda pair: ORIGINS.index(pair[1].origin)):
        first.setdefault(model, {}).setdefault(figure.title, figure)
    return {model: tuple(by_title.values()) for model, by_title in first.items()}


def _of_column(
    suite_cache: SuiteCache, *, title: str, suite: str, category: str = "", task: str = "", metric: str = ""
) -> Iterator[tuple[str, RelatedFigure]]:
    """The model and score of every row of the board with a value in one column; none in a database without such scores.

    It is the mean of a category, whose tasks share direction and unit, or a task, by a metric if that is not its first.
    """
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    at = [
        index
        for index, one in enumerate(table.columns)
        if (one.ranked and one.group == category if category else one.task == task and metric in ("", one.metric))
    ]
    if ranked is None or not at:
        return
    column = table.by_key[category] if category else table.columns[at[0]]
    cells, lows, highs = (each[:, at] for each in (table.scores.values, table.low, table.high))  # [rows, tasks]
    values, low, high, is_printed = cells[:, 0], lows[:, 0], highs[:, 0], np.zeros(len(cells), bool)
    whole = values
    if category:
        code = table.scores.categories.index(category)
        values, is_printed = ranked.category_means[:, code], ranked.stands_in[:, code]
        whole = table.whole_means(ranked)[:, code]
        # Its tasks are independent; a mean of some of them, or a printed one, has no error
        half = Z95 * np.linalg.norm(table.scores.stderr[:, at], axis=1) / len(at)
        low, high = np.maximum(values - half, column.lower), np.minimum(values + half, column.upper)
    by_origin = pd.Series(whole).groupby(np.array(table.scores.origins))
    ranks, counts = by_origin.rank(ascending=not column.higher, method="min"), by_origin.transform("count")
    long = suite_cache.db.ask(TASK_VALUES, [suite])
    of_tasks = long[long["task"].isin([table.columns[index].task for index in at])]
    sources = of_tasks.groupby(["model", "origin"])["source"].agg(list)
    printed = table.averages[table.averages["category"] == category].set_index("model")["source"]
    for row in np.flatnonzero(~np.isnan(values)):
        model, origin, _ = table.rows[row]
        known = int((~np.isnan(cells[row])).sum())
        note = ""
        if is_printed[row]:
            note = "the mean that the paper prints"
        elif len(at) > 1:
            note = f"mean of {f'{known} of ' if known < len(at) else ''}{len(at)} tasks"
        select = quote(table.rows[row].id, safe="/:~")
        yield (
            model,
            RelatedFigure(
                title=title,
                column=column,
                value=float(values[row]),
                low=float(low[row]),
                high=float(high[row]),
                rank=None if np.isnan(whole[row]) else int(ranks[row]),
                of=int(counts[row]),
                origin=origin,
                source=listed_sources([printed[model]] if is_printed[row] else sources[model, origin], origin=origin),
                note=note,
                trained_on=bool((table.marks[row, at] & TRAINED).any()),
                address=task_url(task) if task else f"board?suite={suite}&select={select}",
            ),
        )
