"""The SELECTs on tasks and on single cells of the board: long frames in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database


def task(db: Database, *, key: str) -> pd.DataFrame:
    """One task with its benchmark's and data set's facts, as a frame of at most one row; a data set that no catalogue
    lists, a user task, has its key as title."""
    return db.ask(
        """
        SELECT tasks.*, benchmarks.title AS benchmark_title, benchmarks.bibtex, benchmarks.url AS paper_url,
               coalesce(datasets.title, tasks.dataset) AS dataset_title, datasets.url AS dataset_url,
               datasets.license AS dataset_license, datasets.citation AS dataset_citation,
               datasets.notes AS dataset_notes
        FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
        LEFT JOIN datasets ON datasets.key = tasks.dataset WHERE tasks.key = ?""",
        [key],
    )


def listed_tasks(db: Database) -> pd.DataFrame:
    """Every task, for a list to choose from: key, title, benchmark's title, category, scored (whether it has a run)."""
    return db.ask("""SELECT tasks.key, tasks.title, benchmarks.title AS benchmark, tasks.category,
                            tasks.key IN (SELECT task FROM runs) AS scored
                     FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
                     ORDER BY tasks.benchmark, tasks.position""")


def tasks(db: Database) -> pd.DataFrame:
    """Every task with its benchmark's title, its data set's title and licence, and how many models have a score."""
    return db.ask("""
        SELECT tasks.*, benchmarks.title AS benchmark_title, benchmarks.url AS paper_url,
               coalesce(datasets.title, tasks.dataset) AS dataset_title, datasets.license AS dataset_license,
               (SELECT count(DISTINCT runs.model) FROM runs JOIN scores ON scores.run = runs.id
                WHERE runs.task = tasks.key) AS models
        FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
        LEFT JOIN datasets ON datasets.key = tasks.dataset ORDER BY tasks.benchmark, tasks.position""")


def task_scores(db: Database, *, task: str) -> pd.DataFrame:
    """Every score on one task, with its model: one row a score."""
    return db.ask(
        """
        SELECT models.key AS model, models.title, models.kind, models.parameters_m, models.trained_on,
               (SELECT benchmark FROM tasks WHERE key = runs.task) AS benchmark,
               scores.subset, scores.metric, metrics.title AS metric_title, metrics.scale, metrics.digits,
               metrics.lower, metrics.upper, metrics.proportion, scores.value, scores.printed, scores.n,
               scores.stderr, scores.coverage, scores.lower_bound, scores.low, scores.high, scores.bias, runs.origin,
               runs.source,
               runs.main
        FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
        JOIN metrics ON metrics.key = scores.metric
        WHERE runs.task = ? ORDER BY runs.main DESC, runs.origin, models.title, scores.metric, scores.subset""",
        [task],
    )


def task_notes(db: Database, *, task: str) -> pd.DataFrame:
    """Remarks on one task and on single models' scores there: note, model, metric, specific, title (of the model)."""
    return db.ask(
        """
        SELECT DISTINCT notes.note, notes.model, notes.metric, notes.specific, coalesce(models.title, '') AS title
        FROM notes LEFT JOIN models ON models.key = notes.model
        WHERE notes.task = ? AND (notes.model = '*' OR EXISTS (
            SELECT 1 FROM runs WHERE runs.model = notes.model AND runs.task = notes.task))
        ORDER BY title, notes.note""",
        [task],
    )


def suspects(db: Database, *, model: str = "", task: str = "") -> pd.DataFrame:
    """Single scores with a remark, of one model or on one task: model, task, metric (empty: all of the task's)."""
    return db.ask(
        """SELECT DISTINCT model, task, coalesce(metric, '') AS metric FROM notes
                     WHERE specific AND (model = ? OR task = ?)""",
        [model, task],
    )


def trained_models(db: Database, *, task: str) -> pd.DataFrame:
    """The models that saw a task's data set in training: model."""
    return db.ask("SELECT model FROM trained_tasks WHERE task = ?", [task])


def printed_agreement(db: Database, *, task: str) -> pd.DataFrame:
    """The summary rows as printed, one a metric that judges generators: model, metric, printed, value."""
    return db.ask(
        """SELECT runs.model, scores.metric, scores.printed, scores.value FROM scores
                     JOIN runs ON runs.id = scores.run WHERE runs.task = ? AND runs.main
                       AND scores.metric IN ('rho_squared', 'rank_accuracy')""",
        [task],
    )


def sources(db: Database, *, tasks: list[str]) -> pd.DataFrame:
    """Where the shown scores of some tasks come from: model, origin, task, source."""
    return db.ask(
        """SELECT DISTINCT model, origin, task, source FROM runs
           WHERE main AND task IN (SELECT unnest(?)) ORDER BY model, origin, task, source""",
        [tasks],
    )


def cell(db: Database, *, model: str, task: str) -> pd.DataFrame:
    """Every score of one model on one task, from all sources, the shown one first."""
    return db.ask(
        """
        SELECT scores.subset, scores.metric, scores.value, scores.stderr, scores.n, scores.printed, scores.coverage,
               scores.lower_bound, scores.low, scores.high, scores.bias, runs.origin, runs.source,
               runs.main, runs.seconds,
               runs.error, runs.id AS run, coalesce(runs.settings->>'$.file', '') AS file,
               coalesce(runs.settings->>'$.commit', '') AS commit,
               EXISTS (SELECT 1 FROM items WHERE items.run = runs.id) AS items
        FROM scores JOIN runs ON runs.id = scores.run
        WHERE runs.model = ? AND runs.task = ?
        ORDER BY runs.main DESC, runs.origin, scores.metric, scores.subset""",
        [model, task],
    )


def cell_notes(db: Database, *, model: str, task: str, metric: str) -> list[str]:
    """Remarks that concern one figure: those on it alone first, then those on the model's table, then the task's."""
    frame = db.ask(
        """SELECT note FROM notes WHERE model IN ('*', ?) AND task = ? AND metric IN ('', ?) GROUP BY note
                      ORDER BY bool_or(specific) DESC, bool_and(model = '*'), note""",
        [model, task, metric],
    )
    return list(frame["note"])
