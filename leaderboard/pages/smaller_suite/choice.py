"""A smaller suite: its choice, how well it represents the whole, and what it saves, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pandas as pd

from compute.analysis.lite import smaller
from compute.analysis.lite.smaller import HeldOut, Smaller, SuiteAgreement, whole
from compute.analysis.table import ALL, USUAL, ScoreTable, of_suite
from compute.database import store
from compute.types import ORIGINS, LikenessError
from leaderboard.data import suite_queries
from leaderboard.data.database import Database
from leaderboard.data.memo import memoised
from leaderboard.html.templates import macros
from leaderboard.web.parameters import Choice, Number, Parameter

BY = ("tasks", "hours")
OWN = {"mieb": "mieb-lite", "mieb-en": "mieb-lite"}  # the smaller suite that a paper already chose
SIZE = 51  # of MIEB-lite


@dataclass(frozen=True, kw_only=True)
class SmallerSuiteQuery:
    """One choice of the page's controls."""

    suite: str
    origin: str
    by: str
    size: int
    hours: float
    high: float
    low: float


def parameters(suites: pd.DataFrame) -> tuple[Parameter, ...]:
    """The page's query parameters; their defaults are MIEB section 6.3."""
    choosable = suites[suites["aggregate"] != "human"]
    return (
        Choice(key="suite", default="mieb", choices=tuple(choosable["key"]), noun="suite"),
        Choice(key="origin", default=USUAL, choices=(USUAL, *ORIGINS, ALL)),
        Choice(key="by", default="tasks", choices=BY),
        Number(key="size", default=SIZE, low=1, high=200, whole=True),
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
        size, hours = _limit(query, scores)
        return smaller.choose(scores, size=size, hours=hours, thresholds=_thresholds(query))

    def _held_out(self, query: SmallerSuiteQuery) -> HeldOut | None:
        """The same choice made on half of the models and measured on the others; None where that fails."""
        scores = self.scores(query.suite, query.origin)
        size, hours = _limit(query, scores)
        try:
            return smaller.held_out(scores, size=size, hours=hours, thresholds=_thresholds(query))
        except LikenessError:
            return None

    def own(self, suite: str, origin: str) -> SuiteAgreement | None:
        """How well the paper's own smaller suite represents the whole; None where there is none to compare."""
        if suite not in OWN:
            return None
        try:
            scores = self.scores(suite, origin)
            own = scores.origins[0] if origin == USUAL and scores.origins else origin
            return smaller.between(scores, self.scores(OWN[suite], own))
        except LikenessError:
            return None


def _limit(query: SmallerSuiteQuery, scores: ScoreTable) -> tuple[int | None, float | None]:
    """How many tasks, or hours. A number that leaves nothing out becomes half of what can be chosen."""
    if query.by != "tasks":
        return None, query.hours
    most = len(whole(scores).candidates)
    if query.size < min(most, len(scores.tasks)):
        return query.size, None
    return max(len(set(scores.codes[whole(scores).candidates])), most // 2), None


def _thresholds(query: SmallerSuiteQuery) -> tuple[float, float]:
    return max(query.high, query.low), min(query.high, query.low)


def answer(suites: SmallerSuites, query: SmallerSuiteQuery) -> str:
    """How well one choice represents the whole suite. Raises BadInput or Undefined where it fails."""
    result = suites.choose(query)
    tasks = [result.scores.tasks[task] for task in result.selection.chosen]
    return _texts().answer(
        result=result,
        held_out=suites.held_out(query),
        own=suites.own(query.suite, query.origin),
        tasks=tasks,
        asked=query.size if query.by == "tasks" else len(tasks),
        lost=smaller.lost(result),
        board=f"board?suite={query.suite}&tasks={quote(','.join(tasks), safe='/,:')}",
    )


def tables(suites: SmallerSuites, query: SmallerSuiteQuery, *, titles: pd.Series) -> str:
    """The tables of one choice; `titles` of models by key. Raises BadInput or Undefined where it fails."""
    result, own = suites.choose(query), suites.own(query.suite, query.origin)
    scores, whole = result.scores, result.whole
    choosable = set(scores.codes[whole.candidates])
    return _texts().tables(
        result=result,
        own=own,
        own_suite=OWN.get(query.suite, ""),
        own_claims=suite_queries.lite_claims(suites.db) if own else (),
        titles=titles,
        tasks=[scores.tasks[task] for task in result.selection.chosen],
        lost=smaller.lost(result),
        most_changed=scores.models[whole.rows[result.fidelity.largest_change_model]],
        without_tasks=[name for code, name in enumerate(scores.categories) if code not in choosable],
    )


def _texts() -> Any:
    return macros("pages/smaller_suite/page.html")
