"""The SELECTs of the pages of one model, one task, and the generators; as queries.py, in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database


def model_scores(db: Database, *, model: str) -> pd.DataFrame:
    """Every score of one model, with its task and metric: one row a score."""
    return db.ask(
        """
        SELECT tasks.benchmark, tasks.category, tasks.key AS task, tasks.title, tasks.dataset, tasks.chance,
               tasks.metrics[1] AS headline, scores.subset, scores.metric, metrics.title AS metric_title, metrics.scale,
               metrics.digits, metrics.lower, metrics.upper, metrics.proportion, scores.value, scores.printed,
               scores.n, scores.stderr, runs.origin, runs.source, runs.main
        FROM scores JOIN runs ON runs.id = scores.run JOIN tasks ON tasks.key = runs.task
        JOIN metrics ON metrics.key = scores.metric
        WHERE runs.model = ? ORDER BY tasks.position, runs.main DESC, runs.origin, scores.metric, scores.subset""",
        [model],
    )


def task_scores(db: Database, *, task: str) -> pd.DataFrame:
    """Every score on one task, with its model: one row a score."""
    return db.ask(
        """
        SELECT models.key AS model, models.title, models.kind, models.parameters_m, models.trained_on,
               (SELECT benchmark FROM tasks WHERE key = runs.task) AS benchmark,
               scores.subset, scores.metric, metrics.title AS metric_title, metrics.scale, metrics.digits,
               metrics.lower, metrics.upper, metrics.proportion, scores.value, scores.printed, scores.n,
               scores.stderr, runs.origin,
               runs.source, runs.main
        FROM scores JOIN runs ON runs.id = scores.run JOIN models ON models.key = runs.model
        JOIN metrics ON metrics.key = scores.metric
        WHERE runs.task = ? ORDER BY runs.main DESC, runs.origin, models.title, scores.metric, scores.subset""",
        [task],
    )


def listed_models(db: Database) -> pd.DataFrame:
    """Models that have a run, for a list to choose from: key, title, kind."""
    return db.ask("""SELECT key, title, kind FROM models WHERE key IN (SELECT model FROM runs)
                     ORDER BY lower(title), key""")


def listed_tasks(db: Database) -> pd.DataFrame:
    """Tasks that have a run, for a list to choose from: key, title, benchmark's title, category."""
    return db.ask("""SELECT tasks.key, tasks.title, benchmarks.title AS benchmark, tasks.category
                     FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
                     WHERE tasks.key IN (SELECT task FROM runs) ORDER BY tasks.benchmark, tasks.position""")


def task(db: Database, *, key: str) -> pd.DataFrame:
    """One task with its benchmark's and data set's facts, as a frame of at most one row."""
    return db.ask(
        """
        SELECT tasks.*, benchmarks.title AS benchmark_title, benchmarks.bibtex, benchmarks.url AS paper_url,
               datasets.title AS dataset_title, datasets.url AS dataset_url, datasets.license AS dataset_license,
               datasets.citation AS dataset_citation, datasets.notes AS dataset_notes
        FROM tasks JOIN benchmarks ON benchmarks.key = tasks.benchmark
        LEFT JOIN datasets ON datasets.key = tasks.dataset WHERE tasks.key = ?""",
        [key],
    )


def suites_of_task(db: Database, *, task: str) -> pd.DataFrame:
    """The suites a task belongs to, in order."""
    return db.ask(
        """SELECT suites.* FROM suites JOIN suite_tasks ON suite_tasks.suite = suites.key
                     WHERE suite_tasks.task = ? ORDER BY position""",
        [task],
    )


def aliases(db: Database, *, model: str) -> pd.DataFrame:
    """How the papers spell a model: benchmark_title, printed, certainty, note."""
    return db.ask(
        """SELECT benchmarks.title AS benchmark_title, printed, certainty, note
                     FROM aliases JOIN benchmarks ON benchmarks.key = aliases.benchmark
                     WHERE model = ? ORDER BY benchmarks.key, printed""",
        [model],
    )


def model_notes(db: Database, *, model: str) -> pd.DataFrame:
    """Remarks on one model, once each: note, specific (on single figures), tasks (titles; none: on the model)."""
    return db.ask(
        """
        SELECT notes.note, bool_or(notes.specific) AS specific,
               coalesce(list(DISTINCT tasks.title ORDER BY tasks.title) FILTER (tasks.title IS NOT NULL), []) AS tasks
        FROM notes LEFT JOIN tasks ON tasks.key = notes.task
        WHERE notes.model = ? AND (notes.task = '*' OR EXISTS (
            SELECT 1 FROM runs WHERE runs.model = ? AND runs.task = notes.task))
        GROUP BY notes.note ORDER BY specific DESC, notes.note""",
        [model, model],
    )


