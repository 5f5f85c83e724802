"""The SELECTs on the database's own form."""

from __future__ import annotations

import pandas as pd

from leaderboard.data.database import Database


def columns(db: Database) -> pd.DataFrame:
    """Every column of every table and view in its order: table_name, column_name, data_type."""
    return db.ask("""SELECT table_name, column_name, data_type FROM duckdb_columns()
                     WHERE NOT internal ORDER BY table_name, column_index""")
