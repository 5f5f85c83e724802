"""A table as CSV that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
import io

import pandas as pd

from leaderboard.web.responses import safe_cell


def csv_bytes(frame: pd.DataFrame, *, header: bool = True) -> bytes:
    """The frame as CSV, with its headings if `header`; texts that a spreadsheet would take for formulas are quoted."""
    safe = frame.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell)
    return safe.rename(columns=safe_cell).to_csv(index=False, lineterminator="\n", header=header).encode()


def safe_csv(content: bytes) -> bytes:
    """A CSV file in UTF-8 whose cells are quoted likewise; as it is where none has to be."""
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    safe = [list(map(safe_cell, row)) for row in rows]
    if safe == rows:
        return content
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(safe)
    return out.getvalue().encode()
