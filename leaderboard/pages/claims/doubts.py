"""The doubtful scores of every suite, with a report for maintainers of the results."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from compute.analysis.audit import ONE_CLASS
from compute.database.doubts import RIGHT
from compute.rounding import rounded
from leaderboard.data.database import Database, shared
from leaderboard.data.task_doubts import task_doubts
from leaderboard.html.templates import render
from leaderboard.page import Site

ASKED = """Scores that other scores contradict: could you look at these runs again?
Expected values are from each model's other scores by a ridge on the other models, with 95% intervals; equal scores may
be of one file under two names."""


@shared
def doubts(site: Site) -> Markup:
    """Returns the section of doubtful scores and tasks."""
    found = findings(site.db)
    rows = [row for row in found if row["decision"] != RIGHT]
    suites = {key: title for key, (title, _) in site.suite_cache.suites().items()}
    tasks: dict[str, dict[str, str]] = {}
    for suite in suites:
        table = site.suite_cache.table(suite)
        titles = {column.task: column.title for column in table.columns}
        for task, doubt in task_doubts(site.db, table).items():
            if doubt.severe and task not in tasks:
                tasks[task] = {"task": task, "title": titles[task], "words": doubt.words, "suite": suite}
    return render(
        "pages/claims/doubts.html",
        rows=rows,
        right=[row for row in found if row["decision"] == RIGHT],
        tasks=list(tasks.values()),
        suites=suites,
        reports=reports(rows),
    )


def findings(db: Database) -> list[dict[str, Any]]:
    """Returns the doubtful scores of a model of one kind as one row, the newest import first: `why`, and `scores`,
    which has the text of each origin by the task's key and title.
    """
    out: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in db.records("doubtful"):
        why, _, beside = row["reason"].partition("; ") if row["kind"] == ONE_CLASS else (row["reason"], "", "")
        found = out.setdefault((row["model"], row["kind"], why, row["decision"]), {**row, "why": why, "scores": {}})
        value, *expected = (
            "" if row[name] is None else rounded(row[name], row["digits"], scale=row["scale"]) + row["unit"]
            for name in ("value", "expected", "low", "high")
        )
        said = [value, "{} expected ({} to {})".format(*expected) if expected[0] else "", beside]
        about = found["scores"].setdefault((row["task"], row["task_title"]), {})
        about[row["origin"]] = f"{'; '.join(filter(None, said))} [{row['source']}]"
    return list(out.values())


def reports(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Returns a factual report on each origin's doubtful scores, for its maintainers' issue tracker."""
    out: dict[str, list[str]] = {}
    for row in rows:
        for origin in dict.fromkeys(origin for about in row["scores"].values() for origin in about):
            lines = out.setdefault(origin, [ASKED])
            lines.append(f"\n{row['title']} ({row['model']}): {row['why']}")
            lines += [f"- {title}: {about[origin]}" for (_, title), about in row["scores"].items() if origin in about]
    return {origin: "\n".join(lines) for origin, lines in out.items()}
