"""The SELECTs on the database's own form."""

from __future__ import annotations

import re
from typing import Any

from compute.types import nearest
from leaderboard.data import sandbox
from leaderboard.data.database import Database


def answer(db: Database, sql: str) -> dict[str, Any]:
    """The answer to a visitor's SELECT as `sandbox.run` gives it; one without rows has a `hint`. Raises BadInput."""
    result = sandbox.run(db.copy, sql)
    return result if result["rows"] else result | {"hint": near_keys(db, sql)}


def near_keys(db: Database, sql: str) -> str:
    """Which quoted texts of a query without rows are not keys or titles in the database, and the nearest to each."""
    named = db.ask("""SELECT key AS name FROM tasks UNION SELECT title FROM tasks UNION SELECT category FROM tasks
                      UNION SELECT key FROM models UNION SELECT title FROM models UNION SELECT key FROM metrics
                      UNION SELECT key FROM suites UNION SELECT key FROM benchmarks UNION SELECT origin FROM runs
                      UNION SELECT subset FROM scores""")["name"]
    known = set(named.dropna())
    texts = dict.fromkeys(text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')+)'", sql))
    unknown = [text for text in texts if text not in known and not set("%_") & set(text)][:3]
    near = ((text, nearest(text[:80], known)) for text in unknown)
    return " ".join(f"Nothing is called {text[:80]!r}{f'; near: {other!r}' if other else ''}." for text, other in near)
