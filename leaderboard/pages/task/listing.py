"""Every score on one task as a table for the browser."""

from __future__ import annotations

from typing import Any

from compute.types import UnknownKey
from leaderboard.data import scores, suite_queries
from leaderboard.data.database import Database


def task_scores(db: Database, *, task: str) -> dict[str, Any]:
    """Every score on one task, best first within the headline metric. Raises UnknownKey."""
    frame = db.query("task_scores", task=task)
    record = db.query("task", key=task)
    if record.empty:
        raise UnknownKey("task", task, db.query("listed_tasks")["key"])
    higher = suite_queries.metrics(db)["higher_is_better"]
    order = {metric: index for index, metric in enumerate(record["metrics"].iloc[0])}
    frame = frame.assign(
        turn=frame["metric"].map(lambda metric: order.get(metric, 99)),
        part=(~frame["subset"].isin(("default", "average"))).astype(int),
        down=frame["value"].where(~frame["metric"].map(higher).astype(bool), -frame["value"]),
    )
    frame = frame.sort_values(["turn", "main", "part", "subset", "down"], ascending=[True, False, True, True, True])
    about = {
        "by": "model",
        "trained": set(db.query("trained_models", task=task)["model"]),
        "suspect": scores.suspect(db.query("suspects", model="", task=task), "model"),
        "disputed": scores.disputed(frame, "model"),
    }
    rows = [
        [
            score["title"],
            score["kind"],
            score["metric_title"],
            scores.subset(score),
            *scores.value_cells(score),
            *scores.origin_cells(score, **about),
            score["model"],
        ]
        for score in frame.to_dict("records")
    ]
    columns = [
        {"key": "model", "title": "Model", "link": {"base": "model?model=", "at": 12}},
        scores.words("kind", "Kind"),
        scores.words("metric", "Metric"),
        scores.SUBSET,
        *scores.VALUE_COLUMNS,
        *scores.ORIGIN_COLUMNS,
    ]
    return scores.listing(columns, rows) | {"empty": "No model has a score on this task yet."}
