"""`compute.board`: shows a suite of the database in a notebook."""

from __future__ import annotations

from pathlib import Path

from compute import paths
from compute.analysis.ranking import Ranking
from compute.analysis.table import USUAL, of_database


def board(suite: str, *, origin: str = USUAL, database: Path | None = None) -> Ranking:
    """Ranks a suite of the database (default: the app's) as its board does: `compute.board("mieb")` in a notebook.

    `origin`: published, imported, computed, imported:NAME, or usual, the most complete. Raises UnknownKey, BadInput,
    DatabaseError.
    """
    (table,) = of_database(database or paths.DATABASE, suites=[suite], origin=origin)
    return Ranking.of(table)
