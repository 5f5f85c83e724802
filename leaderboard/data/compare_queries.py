"""The SELECTs behind the Compare page and the endpoints; as queries.py, in stored units."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database


def sources(db: Database, *, tasks: list[str]) -> pd.DataFrame:
    """Where the shown figures of some tasks come from: model, origin, task, source."""
    return db.ask(
        """SELECT DISTINCT model, origin, task, source FROM runs
           WHERE main AND task IN (SELECT unnest(?)) ORDER BY model, origin, task, source""",
        [tasks],
    )


def calibrations(db: Database) -> pd.DataFrame:
    """Every model's own distributions of scores, one row a model and pairing: a row has the fields of a `Reference`."""
    return db.ask("""SELECT model, pairing, unrelated, matching, n_unrelated, n_matching, separation, source, synthetic
                     FROM calibrations ORDER BY model, pairing""")
