"""Every model in one list: search, filters, ranks and category means, with a link to each model's own page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from compute.rounding import rounded
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database
from leaderboard.data.models.model_facts import HUB, PERMISSIVE, hub_id, own_facts
from leaderboard.data.payload import cells, plain, standing
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.labels import MODEL_KINDS, is_synthetic, plain_title
from leaderboard.page import catalogue

FACTS = ("key", "title", "organisation", "kind", "family")
ORDER = ("image", "text", "audio", "video")


def models(suite_cache: SuiteCache) -> dict[str, Any]:
    """Returns every model, those with real scores first, then by title; and each suite's data about its models."""
    db = suite_cache.db
    spellings = db.query("spellings").groupby("model")["printed"].agg(list).to_dict()
    scored, rows = scored_by_benchmark(db), []
    for row in db.records("models"):
        tasks = scored.get(row["key"], {})
        rows.append(
            {name: row[name] for name in FACTS}
            | {
                "parameters": row["parameters_m"],
                "license": row["license"],
                "released": row["released"],
                "takes": [name for name in ORDER if name in row["modalities"]],
                "weights": hub_id(row["weights"]),
                "live": bool(row["adapter"]) and own_facts(row["options"]) is None,
                "synthetic": only_synthetic(tasks),
                "tasks": tasks,
                "aliases": spellings.get(row["key"], []),
            }
        )
    rows.sort(key=lambda row: (row["synthetic"] if row["tasks"] else 2, row["title"].lower()))
    return {
        "fields": list(rows[0]),
        "rows": [list(row.values()) for row in rows],
        "suites": [standings(suite_cache, suite) for suite in db.query("suites")["key"]],
        "kinds": MODEL_KINDS,
        "permissive": sorted(PERMISSIVE),
        "hub": HUB,
    }


def only_synthetic(tasks: Mapping[str, int]) -> bool:
    """Returns whether a model has scores, by benchmark, and none on real items."""
    return bool(tasks) and all(map(is_synthetic, tasks))


def standings(suite_cache: SuiteCache, suite: str) -> dict[str, Any]:
    """Returns a suite's categories and, by model, [rank, low, high, of, origin, values, levels] of its most complete
    row.

    values: category means in shown units; levels: the same from 0 (lowest of the models that the rank is among) to 100
    (highest). None if a rank, an interval or a mean does not exist.
    """
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    ranks = plain(standing(table, ranked)[["rank", "rank_low", "rank_high"]]).to_numpy()
    means = cells(table, ranked)[0][:, : len(table.category_columns)]
    levels = np.full_like(means, np.nan) if ranked is None else _levels(table, means, table.whole_means(ranked))
    rows = {}
    for index in table.fullest_rows():
        row = table.rows[index]
        rivals = table.rows_of(row.origin)
        rows[row.model] = [
            *ranks[index],
            sum(ranks[rival, 0] is not None for rival in rivals),
            row.origin,
            [column.shown(value) for value, column in zip(means[index], table.category_columns, strict=True)],
            [None if np.isnan(level) else int(rounded(level, 0, scale=100)) for level in levels[index]],
        ]
    about = table.suite
    return {
        "key": suite,
        "title": plain_title(about["title"], about["benchmark"]),
        "benchmark": about["benchmark"],
        "synthetic": is_synthetic(about["benchmark"]),
        "people": ranked is None,
        "categories": [column.title for column in table.category_columns],
        "digits": [column.digits for column in table.category_columns],
        "models": rows,
    }


def _levels(table: BoardTable, means: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Scales category means [rows, categories] to 0..1, from the worst to the best of one origin; of the `whole` ones,
    if there are any.
    """
    levels = np.full_like(means, np.nan)
    higher = np.array([column.higher for column in table.category_columns], bool)
    for origin in set(table.scores.origins):
        rows = table.rows_of(origin)
        own, ends = means[rows], whole[rows]
        ends = np.where(np.isnan(ends).all(axis=0), own, ends)
        low, high = np.fmin.reduce(ends), np.fmax.reduce(ends)
        with np.errstate(invalid="ignore", divide="ignore"):
            level = np.clip((own - low) / (high - low), 0, 1)
        levels[rows] = np.where(high > low, np.where(higher, level, 1 - level), own * 0 + 1)
    return levels


def summary(db: Database) -> dict[str, Any]:
    """Returns the counts in the page's first sentence: models with real scores by kind, and missing facts."""
    rows, tasks = db.records("models"), scored_by_benchmark(db)
    scored = [row for row in rows if row["key"] in tasks and not only_synthetic(tasks[row["key"]])]
    return {
        "scored": len(scored),
        "kinds": dict(Counter(row["kind"] for row in scored).most_common()),
        "synthetic": len(tasks) - len(scored),
        "unscored": len(rows) - len(tasks),
        "no_license": sum(not row["license"] for row in scored),
        "no_size": sum(row["parameters_m"] is None for row in scored),
        "no_date": sum(not row["released"] for row in scored),
    }


def scored_by_benchmark(db: Database) -> dict[str, dict[str, int]]:
    """Returns the number of tasks with a score, by model and benchmark."""
    tasks: dict[str, dict[str, int]] = {}
    for row in db.query("scored_tasks").itertuples():
        tasks.setdefault(row.model, {})[row.benchmark] = int(row.tasks)
    return tasks


MODELS = catalogue(
    key="models",
    sentence="Every model with what it takes, its size and licence, and its rank and category means in a suite. Click "
    "a name for the model's own page.",
    rows=models,
    summary=summary,
)
