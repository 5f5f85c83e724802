"""The SELECTs on sets of generators that were computed: suites, runs and scores, in stored units."""

from __future__ import annotations

import pandas as pd

from compute.tasks.generators.human import HUMAN_METRICS
from leaderboard.data.database import Database

STRENGTH = "strength"  # of a drawn generator's fault: a known order in place of people's ratings
COMPUTED = "runs.main AND runs.origin = 'computed' AND models.kind = 'generator'"


def sets(db: Database) -> pd.DataFrame:
    """Tasks with computed generators: suite, title (of the suite), benchmark, description, task, n_items, metrics,
    subsets, paired; in order.

    `paired`: image i of every generator was made from prompt i. Grids of backbones, a task a backbone, are not among
    them.
    """
    return db.ask(
        f"""SELECT suites.key AS suite, suites.title, suites.benchmark, suites.description, tasks.key AS task,
                   tasks.n_items, tasks.metrics, tasks.subsets,
                   list_contains(tasks.modalities, 'text') AS paired
            FROM suites JOIN suite_tasks ON suite_tasks.suite = suites.key JOIN tasks ON tasks.key = suite_tasks.task
            WHERE tasks.procedure <> 'cfred-grid'
              AND tasks.key IN (SELECT runs.task FROM runs JOIN models ON models.key = runs.model WHERE {COMPUTED})
            ORDER BY suites.position, tasks.position"""
    )


def runs(db: Database, *, task: str) -> pd.DataFrame:
    """The generators of a set, one run each: id, model, title, settings (JSON)."""
    return db.ask(
        f"""SELECT runs.id, runs.model, models.title, runs.settings
            FROM runs JOIN models ON models.key = runs.model WHERE {COMPUTED} AND runs.task = ? ORDER BY runs.model""",
        [task],
    )


def scores(db: Database, *, task: str) -> pd.DataFrame:
    """Every figure of a set: run, metric, subset (a backbone; `default` for all of the task), value, n."""
    return db.ask(
        f"""SELECT scores.run, scores.metric, scores.subset, scores.value, scores.n
            FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
            WHERE {COMPUTED} AND runs.task = ? ORDER BY scores.run, scores.metric, scores.subset""",
        [task],
    )


SUITES = f"""FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
             JOIN tasks ON tasks.key = runs.task
             JOIN suite_tasks ON suite_tasks.task = runs.task JOIN suites ON suites.key = suite_tasks.suite
             WHERE {COMPUTED}"""


def pairs(db: Database) -> pd.DataFrame:
    """cFreD of every generator under every pair of backbones: suite, title (of the suite), benchmark, model, subset,
    value."""
    return db.ask(
        f"""SELECT suites.key AS suite, suites.title, suites.benchmark, runs.model, scores.subset, scores.value {SUITES}
            AND scores.metric = 'cfred' AND contains(scores.subset, '|')
            ORDER BY suites.position, tasks.position, scores.subset, runs.model"""
    )


def ratings(db: Database) -> pd.DataFrame:
    """What people think of them, or the known order of drawn ones: suite, model, metric (human_rate, elo, human_rank or
    STRENGTH), value."""
    return db.ask(
        f"""SELECT suites.key AS suite, runs.model, scores.metric, any_value(scores.value) AS value {SUITES}
            AND list_contains(?, scores.metric) GROUP BY ALL
            UNION ALL
            SELECT DISTINCT suites.key, runs.model, ?, CAST(runs.settings->>'$.model.strength' AS DOUBLE) {SUITES}
            AND runs.settings->>'$.model.strength' IS NOT NULL
            ORDER BY 1, 2""",
        [list(HUMAN_METRICS), STRENGTH],
    )
