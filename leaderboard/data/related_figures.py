"""Published scores for the same kind of question as a live comparison; `related_figures.toml` lists them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from compute.io.files import words_beside
from compute.types import origins_in
from leaderboard.data.database import shared
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import task_url
from leaderboard.html.labels import TRAINED

MOST = 3  # scores of one model

COLUMNS, QUESTIONS = words_beside(__file__).values()  # columns of suites by name; their names by the kind of question
# One score of one model: title, metric, value in shown units, unit, rank among the `of` models with a score of the same
# origin, origin, trained_on (the model saw a data set of it), and the address, relative to the app's root.
RelatedFigure = dict[str, Any]


def related_figures(
    suite_cache: SuiteCache, *, models: Sequence[str], mode: str, kinds: Sequence[str], question: str = ""
) -> dict[str, list[RelatedFigure]]:
    """Returns up to three scores per model: published before imported before computed, then in the file's order.

    `kinds` are the inputs' modalities in their order, of a choice the reference first. Models without a score have an
    empty list.
    """
    figures = _by_model(suite_cache, kind_of_question(mode=mode, kinds=kinds, question=question))
    return {model: figures.get(model, [])[:MOST] for model in models}


def kind_of_question(*, mode: str, kinds: Sequence[str], question: str) -> str:
    """Returns the key in QUESTIONS; empty if inputs of these modalities form no such question."""
    first, others = kinds[:1], sorted(set(kinds[1:]))
    sides = [*first, *others] if mode == "choice" else sorted([*first, *others])
    key = {"quality": f"quality:{question or 'quality'}", "odd": mode}.get(mode, f"{mode}:{'-'.join(sides)}")
    return key if key in QUESTIONS else ""


@shared
def _by_model(suite_cache: SuiteCache, key: str) -> dict[str, list[RelatedFigure]]:
    """Returns every model's scores for a key of QUESTIONS, in display order; each column has one origin per model."""
    figures = [pair for name in QUESTIONS.get(key, ()) for pair in _of_column(suite_cache, **COLUMNS[name])]
    first: dict[str, dict[str, RelatedFigure]] = {}  # by model and title
    order = origins_in(figure["origin"] for _, figure in figures)
    for model, figure in sorted(figures, key=lambda pair: order.index(pair[1]["origin"])):
        first.setdefault(model, {}).setdefault(figure["title"], figure)
    return {model: list(by_title.values()) for model, by_title in first.items()}


def _of_column(
    suite_cache: SuiteCache, *, title: str, suite: str, category: str = "", task: str = "", metric: str = ""
) -> Iterator[tuple[str, RelatedFigure]]:
    """Returns the model and score of every row of the board with a value in one column; empty if the database has no
    such scores.

    It is the whole mean of a category, or a task, by a metric if that is not its first.
    """
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    at = [
        index
        for index, one in enumerate(table.columns)
        if (one.ranked and one.group == category if category else one.task == task and metric in ("", one.metric))
    ]
    if ranked is None or not at:
        return
    column, values = table.columns[at[0]], table.scores.values[:, at[0]]
    if category:
        column = table.by_key[category]
        values = table.whole_means(ranked)[:, table.category_columns.index(column)]
    by_origin = pd.Series(values).groupby(np.array(table.scores.origins))
    ranks, counts = by_origin.rank(ascending=not column.higher, method="min"), by_origin.transform("count")
    for index in np.flatnonzero(~np.isnan(values)):
        row = table.rows[index]
        select = quote(row.id, safe="/:~")
        yield (
            row.model,
            {
                "title": title,
                "metric": column.metric_title,
                "value": column.rounded(values[index]),
                "unit": column.unit,
                "rank": int(ranks[index]),
                "of": int(counts[index]),
                "origin": row.origin,
                "trained_on": bool((table.marks[index, at] & TRAINED).any()),
                "address": task_url(task) if task else f"board?suite={suite}&select={select}",
            },
        )
