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
    frame = db.query("task_scores", task=task)
    record = db.query("task", key=task)
    if record.empty:
        raise UnknownKey("task", task, db.query("listed_tasks")["key"])
    higher = db.keyed("metrics")["higher_is_better"]
    order = {metric: index for index, metric in enumerate(record["metrics"].iloc[0])}
    frame = frame.assign(
        turn=frame["metric"].map(lambda metric: order.get(metric, 99)),
        part=(~frame["subset"].isin(("default", "average"))).astype(int),
        down=frame["value"].where(~frame["metric"].map(higher).astype(bool), -frame["value"]),
    )
    frame = frame.sort_values(["turn", "main", "part", "subset", "down"], ascending=[True, False, True, True, True])
    return listing(COLUMNS, frame.to_dict("records"), empty="No model has a score on this task yet.")
