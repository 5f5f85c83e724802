"""Every claim of the papers as rows for the browser, with the printed tables behind each."""

from __future__ import annotations

import re
from typing import Any

from compute.types import SEVERITIES, VERDICTS
from leaderboard.data.database import Database

FIELDS = (
    "key",
    "paper",
    "claim",
    "where",
    "printed",
    "recomputed",
    "verdict",
    "severity",
    "formula",
    "note",
    "why",
)

Sources = dict[str, dict[str, str]]  # key, source and suite of a published table, by names such as `MIEB Table 9`


def claims(db: Database) -> dict[str, Any]:
    """Every claim, conflicts first and of these the headlines, and the published tables behind each.

    `tables` lists them once for each text that names some, under `paper|text`; the text is where a claim stands, or the
    formula that recomputes it.
    """
    frame = db.query("claims").fillna("")
    frame["turn"] = frame["verdict"].map(VERDICTS.index)
    frame["weight"] = frame["severity"].map(SEVERITIES.index)
    frame = frame.sort_values(["turn", "weight", "paper"], kind="stable")
    sources = _sources(db)
    texts = {(row.paper, text) for row in frame.itertuples() for text in (row.where, row.formula)}
    tables = {f"{paper}|{text}": tables_of(paper, text, sources=sources) for paper, text in sorted(texts)}
    return {
        "fields": list(FIELDS),
        "counts": db.query("claim_counts").iloc[0].to_dict(),
        "rows": frame[list(FIELDS)].to_numpy().tolist(),
        "tables": {location: entries for location, entries in tables.items() if entries},
    }


def tables_of(paper: str, text: str, *, sources: Sources) -> list[dict[str, str]]:
    """The published tables that a text such as `Tables 2 and 6` or `Tables 3 to 7` names."""
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
