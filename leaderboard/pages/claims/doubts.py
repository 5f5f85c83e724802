"""The doubtful scores of every suite, with a report for whoever keeps the results."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from compute.database.doubts import RIGHT
from compute.rounding import rounded
from compute.types import counted
from leaderboard.data.database import Database
from leaderboard.data.memo import shared
from leaderboard.data.task_doubts import task_doubts
from leaderboard.html.templates import render
from leaderboard.page import Site

NAMED = 3  # tasks of one finding that are named


@shared
def doubts(site: Site) -> Markup:
    """The section of doubtful scores and tasks."""
    rows = findings(site.db)
    suites = [(key, title) for key, (title, _) in site.suite_cache.suites().items()]
    tasks = {}
    for suite, _ in suites:
        table = site.suite_cache.table(suite)
        titles = {column.task: column.title for column in table.columns}
        for task, doubt in task_doubts(site.db, table).items():
            if doubt.severe and task not in tasks:
                tasks[task] = {"task": task, "title": titles[task], "words": doubt.words, "suite": suite}
    return render(
        "pages/claims/doubts.html",
        rows=[row for row in rows if row["decision"] != RIGHT],
        right=[row for row in rows if row["decision"] == RIGHT],
        tasks=list(tasks.values()),
        suites=dict(suites),
        reports=reports([row for row in rows if row["decision"] != RIGHT]),
    )


def findings(db: Database) -> list[dict[str, Any]]:
    """The rows of the table of doubts, those of one model and reason as one, the newest import first. Values are texts
    in shown units."""
    out: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in db.records("doubtful"):
        found = out.setdefault((row["origin"], row["model"], row["kind"], row["reason"]), {**row, "tasks": []})
        found["tasks"].append(row["task_title"])
        for name in ("value", "expected", "low", "high"):
            found[name] = (
                "" if row[name] is None else rounded(row[name], row["digits"], scale=row["scale"]) + row["unit"]
            )
    return list(out.values())


def reports(rows: list[dict[str, Any]]) -> dict[str, str]:
    """A report on each origin's doubtful scores, facts only, as its keepers' issue tracker can take it."""
    out: dict[str, list[str]] = {}
    for row in rows:
        lines = out.setdefault(row["origin"], ["Scores that other scores contradict", ""])
        tasks, more = ", ".join(row["tasks"][:NAMED]), len(row["tasks"]) - NAMED
        tasks += f" and {counted(more, 'more task')}" if more > 0 else ""
        value = f": {row['value']}" if len(row["tasks"]) == 1 else ""
        expected = f"; expected from its other scores {row['expected']} ({row['low']} to {row['high']})"
        where = f" [{row['source']}]"
        lines.append(f"- {row['title']}, {tasks}{value}: {row['reason']}{expected if row['expected'] else ''}{where}")
    return {origin: "\n".join(lines) for origin, lines in out.items()}
