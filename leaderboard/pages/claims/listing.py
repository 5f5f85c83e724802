"""Every claim of the papers as rows for the browser, with the printed tables behind each."""

from __future__ import annotations

import re
from typing import Any

from compute.types import SEVERITIES, VERDICTS
from leaderboard.data.database import Database

Sources = dict[str, dict[str, str]]  # key, source and suite of a published table, by names such as `MIEB Table 9`


def claims(db: Database) -> dict[str, Any]:
    """Returns every claim, conflicts first and headlines first among them, and the published tables behind each.

    `tables` lists them once for each text that names some, under `paper|text`; the text is where a claim stands, or the
    formula that recomputes it.
    """
    rows = db.records("claims")
    rows.sort(key=lambda row: (VERDICTS.index(row["verdict"]), SEVERITIES.index(row["severity"]), row["paper"]))
    sources = _sources(db)
    texts = {(row["paper"], text) for row in rows for text in (row["where"], row["formula"])}
    tables = {f"{paper}|{text}": tables_of(paper, text, sources=sources) for paper, text in sorted(texts)}
    return {
        "fields": [*next(iter(rows), ())],
        "counts": db.records("claim_counts")[0],
        "rows": [list(row.values()) for row in rows],
        "tables": {location: entries for location, entries in tables.items() if entries},
    }


def tables_of(paper: str, text: str, *, sources: Sources) -> list[dict[str, str]]:
    """Returns the published tables named by a text such as `Tables 2 and 6` or `Tables 3 to 7`."""
    numbers: list[int] = []
    for group in re.findall(r"Tables? (\d+(?:(?:, | and | to )\d+)*)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", group):
            numbers += range(int(first), int(last or first) + 1)
    names = dict.fromkeys(f"{paper} Table {number}" for number in numbers)
    return [sources[name] for name in names if name in sources]


def _sources(db: Database) -> Sources:
    from compute.io.tables import read_csv
    from compute.paths import PUBLISHED

    tables = read_csv(PUBLISHED / "tables.csv", columns=("key", "source"))
    suites = db.query("suites_of_sources").set_index("source")["suite"].to_dict()
    return {row.source: row._asdict() | {"suite": suites.get(row.source, "")} for row in tables.itertuples(index=False)}
