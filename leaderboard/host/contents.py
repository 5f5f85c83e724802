"""Whether a database has what the pages show."""

from __future__ import annotations

from compute.types import DatabaseError
from leaderboard.data import suite_queries
from leaderboard.data.database import Database


def check_contents(db: Database) -> None:
    """Raises DatabaseError unless the database has the benchmarks, suites, models, tasks and scores."""
    from compute.catalog import shipped

    try:
        benchmarks = set(suite_queries.benchmarks(db)["key"])
        counts = {
            "suites": len(suite_queries.suites(db)),
            **suite_queries.counts(db).iloc[0][["models", "tasks", "scores"]],
        }
    except Exception as error:  # of DuckDB: a missing table, a block that cannot be read
        raise DatabaseError(f"it cannot be read ({type(error).__name__})") from error
    missing = [f"benchmark {row.key!r}" for row in shipped().benchmarks if row.key not in benchmarks]
    missing += [noun for noun, count in counts.items() if not count]
    if missing:
        raise DatabaseError(f"it has no {missing[0]}")
