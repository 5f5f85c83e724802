"""The SELECTs on studies of metrics over generators with known faults: runs and figures, in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database

STUDIES = "runs.main AND runs.origin = 'computed' AND runs.settings->>'$.model.fault' IS NOT NULL"


def runs(db: Database) -> pd.DataFrame:
    """The runs of generators with known faults: id, model, title, task, settings (JSON)."""
    return db.ask(
        f"""SELECT runs.id, runs.model, models.title, runs.task, runs.settings
            FROM runs JOIN models ON models.key = runs.model WHERE {STUDIES} ORDER BY runs.model"""
    )


def scores(db: Database) -> pd.DataFrame:
    """Their figures by backbone: run, metric, subset, value, n."""
    return db.ask(
        f"""SELECT scores.run, scores.metric, scores.subset, scores.value, scores.n
            FROM scores JOIN runs ON runs.id = scores.run
            WHERE {STUDIES} AND scores.subset <> 'default' ORDER BY scores.run, scores.metric, scores.subset"""
    )