def task_notes(db: Database, *, task: str) -> pd.DataFrame:
    """Remarks on one task and on single models' figures there: note, model, metric, specific, title (of the model)."""
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
    """Single figures with a remark, of one model or on one task: model, task, metric (empty: all of the task's)."""
    return db.ask(
        """SELECT DISTINCT model, task, coalesce(metric, '') AS metric FROM notes
                     WHERE specific AND (model = ? OR task = ?)""",
        [model, task],
    )


def datasets(db: Database) -> pd.DataFrame:
    """Every data set, indexed by key."""
    return db.ask("SELECT * FROM datasets").set_index("key", drop=False)


def benchmarks(db: Database) -> pd.DataFrame:
    """The four benchmarks with how many models, tasks and scores each has."""
    return db.ask("""
        SELECT benchmarks.*, count(DISTINCT runs.model) AS models, count(DISTINCT tasks.key) AS tasks,
               count(scores.value) AS scores
        FROM benchmarks LEFT JOIN tasks ON tasks.benchmark = benchmarks.key LEFT JOIN runs ON runs.task = tasks.key
        LEFT JOIN scores ON scores.run = runs.id GROUP BY ALL ORDER BY benchmarks.key""")


def printed_agreement(db: Database, *, task: str) -> pd.DataFrame:
    """The summary rows as printed, one a metric that judges generators: model, metric, printed, value."""
    return db.ask(
        """SELECT runs.model, scores.metric, scores.printed, scores.value FROM scores
                     JOIN runs ON runs.id = scores.run WHERE runs.task = ? AND runs.main
                       AND scores.metric IN ('rho_squared', 'rank_accuracy')""",
        [task],
    )


def verdicts(db: Database) -> pd.DataFrame:
    """How many claims of each paper have which verdict: paper, verdict, claims."""
    return db.ask("SELECT paper, verdict, count(*) AS claims FROM claims GROUP BY ALL ORDER BY ALL")


def suites_of_sources(db: Database) -> pd.DataFrame:
    """The first suite that shows a source's figures: source, suite."""
    return db.ask("""SELECT runs.source, arg_min(suites.key, suites.position) AS suite
                     FROM runs JOIN suite_tasks ON suite_tasks.task = runs.task
                     JOIN suites ON suites.key = suite_tasks.suite
                     WHERE runs.origin = 'published' GROUP BY runs.source""")


def benchmarks_of(db: Database, *, model: str) -> pd.DataFrame:
    """The benchmarks in which a model has a run: title, bibtex."""
    return db.ask(
        """SELECT DISTINCT benchmarks.key, benchmarks.title, benchmarks.bibtex
                     FROM runs JOIN tasks ON tasks.key = runs.task JOIN benchmarks ON benchmarks.key = tasks.benchmark
                     WHERE runs.model = ? ORDER BY benchmarks.key""",
        [model],
    )


def trained_on_task(db: Database, *, task: str) -> pd.DataFrame:
    """The models that saw a task's data set in training: model."""
    return db.ask("SELECT model FROM trained_tasks WHERE task = ?", [task])


def trained_model(db: Database, *, model: str) -> pd.DataFrame:
    """The tasks whose data sets a model saw in training: task."""
    return db.ask("SELECT task FROM trained_tasks WHERE model = ?", [model])


def projection(db: Database, *, kind: str) -> pd.DataFrame:
    """One shipped map: key, x, y, cluster, settings; empty when there is none of that kind."""
    return db.ask("SELECT key, x, y, cluster, settings FROM projections WHERE kind = ? ORDER BY key", [kind])


def lite_claims(db: Database) -> pd.DataFrame:
    """What MIEB says of how well its lite suite keeps the order: claim, printed."""
    return db.ask("""SELECT DISTINCT claim, printed FROM claims WHERE paper = 'MIEB' AND "where" = 'Section 6.3'
                     AND claim LIKE '%correlation of the means%' ORDER BY claim DESC""")


def highest_printed(db: Database, *, suite: str) -> pd.DataFrame:
    """The model whose printed category means of a suite are most and highest, as a frame of at most one row: model."""
    return db.ask(
        """SELECT model FROM averages WHERE suite = ? GROUP BY model
                     ORDER BY count(*) DESC, avg(value) DESC, model LIMIT 1""",
        [suite],
    )
