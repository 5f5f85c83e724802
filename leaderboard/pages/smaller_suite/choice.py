"""A smaller suite: its choice, how well it represents the whole, what it saves, and its export."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from compute.analysis.lite import smaller
from compute.analysis.lite.smaller import Fidelity, HeldOut, Smaller, whole
from compute.analysis.table import ALL, USUAL, ScoreTable, of_suite
from compute.catalog.catalog import MTEB
from compute.database import store
from compute.rounding import rounded_array
from compute.types import ORIGINS, LikenessError
from leaderboard.data.database import Database
from leaderboard.data.memo import memoised
from leaderboard.html.templates import macros
from leaderboard.web.parameters import Choice, Number, Parameter
from leaderboard.web.responses import csv_bytes

BY = ("tasks", "hours")
OWN = {"mieb": "mieb-lite", "mieb-en": "mieb-lite"}  # the smaller suite that a paper already chose
texts = macros("pages/smaller_suite/page.html")


class SmallerSuiteQuery(NamedTuple):
    """One choice of the page's controls; a size of 0 is the knee."""

    suite: str
    origin: str
    by: str
    size: int
    hours: float
    high: float
    low: float


def parameters(suites: pd.DataFrame) -> tuple[Parameter, ...]:
    """The page's query parameters; thresholds default to those of MIEB section 6.3."""
    choosable = suites[suites["aggregate"] != "human"]
    return (
        Choice(key="suite", default="mieb", choices=tuple(choosable["key"]), noun="suite"),
        Choice(key="origin", default=USUAL, choices=(USUAL, *ORIGINS, ALL)),
        Number(key="size", default=0, low=0, high=200, whole=True),
        Choice(key="by", default="tasks", choices=BY),
        Number(key="hours", default=5, low=0.01, high=1000),
        Number(key="high", default=0.5, low=-1, high=1),
        Number(key="low", default=0.45, low=-1, high=1),
    )


class SmallerSuites:
    """The smaller suites of a database, each computed once for each version of the file."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.scores = memoised(
            lambda suite, origin: of_suite(store.suite_frames(db.ask, suite=suite), origin=origin), most=32, of=db
        )
        self.choose = memoised(self._choose, most=64, of=db)
        self.held_out = memoised(self._held_out, most=64, of=db)

    def _choose(self, query: SmallerSuiteQuery) -> Smaller:
        scores = self.scores(query.suite, query.origin)
        return smaller.choose(scores, **_rule(query, scores))

    def _held_out(self, query: SmallerSuiteQuery) -> HeldOut | None:
        """The same choice made on half of the models and measured on the others; None where that fails."""
        scores = self.scores(query.suite, query.origin)
        rule = _rule(query, scores)
        try:
            size = None if rule["hours"] else self.choose(query).selection.size
            return smaller.held_out(scores, **rule | {"size": size})
        except LikenessError:
            return None

    def own(self, suite: str, origin: str) -> Fidelity | None:
        """How well the paper's own smaller suite represents the whole; None where there is none to compare."""
        if suite not in OWN:
            return None
        try:
            scores = self.scores(suite, origin)
            own = scores.origins[0] if origin == USUAL and scores.origins else origin
            return smaller.between(scores, self.scores(OWN[suite], own))
        except LikenessError:
            return None


def _rule(query: SmallerSuiteQuery, scores: ScoreTable) -> dict[str, Any]:
    """How many tasks (None: the knee) or hours. As many tasks as there are make no smaller suite: the knee again."""
    by_hours = query.by == "hours"
    known = 0 < query.size < min(len(whole(scores).candidates), len(scores.tasks))
    return {
        "size": query.size if known and not by_hours else None,
        "hours": query.hours if by_hours else None,
        "thresholds": (max(query.high, query.low), min(query.high, query.low)),
    }


def answer(suites: SmallerSuites, query: SmallerSuiteQuery) -> str:
    """How well one choice represents the whole suite. Raises BadInput or Undefined where it fails."""
    result = suites.choose(query)
    return texts.answer(
        result=result,
        held_out=suites.held_out(query),
        asked=query.size if query.by == "tasks" else 0,
        at_knee=query.by == "tasks" and result.selection.size != query.size,
    )


def export(suites: SmallerSuites, query: SmallerSuiteQuery) -> str:
    """The chosen tasks as code for mteb, as CSV and as JSON."""
    result = suites.choose(query)
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
    of_mteb = suites.db.keyed("suites").loc[query.suite, "benchmark"] in MTEB
    code = f"mteb.get_tasks(tasks={json.dumps(sorted(frame['title']))})" if of_mteb else ""
    return texts.export(
        code=f"import mteb\n\ntasks = {code}" if code else f"likeness run --suite {query.suite} --tasks {keys}",
        name=f"{query.suite}-{len(path)}-tasks",
        csv=_data_address("text/csv", csv_bytes(frame)),
        json=_data_address("application/json", frame.to_json(orient="records").encode()),
        board=f"board?suite={query.suite}&tasks={quote(keys, safe='/,:')}",
    )


def _data_address(kind: str, content: bytes) -> str:
    """A file as an address, for a link that saves it."""
    return f"data:{kind};charset=utf-8,{quote(content)}"


def tables(suites: SmallerSuites, query: SmallerSuiteQuery, *, titles: pd.Series) -> str:
    """The tables of one choice; `titles` of models by key. Raises BadInput or Undefined where it fails."""
    result, own = suites.choose(query), suites.own(query.suite, query.origin)
    scores, whole = result.scores, result.whole
    choosable = set(scores.codes[whole.candidates])
    facts: dict[str, Any] = {
        "own_suite": OWN.get(query.suite, ""),
        "own_claims": suites.db.query("lite_claims") if own else (),
        "without_tasks": [name for code, name in enumerate(scores.categories) if code not in choosable],
    }
    return texts.tables(result=result, own=own, titles=titles, lost=smaller.lost(result), **facts)
