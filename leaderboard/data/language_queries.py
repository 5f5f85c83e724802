"""The SELECTs on scores by language: long frames in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database

# A task reads a language where a text goes in, or is shown as an image (procedure sts).
_READS = "(list_contains(tasks.modalities, 'text') OR tasks.procedure = 'sts')"


def tasks(db: Database, *, benchmark: str) -> pd.DataFrame:
    """The tasks of a benchmark in which a language is read: key, title, category, dataset, subsets, languages, listed.

    `listed` says whether the benchmark's own suite has the task.
    """
    return db.ask(
        f"""SELECT key, title, category, dataset, subsets, languages,
                   key IN (SELECT task FROM suite_tasks WHERE suite = tasks.benchmark) AS listed
            FROM tasks WHERE benchmark = ? AND {_READS} ORDER BY position""",
        [benchmark],
    )


def scores(db: Database, *, benchmark: str) -> pd.DataFrame:
    """Every score that the board shows of those tasks, in their first metric, with the facts of its task and metric.

    One row a (model, origin, task, subset); `listed` says whether the benchmark's own suite has the task.
    """
    return db.ask(
        f"""SELECT runs.model, runs.origin, runs.source, tasks.key AS task, tasks.title, tasks.category, tasks.dataset,
                   tasks.position, tasks.subsets, tasks.languages,
                   tasks.key IN (SELECT task FROM suite_tasks WHERE suite = tasks.benchmark) AS listed,
                   scores.subset, scores.value, scores.stderr, scores.n, metrics.proportion,
                   metrics.title AS metric_title, metrics.scale,
                   metrics.digits, metrics.lower, metrics.upper, metrics.higher_is_better AS higher,
                   EXISTS (SELECT 1 FROM notes WHERE notes.specific AND notes.model = runs.model
                           AND notes.task = runs.task AND runs.origin = 'published'
                           AND coalesce(notes.metric, '') IN ('', scores.metric)) AS suspect
            FROM scores JOIN runs ON runs.id = scores.run JOIN tasks ON tasks.key = runs.task
            JOIN metrics ON metrics.key = scores.metric
            WHERE tasks.benchmark = ? AND runs.main AND scores.metric = tasks.metrics[1] AND {_READS}
            ORDER BY tasks.position, scores.subset, runs.origin, runs.model""",
        [benchmark],
    )


def unreadable(db: Database, *, benchmark: str) -> pd.DataFrame:
    """How many models have no figure of a subset though a source has one, and why: task, subset, reason, models."""
    return db.ask(
        """SELECT gaps.task, gaps.subset, gaps.reason, count(DISTINCT gaps.model) AS models
           FROM gaps JOIN tasks ON tasks.key = gaps.task
           WHERE tasks.benchmark = ? AND gaps.subset IS NOT NULL GROUP BY ALL ORDER BY ALL""",
        [benchmark],
    )
