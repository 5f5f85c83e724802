"""A smaller suite: its selection, how well it represents the whole, what it saves, and its export."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from compute.analysis.lite import smaller
from compute.analysis.lite.smaller import Fidelity, HeldOut, Smaller, whole
from compute.analysis.table import USUAL, ScoreTable, of_suite
from compute.catalog.catalog import MTEB
from compute.database import store
from compute.rounding import rounded_array
from compute.types import LikenessError
from leaderboard.data.database import Database, shared
from leaderboard.html.templates import macros
from leaderboard.web.responses import csv_bytes

OWN = {"mieb": "mieb-lite", "mieb-en": "mieb-lite"}  # the smaller suite that a paper already chose
texts = macros("pages/smaller_suite/page.html")


class SmallerSuiteQuery(NamedTuple):
    """One choice of the page's controls; a size of 0 is the knee."""

    suite: str
    origin: str
    size: int
    high: float
    low: float


@partial(shared, most=32)
def scores_of(db: Database, suite: str, origin: str) -> ScoreTable:
    """Returns the scores of a suite by which a smaller one is selected."""
    return of_suite(store.suite_frames(db.ask, suite=suite), origin=origin)


@partial(shared, most=64)
def choose(db: Database, query: SmallerSuiteQuery) -> Smaller:
    """Returns the chosen suite. Raises BadInput or Undefined if there is none."""
    scores = scores_of(db, query.suite, query.origin)
    return smaller.choose(scores, **_rule(query, scores))


@partial(shared, most=64)
def held_out(db: Database, query: SmallerSuiteQuery) -> HeldOut | None:
    """Returns the same selection made on half of the models and measured on the others; None if that fails."""
    scores = scores_of(db, query.suite, query.origin)
    rule = _rule(query, scores)
    try:
        return smaller.held_out(scores, **rule | {"size": choose(db, query).selection.size})
    except LikenessError:
        return None


def own(db: Database, suite: str, origin: str) -> Fidelity | None:
    """Returns how well the paper's own smaller suite represents the whole; None if there is none to compare."""
    if suite not in OWN:
        return None
    try:
        scores = scores_of(db, suite, origin)
        origin = scores.origins[0] if origin == USUAL and scores.origins else origin
        return smaller.between(scores, scores_of(db, OWN[suite], origin))
    except LikenessError:
        return None


def _rule(query: SmallerSuiteQuery, scores: ScoreTable) -> dict[str, Any]:
    """Returns the number of tasks (None: the knee). If it equals the number of all tasks, the knee is used again."""
    known = 0 < query.size < min(len(whole(scores).candidates), len(scores.tasks))
    return {
        "size": query.size if known else None,
        "thresholds": (max(query.high, query.low), min(query.high, query.low)),
    }


def answer(db: Database, query: SmallerSuiteQuery) -> str:
    """Returns how well one choice represents the whole suite. Raises BadInput or Undefined if it fails."""
    result = choose(db, query)
    return texts.answer(
        result=result,
        held_out=held_out(db, query),
        asked=query.size,
        at_knee=result.selection.size != query.size,
    )


def export(db: Database, query: SmallerSuiteQuery) -> str:
    """Returns the chosen tasks as code for mteb, as CSV and as JSON."""
    result = choose(db, query)
    scores, path = result.scores, result.selection.path
    frame = pd.DataFrame(
        {
            "task": [scores.tasks[task] for task in path],
            "title": [scores.titles[task] for task in path],
            "category": [scores.categories[scores.codes[task]] for task in path],
            "spearman": rounded_array(result.selection.agreement, 4),
        }
    )
    keys = ",".join(frame["task"])
    of_mteb = db.keyed("suites").loc[query.suite, "benchmark"] in MTEB
    code = f"mteb.get_tasks(tasks={json.dumps(sorted(frame['title']))})" if of_mteb else ""
    return texts.export(
        code=f"import mteb\n\ntasks = {code}" if code else f"likeness run --suite {query.suite} --tasks {keys}",
        name=f"{query.suite}-{len(path)}-tasks",
        csv=_data_address("text/csv", csv_bytes(frame)),
        json=_data_address("application/json", frame.to_json(orient="records").encode()),
        board=f"board?suite={query.suite}&tasks={quote(keys, safe='/,:')}",
    )


def _data_address(kind: str, content: bytes) -> str:
    """Returns a file as a data URL, for a link that saves it."""
    return f"data:{kind};charset=utf-8,{quote(content)}"


def tables(db: Database, query: SmallerSuiteQuery, *, titles: pd.Series) -> str:
    """Returns the tables of one choice; `titles` of models by key. Raises BadInput or Undefined if it fails."""
    result, of_paper = choose(db, query), own(db, query.suite, query.origin)
    scores, whole = result.scores, result.whole
    choosable = set(scores.codes[whole.candidates])
    facts: dict[str, Any] = {
        "own_suite": OWN.get(query.suite, ""),
        "own_claims": db.query("lite_claims") if of_paper else (),
        "without_tasks": [name for code, name in enumerate(scores.categories) if code not in choosable],
    }
    return texts.tables(result=result, own=of_paper, titles=titles, lost=smaller.lost(result), **facts)
