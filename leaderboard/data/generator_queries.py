"""The SELECTs on sets of generators that were computed: suites, runs, figures and values by prompt, in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database

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


def prompts(db: Database, *, run: str) -> pd.DataFrame:
    """The items of a generator's run: item, expected, value, detail (JSON or None)."""
    return db.ask("SELECT item, expected, value, detail FROM items WHERE run = ? ORDER BY item", [run])
