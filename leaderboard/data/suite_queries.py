"""The SELECTs on suites, benchmarks, metrics, data sets and claims: long frames in stored units."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from compute.database.store import TASK_VALUES
from leaderboard.data.database import Database, OpenDatabase


def suites(db: Database) -> pd.DataFrame:
    """Every suite in its order, with its benchmark's title, citation and number of tasks: those that count in a mean,
    or that people rank by."""
    return db.ask("""
        SELECT suites.*, benchmarks.title AS benchmark_title, benchmarks.bibtex, benchmarks.paper, benchmarks.url,
               (SELECT count(*) FROM suite_tasks JOIN tasks ON tasks.key = suite_tasks.task
                WHERE suite = suites.key AND (ranked OR aggregate = 'human')) AS tasks
        FROM suites JOIN benchmarks ON benchmarks.key = suites.benchmark ORDER BY position""")


def suite_tasks(db: Database, *, suite: str) -> pd.DataFrame:
    """The tasks of a suite in catalogue order."""
    return db.ask(
        """SELECT tasks.* FROM tasks JOIN suite_tasks ON suite_tasks.task = tasks.key
                     WHERE suite_tasks.suite = ? ORDER BY position""",
        [suite],
    )


def suites_of_task(db: Database, *, task: str) -> pd.DataFrame:
    """The suites a task belongs to, in order."""
    return db.ask(
        """SELECT suites.* FROM suites JOIN suite_tasks ON suite_tasks.suite = suites.key
                     WHERE suite_tasks.task = ? ORDER BY position""",
        [task],
    )


def suites_of_sources(db: Database) -> pd.DataFrame:
    """The first suite that shows a source's scores: source, suite."""
    return db.ask("""SELECT runs.source, arg_min(suites.key, suites.position) AS suite
                     FROM runs JOIN suite_tasks ON suite_tasks.task = runs.task
                     JOIN suites ON suites.key = suite_tasks.suite
                     WHERE runs.origin = 'published' GROUP BY runs.source""")


def task_values(db: Database, *, suite: str) -> pd.DataFrame:
    """One row a (model, origin, task, metric) of the suite, with value, stderr, bias, low, high, n, printed,
    source."""
    return db.ask(TASK_VALUES, [suite])


def part_values(db: Database, *, parts: pd.DataFrame) -> pd.DataFrame:
    """One row a (model, origin, task, metric) as in `task_values`: means over all parts of a task.

    parts: rows of task, subset, and source, the task whose runs have it; of a task's sources its own comes first.
    """
    return db.ask(
        """WITH parts AS (SELECT unnest(?::VARCHAR[]) AS task, unnest(?::VARCHAR[]) AS source,
                                 unnest(?::VARCHAR[]) AS subset),
                wanted AS (SELECT *, count(*) OVER (PARTITION BY task, source) AS parts FROM parts)
           SELECT runs.model, runs.origin, wanted.task, scores.metric, avg(scores.value) AS value,
                  CASE WHEN count(*) = count(scores.stderr) THEN avg(scores.stderr) END AS stderr,
                  CASE WHEN count(*) = count(scores.bias) THEN avg(scores.bias) END AS bias,
                  CASE WHEN count(*) = 1 THEN any_value(scores.n) END AS n,
                  CASE WHEN count(*) = 1 THEN any_value(scores.printed) END AS printed,
                  CASE WHEN count(*) = 1 THEN any_value(scores.low) END AS low,
                  CASE WHEN count(*) = 1 THEN any_value(scores.high) END AS high, any_value(runs.source) AS source
           FROM wanted JOIN runs ON runs.task = wanted.source
           JOIN scores ON scores.run = runs.id AND scores.subset = wanted.subset
           WHERE runs.main
           GROUP BY runs.model, runs.origin, wanted.task, wanted.source, scores.metric
           HAVING count(*) = any_value(wanted.parts)
           QUALIFY row_number() OVER (PARTITION BY runs.model, runs.origin, wanted.task, scores.metric
                                      ORDER BY wanted.source <> wanted.task) = 1
           ORDER BY ALL""",
        [list(parts[name]) for name in ("task", "source", "subset")],
    )


def scored_subsets(db: Database, *, suite: str) -> pd.DataFrame:
    """Subsets with scores of the tasks of a suite that read a language: task, subsets, languages, source, subset.

    A task reads one where a text goes in, or is shown as an image (procedure sts). `source` has the scores: the task
    itself, or one of other suites with the same sentences.
    """
    return db.ask(
        """SELECT DISTINCT listed.key AS task, listed.subsets, listed.languages, runs.task AS source, scores.subset
           FROM suite_tasks JOIN tasks AS listed ON listed.key = suite_tasks.task
           JOIN tasks AS other ON other.key = listed.key
               OR (other.procedure = 'sts' AND listed.procedure = 'sts' AND other.dataset = listed.dataset
                   AND other.key NOT IN (SELECT task FROM suite_tasks AS own WHERE own.suite = suite_tasks.suite))
           JOIN runs ON runs.task = other.key AND runs.main
           JOIN scores ON scores.run = runs.id AND scores.metric = listed.metrics[1]
           WHERE suite_tasks.suite = ? AND (list_contains(listed.modalities, 'text') OR listed.procedure = 'sts')
           ORDER BY ALL""",
        [suite],
    )


