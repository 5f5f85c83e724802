"""Every SELECT. Each takes a connection and returns a long frame; values are in stored units."""

from __future__ import annotations

import pandas as pd

from compute.database.store import TASK_VALUES
from compute.types import BadInput
from leaderboard.data.database import Database


def task_values(db: Database, *, suite: str) -> pd.DataFrame:
    """One row a (model, origin, task, metric) of the suite, with value, stderr, n, printed, source."""
    return db.ask(TASK_VALUES, [suite])


def suites(db: Database) -> pd.DataFrame:
    """Every suite in its order, with its benchmark's title, citation and number of tasks."""
    return db.ask("""
        SELECT suites.*, benchmarks.title AS benchmark_title, benchmarks.bibtex, benchmarks.paper, benchmarks.url,
               (SELECT count(*) FROM suite_tasks WHERE suite = suites.key) AS tasks
        FROM suites JOIN benchmarks ON benchmarks.key = suites.benchmark ORDER BY position""")


def suite_tasks(db: Database, *, suite: str) -> pd.DataFrame:
    """The tasks of a suite in catalogue order."""
    return db.ask(
        """SELECT tasks.* FROM tasks JOIN suite_tasks ON suite_tasks.task = tasks.key
                     WHERE suite_tasks.suite = ? ORDER BY position""",
        [suite],
    )


def metrics(db: Database) -> pd.DataFrame:
    """Every metric, indexed by key."""
    return db.ask("SELECT * FROM metrics").set_index("key", drop=False)


def models(db: Database) -> pd.DataFrame:
    """Every model with the number of its runs, indexed by key."""
    return db.ask("""SELECT models.*, (SELECT count(*) FROM runs WHERE model = models.key) AS runs
                     FROM models ORDER BY key""").set_index("key", drop=False)


def model(db: Database, *, key: str) -> pd.DataFrame:
    """One model as a frame of at most one row."""
    return db.ask("SELECT * FROM models WHERE key = ?", [key])


def gaps(db: Database, *, suite: str) -> pd.DataFrame:
    """Which figures of the suite a source leaves blank, and why: model, task, reason."""
    return db.ask(
        """SELECT DISTINCT model, task, reason FROM gaps
                     WHERE task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def averages(db: Database, *, suite: str) -> pd.DataFrame:
    """Category means as the papers print them: category, model, value, tasks, source, printed."""
    return db.ask("SELECT category, model, value, tasks, source, printed FROM averages WHERE suite = ?", [suite])


def trained_on(db: Database, *, suite: str) -> pd.DataFrame:
    """Pairs (model, task) of the suite where the model saw the task's data set, or one that it is part of."""
    return db.ask(
        """SELECT model, task FROM trained_tasks
                     WHERE task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def notes(db: Database, *, suite: str) -> pd.DataFrame:
    """Which single figures of the suite are remarked upon: model, task, metric (empty: every metric)."""
    return db.ask(
        """SELECT DISTINCT model, task, metric FROM notes
                     WHERE specific AND task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def disagreements(db: Database, *, suite: str) -> pd.DataFrame:
    """Pairs (model, task) for which another table of the same paper prints another number."""
    return db.ask(
        """SELECT DISTINCT model, task FROM runs
           WHERE NOT main AND origin = 'published' AND task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def cell(db: Database, *, model: str, task: str) -> pd.DataFrame:
    """Every score of one model on one task, whatever its source, the shown one first."""
    return db.ask(
        """
        SELECT scores.subset, scores.metric, scores.value, scores.stderr, scores.n, scores.printed, runs.origin,
               runs.source, runs.main, runs.settings, runs.seconds, runs.error, runs.id AS run,
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


def claims(db: Database) -> pd.DataFrame:
    """Every claim, conflicts first within a paper's order."""
    return db.ask("""SELECT * FROM claims ORDER BY paper, "where", claim""")


def everything(db: Database) -> pd.DataFrame:
    """The whole contract view: one row a score."""
    return db.ask("SELECT * FROM leaderboard_scores ORDER BY benchmark, task, model, origin, subset, metric")


def missing_column(suite: str, key: str) -> BadInput:
    """The error for a column that a suite does not have."""
    return BadInput(f"{suite} has no column {key!r}. Reload the page: its columns may have changed")


def counts(db: Database) -> pd.DataFrame:
    """One row: models with scores, tasks, scores, claims, and conflicts among them."""
    return db.ask("""SELECT (SELECT count(DISTINCT model) FROM runs) AS models, (SELECT count(*) FROM tasks) AS tasks,
                            (SELECT count(*) FROM scores) AS scores, (SELECT count(*) FROM claims) AS claims,
                            (SELECT count(*) FROM claims WHERE verdict = 'conflict') AS conflicts""")


def benchmarks(db: Database) -> pd.DataFrame:
    """The four benchmarks."""
    return db.ask("SELECT * FROM benchmarks")


def benchmark(db: Database, *, key: str) -> pd.DataFrame:
    """One benchmark as a frame of at most one row."""
    return db.ask("SELECT * FROM benchmarks WHERE key = ?", [key])


def origins(db: Database) -> pd.DataFrame:
    """How many scores each origin gave: origin, scores."""
    return db.ask("""SELECT origin, count(*) AS scores FROM scores JOIN runs ON runs.id = scores.run
                     GROUP BY origin ORDER BY scores DESC""")


def newest(db: Database, *, most: int) -> pd.DataFrame:
    """The models with scores that were released last, where the date is known."""
    return db.ask(
        """SELECT * FROM models WHERE released <> '' AND key IN (SELECT model FROM runs)
                     ORDER BY released DESC, key LIMIT ?""",
        [most],
    )
