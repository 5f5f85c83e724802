"""Doubtful scores of published and imported results, and what people decided about them.

A score is doubtful if the audit finds it, if it covers fewer parts or items than usual, or if it comes from a harness
version with a known fault.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute import paths
from compute.analysis import audit
from compute.analysis.table import HUMAN, ScoreTable, of_suite
from compute.database.store import Ask, suite_frames
from compute.importing.mteb import version_key
from compute.io.tables import read_csv
from compute.rounding import rounded

FEWER, HARNESS = "fewer", "harness"
RIGHT = "right"  # decision that a score looks odd but is right

SUITES = """
SELECT key FROM suites JOIN suite_tasks ON suite = key JOIN runs USING (task) WHERE aggregate <> ?
GROUP BY key HAVING count(DISTINCT task) >= ? ORDER BY count(DISTINCT task) DESC, key
"""
# Scores from fewer parts or items than most models' scores on the task.
PARTIAL = """
WITH measured AS (
    SELECT runs.model, runs.task, runs.origin, max(scores.n) AS items,
           count(*) FILTER (subset NOT IN ('default', 'average')) AS parts,
           any_value(value) FILTER (subset IN ('default', 'average')) AS value
    FROM runs JOIN scores ON scores.run = runs.id JOIN tasks ON tasks.key = runs.task
    WHERE runs.main AND runs.origin <> 'computed' AND scores.metric = tasks.metrics[1] GROUP BY ALL
), usual AS (SELECT task, origin, mode(items) AS items, mode(parts) AS parts FROM measured GROUP BY ALL)
SELECT model, task, origin, value, measured.items, usual.items AS usual_items, measured.parts,
       usual.parts AS usual_parts
FROM measured JOIN usual USING (task, origin)
WHERE value IS NOT NULL AND (measured.items < usual.items OR measured.parts BETWEEN 1 AND usual.parts - 1)
ORDER BY ALL
"""
VERSIONS = """
SELECT model, task, origin, value, runs.settings->>'$.mteb_version' AS version FROM runs
JOIN scores ON scores.run = runs.id JOIN tasks ON tasks.key = runs.task
WHERE runs.main AND runs.origin = 'imported' AND scores.metric = tasks.metrics[1]
  AND subset IN ('default', 'average') AND runs.task IN (SELECT unnest(?)) ORDER BY ALL
"""


class DoubtRow(NamedTuple):
    """A row of the table `doubts`."""

    model: str
    task: str
    origin: str
    kind: str
    value: float
    expected: float
    low: float
    high: float
    reason: str
    suite: str = ""  # the suite whose scores contradict it


def doubts(ask: Ask) -> pd.DataFrame:
    """Returns a row per doubtful score, with `decision` and `decided` (its reason and source) if people reviewed it."""
    found = [*_of_versions(ask), *_of_fewer(ask), *_contradicted(ask)]
    rows = {(row.model, row.task, row.origin): row for row in found}  # later ones are more specific
    frame = pd.DataFrame(list(rows.values()), columns=list(DoubtRow._fields))
    decisions = {}
    for one in read_csv(paths.CATALOG / "decisions.csv").itertuples():
        decisions[one.model, one.task, one.origin] = (one.decision, f"{one.reason} ({one.source}, {one.date})")
    known = [
        decisions.get((row.model, row.task, row.origin), decisions.get((row.model, "*", row.origin), ("", "")))
        for row in frame.itertuples()
    ]
    return frame.assign(decision=[one for one, _ in known], decided=[why for _, why in known])


def _contradicted(ask: Ask) -> Iterator[DoubtRow]:
    """Yields what the audit finds in each suite and origin.

    If suites share a task, the largest one in which a model has enough tasks judges that model, because it offers the
    most comparisons.
    """
    suites = ask(SUITES, [HUMAN, audit.SAME])["key"]
    about = ask("SELECT key, title, chance, dataset, procedure FROM tasks", []).set_index("key")
    judged: set[tuple[str, str, str]] = set()
    for suite in suites:
        frames = suite_frames(ask, suite=suite)
        for origin in sorted({*frames["values"]["origin"]} - {"computed"}):
            table = of_suite(frames, origin=origin)
            for doubt in audit.audit(table, chance=about["chance"].reindex(table.tasks).to_numpy(float)):
                if (origin, doubt.model, doubt.task) not in judged:
                    reason = doubt.reason + (_beside(table, doubt, about) if doubt.kind == audit.ONE_CLASS else "")
                    yield DoubtRow(doubt.model, doubt.task, origin, *doubt[2:-1], reason, str(suite))
            for row in np.flatnonzero(audit.taking_part(table)):
                judged |= {(origin, table.models[row], task) for task in table.tasks}


def _beside(table: ScoreTable, doubt: audit.Doubt, about: pd.DataFrame) -> str:
    """Returns the model's scores on the same data by other procedures."""
    row, own = table.models.index(doubt.model), about.loc[doubt.task]
    others = [
        f"; {about['title'][task]} {rounded(value, 1, scale=100)}%"
        for task, value in zip(table.tasks, table.values[row].tolist(), strict=True)
        if about["dataset"][task] == own["dataset"] and about["procedure"][task] != own["procedure"]
        if not math.isnan(value)
    ]
    return "".join(others)


def _of_fewer(ask: Ask) -> Iterator[DoubtRow]:
    for row in ask(PARTIAL, []).itertuples():
        few = f"{row.parts} of {row.usual_parts} parts" if row.parts < row.usual_parts else f"{row.items} items"
        usual = "" if row.parts < row.usual_parts else f" where most models' are of {row.usual_items}"
        yield _by_itself(row, FEWER, f"measured on {few}{usual}")


def _of_versions(ask: Ask) -> Iterator[DoubtRow]:
    faults = read_csv(paths.CATALOG / "harness_faults.csv")
    faults = faults[(faults["harness"] == "mteb") & (faults["marks"] == "true")]
    for fault in faults.itertuples():
        first, last = version_key(fault.first_version), version_key(fault.last_version)
        for row in ask(VERSIONS, [fault.tasks.split(";")]).itertuples():
            if first <= version_key(row.version or "") <= last:
                why = f"made by mteb {row.version}, which has a fault here: {fault.fault} ({fault.source})"
                yield _by_itself(row, HARNESS, why)


def _by_itself(row: Any, kind: str, reason: str) -> DoubtRow:
    return DoubtRow(row.model, row.task, row.origin, kind, row.value, *(math.nan,) * 3, reason)
