"""The SELECTs on suites, benchmarks, metrics, data sets and claims: long frames in stored units."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from compute.database.store import TASK_VALUES
from leaderboard.data.database import Database, OpenDatabase


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


def metrics(db: Database) -> pd.DataFrame:
    """Every metric, indexed by key."""
    return db.ask("SELECT * FROM metrics").set_index("key", drop=False)


def years(db: Database) -> list[int]:
    """The years of the papers that the published scores are from, each once, the first first."""
    years = db.ask(r"""SELECT DISTINCT CAST(regexp_extract(bibtex, 'year = \{(\d{4})\}', 1) AS INTEGER) AS year
                       FROM benchmarks WHERE regexp_matches(bibtex, 'year = \{\d{4}\}') ORDER BY year""")
    return [int(year) for year in years["year"]]


def datasets(db: Database) -> pd.DataFrame:
    """Every data set, indexed by key."""
    return db.ask("SELECT * FROM datasets").set_index("key", drop=False)


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


def everything(opening: OpenDatabase) -> Iterator[pd.DataFrame]:
    """The whole contract view in parts: one row a score."""
    return opening.parts("SELECT * FROM leaderboard_scores ORDER BY benchmark, task, model, origin, subset, metric")


def data_version(db: Database) -> str:
    """The version of the published scores; empty where the database does not record it."""
    rows = db.ask("SELECT value FROM meta WHERE key = 'version'")
    return "" if rows.empty else rows["value"].iloc[0]