def subset_metrics(db: Database, *, suite: str) -> pd.DataFrame:
    """Which scores a suite has: task, metric, subset."""
    return db.ask(
        """SELECT DISTINCT runs.task, scores.metric, scores.subset FROM scores JOIN runs ON runs.id = scores.run
           WHERE runs.task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def gaps(db: Database, *, suite: str) -> pd.DataFrame:
    """Which scores of the suite a source leaves blank, and why: model, task, reason."""
    return db.ask(
        """SELECT DISTINCT model, task, reason FROM gaps
                     WHERE task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def averages(db: Database, *, suite: str) -> pd.DataFrame:
    """Category means as the papers print them: category, model, value, tasks, source, printed."""
    return db.ask("SELECT category, model, value, tasks, source, printed FROM averages WHERE suite = ?", [suite])


def highest_printed(db: Database, *, suite: str) -> pd.DataFrame:
    """The model whose printed category means of a suite are most and highest, as a frame of at most one row: model."""
    return db.ask(
        """SELECT model FROM averages WHERE suite = ? GROUP BY model
                     ORDER BY count(*) DESC, avg(value) DESC, model LIMIT 1""",
        [suite],
    )


def trained_on(db: Database, *, suite: str) -> pd.DataFrame:
    """Pairs (model, task) of the suite where the model saw the task's data set, or one that it is part of."""
    return db.ask(
        """SELECT model, task FROM trained_tasks
                     WHERE task IN (SELECT task FROM suite_tasks WHERE suite = ?)""",
        [suite],
    )


def notes(db: Database, *, suite: str) -> pd.DataFrame:
    """Which single scores of the suite are remarked upon: model, task, metric (empty: every metric)."""
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


def metrics(db: Database) -> pd.DataFrame:
    """Every metric, indexed by key."""
    return db.ask("SELECT * FROM metrics").set_index("key", drop=False)


def benchmarks(db: Database) -> pd.DataFrame:
    """The four benchmarks."""
    return db.ask("SELECT * FROM benchmarks")


def benchmark(db: Database, *, key: str) -> pd.DataFrame:
    """One benchmark as a frame of at most one row."""
    return db.ask("SELECT * FROM benchmarks WHERE key = ?", [key])


def years(db: Database) -> list[int]:
    """The years of the papers that the published scores are from, each once, the first first."""
    years = db.ask(r"""SELECT DISTINCT CAST(regexp_extract(bibtex, 'year = \{(\d{4})\}', 1) AS INTEGER) AS year
                       FROM benchmarks WHERE regexp_matches(bibtex, 'year = \{\d{4}\}') ORDER BY year""")
    return [int(year) for year in years["year"]]


def benchmark_sizes(db: Database) -> pd.DataFrame:
    """The four benchmarks with how many models, tasks (as in `suites`) and scores each has."""
    return db.ask("""
        SELECT benchmarks.*, count(DISTINCT runs.model) AS models, count(scores.value) AS scores,
               count(DISTINCT tasks.key) FILTER (tasks.ranked OR tasks.key IN (
                   SELECT task FROM suite_tasks JOIN suites ON suites.key = suite WHERE aggregate = 'human')) AS tasks
        FROM benchmarks LEFT JOIN tasks ON tasks.benchmark = benchmarks.key LEFT JOIN runs ON runs.task = tasks.key
        LEFT JOIN scores ON scores.run = runs.id GROUP BY ALL ORDER BY benchmarks.key""")


def datasets(db: Database) -> pd.DataFrame:
    """Every data set, indexed by key."""
    return db.ask("SELECT * FROM datasets").set_index("key", drop=False)


def claims(db: Database) -> pd.DataFrame:
    """Every claim, conflicts first within a paper's order."""
    return db.ask("""SELECT * FROM claims ORDER BY paper, "where", claim""")


def claim_counts(db: Database) -> dict[str, int]:
    """How many claims there are: claims, recomputed, and conflicts among these."""
    return (
        db.ask(
            """SELECT count(*) AS claims, count(*) FILTER (verdict != 'cannot be recomputed') AS recomputed,
                      count(*) FILTER (verdict = 'conflict') AS conflicts FROM claims"""
        )
        .iloc[0]
        .to_dict()
    )


def lite_claims(db: Database) -> pd.DataFrame:
    """MIEB's claims on how well its lite suite preserves the order: claim, printed."""
    return db.ask("""SELECT DISTINCT claim, printed FROM claims WHERE paper = 'MIEB' AND "where" = 'Section 6.3'
                     AND claim LIKE '%correlation of the means%' ORDER BY claim DESC""")


def projection(db: Database, *, kind: str) -> pd.DataFrame:
    """One shipped map: key, x, y, cluster, settings; empty if that kind is missing."""
    return db.ask("SELECT key, x, y, cluster, settings FROM projections WHERE kind = ? ORDER BY key", [kind])


def everything(opening: OpenDatabase) -> Iterator[pd.DataFrame]:
    """The whole contract view in parts: one row a score."""
    return opening.parts("SELECT * FROM leaderboard_scores ORDER BY benchmark, task, model, origin, subset, metric")


def counts(db: Database) -> pd.DataFrame:
    """One row: models with scores, tasks, scores."""
    return db.ask("""SELECT (SELECT count(DISTINCT model) FROM runs) AS models, (SELECT count(*) FROM tasks) AS tasks,
                            (SELECT count(*) FROM scores) AS scores""")


def data_version(db: Database) -> str:
    """The version of the published scores; empty where the database does not record it."""
    rows = db.ask("SELECT value FROM meta WHERE key = 'version'")
    return "" if rows.empty else rows["value"].iloc[0]


def origins(db: Database) -> pd.DataFrame:
    """How many scores each origin gave: origin, scores."""
    return db.ask("""SELECT origin, count(*) AS scores FROM scores JOIN runs ON runs.id = scores.run
                     GROUP BY origin ORDER BY scores DESC""")
