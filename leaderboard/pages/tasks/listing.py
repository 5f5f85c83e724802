"""Every task as a row for the browser: facts, and where its models' scores lie."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from compute.rounding import rounded
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database
from leaderboard.data.languages import NAMES, codes_of
from leaderboard.data.leaders import scored_rows
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.drawn_examples import EXAMPLES, DrawnExample, example_of
from leaderboard.html.formatting import blank
from leaderboard.html.labels import TRAINED, hint, is_synthetic, plain_title

FIELDS = (
    "key",
    "title",
    "benchmark",
    "category",
    "type",
    "metric",
    "items",
    "models",
    "best",
    "leader",
    "trained",
    "median",
    "chance",
    "digits",
    "ticks",
    "takes",
    "languages",
    "license",
    "dataset",
    "suites",
)
ORDER = ("image", "text", "audio", "video")


def tasks(suite_cache: SuiteCache) -> dict[str, Any]:
    """Every task of the catalogue, benchmark by benchmark in the catalogue's order."""
    db = suite_cache.db
    metrics = db.keyed("metrics")
    frame = db.query("tasks")
    suites = {key: suite_cache.table(key) for key in db.query("suites")["key"]}
    of_task: dict[str, list[str]] = {}
    for key in suites:
        for task in db.query("suite_tasks", suite=key)["key"]:
            of_task.setdefault(task, []).append(key)
    rows = []
    for row in frame.to_dict("records"):
        headline = metrics.loc[row["metrics"][0]] if len(row["metrics"]) else None
        table = next((suites[key] for key in of_task.get(row["key"], ()) if len(suites[key].rows)), None)
        rows.append(
            [
                row["key"],
                row["title"],
                row["benchmark"],
                row["category"],
                "" if (example := _example(row)) is None else example.key,
                "" if headline is None else headline["title"],
                None if blank(row["n_items"]) else int(row["n_items"]),
                int(row["models"]),
                *_scores(table, row["key"]),
                [name for name in ORDER if name in list(row["modalities"])],
                sorted(codes_of(row["languages"])),
                license_of(row),
                row["dataset_title"] or "",
                of_task.get(row["key"], []),
            ]
        )
    return {
        "fields": list(FIELDS),
        "rows": rows,
        "benchmarks": {
            row.benchmark: {
                "title": plain_title(row.benchmark_title, row.benchmark),
                "synthetic": is_synthetic(row.benchmark),
                "paper": row.paper_url or "",
            }
            for row in frame.drop_duplicates("benchmark").itertuples()
        },
        "types": {example.key: example.title for example, _ in types(db)},
        "suites": {key: plain_title(table.suite["title"], table.suite["benchmark"]) for key, table in suites.items()},
        "languages": {
            code: NAMES[code]
            for code in sorted(codes_of(code for each in frame["languages"] for code in each))
            if code in NAMES
        },
        "hints": {category: hint(category) for category in sorted(set(frame["category"])) if hint(category)},
    }


def types(db: Database) -> list[tuple[DrawnExample, int]]:
    """The types of the tasks, each by its drawn example, in the examples' order, and how many tasks are of it."""
    counts = Counter(example for row in db.query("tasks").to_dict("records") if (example := _example(row)))
    return [(example, counts[example]) for example in EXAMPLES if example in counts]


def _example(row: dict[str, Any]) -> DrawnExample | None:
    return example_of(procedure=row["procedure"], category=row["category"], modalities=row["modalities"])


def license_of(row: dict[str, Any]) -> str:
    """The licence of a task's data, empty where our sources state none."""
    licenses = (name for name in (row["license"], row["dataset_license"]) if not blank(name))
    return next((str(name) for name in licenses if name != "not specified"), "")


def _scores(table: BoardTable | None, task: str) -> list[Any]:
    """best, leader, whether it was trained on the data, median and chance in shown units, digits, and the scores from 0
    to 100 between the axis' ends.

    The axis of a score with bounds is theirs; of any other it goes from the lowest to the highest score. Doubtful
    scores, and those of other origins than the displayed one, are excluded. Without a score all but `digits` are None
    or empty.
    """
    index = None if table is None else table.headline(task)
    if table is None or index is None:
        return [None, "", False, None, None, 0, []]
    column = table.columns[index]
    _, rows = scored_rows(table, column=index)
    values = table.scores.values[rows, index]
    chance = column.shown(column.chance)
    if not len(values):
        return [None, "", False, None, chance, column.digits, []]
    bounded = np.isfinite([column.lower, column.upper]).all()
    low, high = (column.lower, column.upper) if bounded else (float(values.min()), float(values.max()))
    levels = (values - low) / ((high - low) or 1)
    return [
        column.shown(values[0]),
        table.rows[rows[0]].model,
        bool(table.marks[rows[0], index] & TRAINED),
        column.shown(np.median(values)),
        chance,
        column.digits,
        sorted({int(rounded(level, 0, scale=100)) for level in np.clip(levels, 0, 1)}),
    ]


def summary(db: Database) -> dict[str, Any]:
    """What the page's first sentence counts: tasks with scores by benchmark, and which facts are not stated."""
    frame = db.query("tasks")
    scored = frame[frame["models"] > 0]
    real = scored[~scored["benchmark"].map(is_synthetic)]
    benchmarks = [
        {"key": key, "title": rows["benchmark_title"].iloc[0], "tasks": len(rows)}
        for key, rows in real.groupby("benchmark", sort=False)
    ]
    facts = scored.to_dict("records")
    return {
        "scored": len(scored),
        "real": len(real),
        "benchmarks": sorted(benchmarks, key=lambda one: -one["tasks"]),
        "synthetic": len(scored) - len(real),
        "synthetic_key": next((key for key in scored["benchmark"] if is_synthetic(key)), ""),
        "unscored": len(frame) - len(scored),
        "categories": int(real["category"].nunique()),
        "languages": len({code for row in real.to_dict("records") for code in codes_of(row["languages"])}),
        "no_license": sum(not license_of(row) for row in facts),
        "no_chance": int(scored["chance"].isna().sum()),
    }
