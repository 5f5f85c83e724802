"""A table as CSV that a spreadsheet opens without running anything."""

from __future__ import annotations

import pandas as pd

from leaderboard.web.responses import safe_cell


def csv_bytes(frame: pd.DataFrame, *, header: bool = True) -> bytes:
    """The frame as CSV, with its headings if `header`; texts that a spreadsheet would take for formulas are quoted."""
    safe = frame.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell)
    return safe.rename(columns=safe_cell).to_csv(index=False, lineterminator="\n", header=header).encode()
