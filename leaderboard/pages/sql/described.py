"""What a view of the SQL page is about: one of its examples. A visitor's own query is never part of it."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.page import Described, Site
from leaderboard.pages.sql.routes import examples


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The example whose text the query holds; None for any other text."""
    text = query.get("query", "").strip()
    example = next((each for each in examples() if each["sql"] == text), None)
    if example is None:
        return None
    return Described(
        title=example["title"],
        sentence="One SELECT over every score, run, model, task and claim of the database, to run or to change.",
        query=(("query", example["sql"]),),
    )
