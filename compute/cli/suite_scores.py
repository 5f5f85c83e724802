"""Suites read from the database for the command line."""

from __future__ import annotations

from pathlib import Path

from compute.analysis.suite import SuiteScores, arrange
from compute.database import store


def read(path: Path, *, suites: tuple[str, ...], origin: str) -> list[SuiteScores]:
    """The suites' scores from the database at `path`. Raises UnknownKey, BadInput, DatabaseError."""
    connection = store.connect(path)
    try:
        return [
            arrange(
                store.suite_frames(lambda sql, values: connection.execute(sql, values).df(), suite=suite), origin=origin
            )
            for suite in suites
        ]
    finally:
        connection.close()
