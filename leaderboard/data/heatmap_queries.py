"""The SELECTs on cFreD by pairs of backbones, over one's own generators that people rated; in stored units."""

from __future__ import annotations

import pandas as pd

from compute.tasks.generators.human import HUMAN_METRICS
from leaderboard.data.database import Database

ZERO_SHOT = "mieb/imagenet1kzeroshot"
OWN_RUNS = """runs.main AND runs.origin = 'computed' AND models.kind = 'generator'
              AND suites.benchmark IN ('own', 'own-synthetic')"""
FROM = """FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
          JOIN tasks ON tasks.key = runs.task
          JOIN suite_tasks ON suite_tasks.task = runs.task JOIN suites ON suites.key = suite_tasks.suite"""


def cells(db: Database) -> pd.DataFrame:
    """cFreD of every generator under every pair: suite, title (of the suite), benchmark, model, subset, value, n."""
    return db.ask(
        f"""SELECT suites.key AS suite, suites.title, suites.benchmark, runs.model, scores.subset, scores.value,
                   scores.n
            {FROM}
            WHERE {OWN_RUNS} AND scores.metric = 'cfred' AND contains(scores.subset, '|')
            ORDER BY suites.position, tasks.position, scores.subset, runs.model"""
    )


def ratings(db: Database) -> pd.DataFrame:
    """What people think of them: suite, model, metric (human_rate, elo or human_rank), value."""
    return db.ask(
        f"""SELECT suites.key AS suite, runs.model, scores.metric, any_value(scores.value) AS value
            {FROM}
            WHERE {OWN_RUNS} AND list_contains(?, scores.metric)
            GROUP BY ALL ORDER BY suites.key, runs.model""",
        [list(HUMAN_METRICS)],
    )


def zero_shot(db: Database) -> pd.DataFrame:
    """Published zero-shot accuracy on ImageNet: model, value (a share)."""
    return db.ask(
        """SELECT model, any_value(value) AS value FROM leaderboard_scores
           WHERE task = ? AND metric = 'accuracy' AND subset = 'default' AND origin = 'published' GROUP BY model""",
        [ZERO_SHOT],
    )
