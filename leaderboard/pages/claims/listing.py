"""Every claim of the papers as rows for the browser, with the printed tables behind each."""

from __future__ import annotations

import re
from typing import Any

from leaderboard.data import suite_queries
from leaderboard.data.database import Database

FIELDS = ("paper", "claim", "where", "printed", "recomputed", "verdict", "formula", "note")
VERDICTS = ("conflict", "rounding", "cannot be recomputed", "reproduces")  # in the order shown

Sources = dict[str, dict[str, str]]  # key, source and suite of a published table, by names such as `MIEB Table 9`


def claims(db: Database) -> dict[str, Any]:
    """Every claim, conflicts first, and the published tables that each location in a paper names."""
    frame = suite_queries.claims(db).fillna("")
    frame["turn"] = frame["verdict"].map(VERDICTS.index)
    frame = frame.sort_values(["turn", "paper"], kind="stable")
    sources = _sources(db)
    locations = frame[["paper", "where"]].drop_duplicates().itertuples(index=False, name=None)
    tables = {f"{paper}|{where}": tables_of(paper, where, sources=sources) for paper, where in locations}
    return {
        "fields": list(FIELDS),
        "rows": frame[list(FIELDS)].to_numpy().tolist(),
        "tables": {location: entries for location, entries in tables.items() if entries},
    }


def tables_of(paper: str, where: str, *, sources: Sources) -> list[dict[str, str]]:
    """The published tables that a location such as `Tables 2 and 6` names."""
    groups = re.findall(r"Tables? (\d+(?:(?:, | and | to )\d+)*)", where)
    names = dict.fromkeys(f"{paper} Table {number}" for group in groups for number in re.findall(r"\d+", group))
    return [sources[name] for name in names if name in sources]


def _sources(db: Database) -> Sources:
    from compute.paths import PUBLISHED
    from compute.tables import read_csv

    tables = read_csv(PUBLISHED / "tables.csv", columns=("key", "source"))
    suites = suite_queries.suites_of_sources(db).set_index("source")["suite"].to_dict()
    return {row.source: row._asdict() | {"suite": suites.get(row.source, "")} for row in tables.itertuples(index=False)}
