"""What the page of a task is about: its metric and the best scores, as the board shows them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from compute.analysis.intervals import Z95
from leaderboard.data import suite_queries, task_queries
from leaderboard.data.leaders import scored_rows
from leaderboard.data.suite_table import SuiteTable
from leaderboard.html.formatting import number
from leaderboard.html.labels import is_synthetic
from leaderboard.page import Described, DescribedRow, Site

MOST = 6  # rows of the share picture


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The task that the query names, and its best scores; None for no task or an unknown one."""
    matching = task_queries.task(site.db, key=query.get("task", ""))
    if matching.empty:
        return None
    about = matching.iloc[0]
    sentence, rows, caption = f"{about['category']} task of {about['benchmark_title']}.", (), ""
    suites = suite_queries.suites_of_task(site.db, task=about["key"])
    if len(suites):
        table = site.suite_cache.table(suites.iloc[0]["key"])
        index = table.headline(about["key"])
        best = [] if index is None else scored_rows(table, column=index)[1]
        if best:
            column = table.columns[index]
            caption = f"{column.metric_title} and its 95% interval"
            rows = _rows(table, index, best[:MOST])
            leader = table.models.loc[table.rows[best[0]].model, "title"]
            sentence += (
                f" {len(best)} models have a score in {column.metric_title}; the best is {rows[0].text}, of {leader}."
            )
    made_up = " (synthetic)" if is_synthetic(about["benchmark"]) and "synthetic" not in about["title"].lower() else ""
    return Described(
        title=about["title"] + made_up,
        sentence=sentence,
        query=(("task", about["key"]),),
        rows=rows,
        caption=caption,
    )


def _rows(table: SuiteTable, index: int, best: list[int]) -> tuple[DescribedRow, ...]:
    column, values = table.columns[index], table.values[best, index]
    low, high = (ends[best, index] for ends in (table.low, table.high))
    error = Z95 * table.stderr[best, index]
    below, above = (np.clip(values + sign * error, column.lower, column.upper) for sign in (-1, 1))
    low, high = np.where(np.isnan(low), below, low), np.where(np.isnan(high), above, high)
    least, most = np.nanmin([values, low]), np.nanmax([values, high])

    def at(value: float) -> float | None:
        return None if np.isnan(value) else float((value - least) / ((most - least) or 1.0))

    return tuple(
        DescribedRow(
            label=str(table.models.loc[table.rows[row].model, "title"]),
            text=number(value, digits=column.digits, scale=column.scale),
            value=at(value),
            low=at(below),
            high=at(above),
        )
        for row, value, below, above in zip(best, values, low, high, strict=True)
    )
