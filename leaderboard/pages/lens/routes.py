"""What the browser fetches of the study: the table of every metric on every backbone and fault."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from compute.analysis.generators.sensitivity import BLIND, MIXED, REWARDS, SEES, Sensitivity
from compute.engine.generators.backbones import JOIN
from compute.tasks.mini.generators import FAULTS
from leaderboard.data import suite_queries
from leaderboard.data.database import Database
from leaderboard.data.payload import compressed
from leaderboard.page import Site
from leaderboard.pages.lens import study as studies

WORDS = {SEES: "sees", REWARDS: "rewards", BLIND: "no difference", MIXED: "unclear"}


def routes(site: Site) -> list[Route]:
    """The table."""
    return [Route("/data/lens", site.guard(compressed(site.db, lambda: verdicts(site.db))))]


def verdicts(db: Database) -> dict[str, Any]:
    """Rows of metric and backbone, a column a fault; what is seen is followed by the strength from which on."""
    study, titles = studies.load(db), suite_queries.metrics(db)["title"]
    columns: list[dict[str, Any]] = [
        {"key": "metric", "title": "Metric", "link": {"base": "lens?metric=", "at": 2 + len(study.faults)}},
        {"key": "backbone", "title": "Features of"},
        *({"key": fault, "title": FAULTS[fault].title, "hint": FAULTS[fault].what} for fault in study.faults),
    ]
    rows = [
        [
            titles[metric],
            subset.replace(JOIN, " and "),
            *(_cell(study.sensitivities.get((metric, subset, fault))) for fault in study.faults),
            metric,
        ]
        for metric, subsets in study.subsets.items()
        for subset in subsets
    ]
    return {"columns": columns, "rows": rows, "caption": f"{len(rows)} metrics and backbones; synthetic generators"}


def _cell(reading: Sensitivity | None) -> str:
    if reading is None:
        return ""
    return WORDS[reading.verdict] + (f" from {reading.seen_from:g}" if reading.seen_from is not None else "")
