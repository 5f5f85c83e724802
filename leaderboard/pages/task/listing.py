"""Every score on one task as a table for the browser."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from compute.types import UnknownKey
from leaderboard.data.database import Database
from leaderboard.data.scores import ORIGINS, SUBSET, VALUES, ScoreColumn, listing

COLUMNS = (
    ScoreColumn("model", "Model", of=itemgetter("title"), link="model?model="),
    ScoreColumn("kind", "Kind"),
    ScoreColumn("metric", "Metric", of=itemgetter("metric_title")),
    SUBSET,
    *VALUES,
    *ORIGINS,
)


def task_scores(db: Database, *, task: str) -> dict[str, Any]:
    """Every score on one task, best first within the headline metric. Raises UnknownKey."""
    if db.query("task", key=task).empty:
        raise UnknownKey("task", task, db.query("listed_tasks")["key"])
    return listing(COLUMNS, db.records("task_scores", task=task), empty="No model has a score on this task yet.")
