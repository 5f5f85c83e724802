"""Every task in one list: search, filters, how its models score, with a link to each task's own page; then what each
type of task asks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from markupsafe import Markup

from compute.rounding import rounded
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database, shared
from leaderboard.data.languages import NAMES, codes_of
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.components import html
from leaderboard.html.drawn_examples import EXAMPLES, DrawnExample, example_of, short_markup
from leaderboard.html.labels import TRAINED, hint, is_synthetic, plain_title
from leaderboard.html.templates import render
from leaderboard.page import Site, catalogue, fill

FACTS = ("key", "title", "benchmark", "category")
NO_SCORES = {"best": None, "leader": "", "trained": False, "median": None, "chance": None, "digits": 0, "ticks": []}
ORDER = ("image", "text", "audio", "video")


def tasks(suite_cache: SuiteCache) -> dict[str, Any]:
    """Returns every task of the catalogue, benchmark by benchmark in the catalogue's order."""
    db = suite_cache.db
    titles, every, rows = db.keyed("metrics")["title"], db.records("tasks"), []
    suites = {key: suite_cache.table(key) for key in db.query("suites")["key"]}
    of_task: dict[str, list[str]] = {}
    for key in suites:
        for task in db.query("suite_tasks", suite=key)["key"]:
            of_task.setdefault(task, []).append(key)
    for row in every:
        own, example = of_task.get(row["key"], []), example_of(row)
        table = next((suites[key] for key in own if len(suites[key].rows)), None)
        rows.append(
            {name: row[name] for name in FACTS}
            | {
                "type": "" if example is None else example["key"],
                "metric": titles[row["metrics"][0]] if row["metrics"] else "",
                "items": row["n_items"],
                "models": row["models"],
                **_scores(table, row["key"]),
                "takes": [name for name in ORDER if name in row["modalities"]],
                "languages": sorted(codes_of(row["languages"])),
                "license": license_of(row),
                "dataset": row["dataset_title"] or "",
                "suites": own,
            }
        )
    spoken, categories = (
        codes_of(code for row in every for code in row["languages"]),
        {row["category"] for row in every},
    )
    return {
        "fields": list(rows[0]),
        "rows": [list(row.values()) for row in rows],
        "benchmarks": {
            row["benchmark"]: {
                "title": plain_title(row["benchmark_title"], row["benchmark"]),
                "synthetic": is_synthetic(row["benchmark"]),
                "paper": row["paper_url"] or "",
            }
            for row in every
        },
        "types": {example["key"]: example["title"] for example, _ in types(db)},
        "suites": {key: plain_title(table.suite["title"], table.suite["benchmark"]) for key, table in suites.items()},
        "languages": {code: NAMES[code] for code in sorted(spoken) if code in NAMES},
        "hints": {category: words for category in sorted(categories) if (words := hint(category))},
    }


def types(db: Database) -> list[tuple[DrawnExample, int]]:
    """Returns the types of the tasks, each by its drawn example, in the examples' order, with the number of its
    tasks.
    """
    counts = Counter(example["key"] for row in db.records("tasks") if (example := example_of(row)))
    return [(example, counts[example["key"]]) for example in EXAMPLES if example["key"] in counts]


def license_of(row: dict[str, Any]) -> str:
    """Returns the licence of a task's data, empty if our sources state none."""
    licenses = (row["license"], row["dataset_license"])
    return next((name for name in licenses if name and name != "not specified"), "")


def _scores(table: BoardTable | None, task: str) -> dict[str, Any]:
    """best, leader, whether it was trained on the data, median and chance in shown units, digits, and the scores from 0
    to 100 between the axis' ends.

    The axis of a score with bounds is theirs; of any other it goes from the lowest to the highest score. Doubtful
    scores, and those of other origins than the displayed one, are excluded. Without a score all but `digits` are None
    or empty.
    """
    index = None if table is None else table.headline(task)
    if table is None or index is None:
        return NO_SCORES
    column = table.columns[index]
    _, rows = table.scored_rows(index)
    values = table.scores.values[rows, index]
    found = NO_SCORES | {"chance": column.shown(column.chance), "digits": column.digits}
    if not len(values):
        return found
    bounded = np.isfinite([column.lower, column.upper]).all()
    low, high = (column.lower, column.upper) if bounded else (float(values.min()), float(values.max()))
    levels = (values - low) / ((high - low) or 1)
    return found | {
        "best": column.shown(values[0]),
        "leader": table.rows[rows[0]].model,
        "trained": bool(table.marks[rows[0], index] & TRAINED),
        "median": column.shown(np.median(values)),
        "ticks": sorted({int(rounded(level, 0, scale=100)) for level in np.clip(levels, 0, 1)}),
    }


def summary(db: Database) -> dict[str, Any]:
    """Returns the counts in the page's first sentence: tasks with scores by benchmark, and facts that are not
    stated.
    """
    every = db.records("tasks")
    scored = [row for row in every if row["models"]]
    real = [row for row in scored if not is_synthetic(row["benchmark"])]
    titles = {row["benchmark"]: row["benchmark_title"] for row in real}
    counts = Counter(row["benchmark"] for row in real).most_common()
    return {
        "scored": len(scored),
        "real": len(real),
        "benchmarks": [{"key": key, "title": titles[key], "tasks": count} for key, count in counts],
        "synthetic": len(scored) - len(real),
        "synthetic_key": next((row["benchmark"] for row in scored if is_synthetic(row["benchmark"])), ""),
        "unscored": len(every) - len(scored),
        "categories": len({row["category"] for row in real}),
        "languages": len(codes_of(code for row in real for code in row["languages"])),
        "no_license": sum(not license_of(row) for row in scored),
        "no_chance": sum(row["chance"] is None for row in scored),
    }


@shared
def drawn_types(site: Site) -> Markup:
    """Returns what each type of task asks, by a drawn example."""
    drawn = [(example, short_markup(example), tasks) for example, tasks in types(site.db)]
    return render("pages/tasks/types.html", types=drawn)


def rest(site: Site) -> None:
    """What each type of task asks, filled once the page is opened."""
    drawn = html(render("pages/tasks/types.html", types=[]), elem_id="types")
    fill(site, section="What each type of task asks", outputs=[drawn], make=lambda: [drawn_types(site)])


TASKS = catalogue(
    key="tasks",
    sentence="Every task with its benchmark, category, metric and languages, and how the models score on it. Click a "
    "name for the task's own page.",
    rows=tasks,
    summary=summary,
    rest=rest,
)
