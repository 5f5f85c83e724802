"""The live part of the app, as pages, routes and endpoints use it, with its rate limits."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

from compute.analysis.calibrated import Reference
from compute.analysis.domain import Calibrations, restored
from compute.live.domains import pairing
from compute.live.question import LiveQuestion
from compute.types import BadInput, Model
from leaderboard.data import model_queries
from leaderboard.data.memo import memoised
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.host.accelerator import is_lent
from leaderboard.live.calibrated import CalibratedAnswer, calibrated_answer
from leaderboard.live.live import MOST_MODELS, JudgeAllowance, Live, TooMany
from leaderboard.live.ready import ReadyAnswers
from leaderboard.web.visitors import Rate, visitor

VARIABLE = "LIKENESS_RATE"  # comparisons a minute per visitor; 0: no limit
ON_A_SPACE = 20.0
BURST = 10  # at once, before the rate applies
FILES = 4  # uploads per comparison, on average
JUDGE_VARIABLE = "LIKENESS_JUDGE_RATE"  # questions to judges a minute per visitor; 0: no limit
JUDGE_RATE = 30.0  # wherever the app runs: each question is two requests that the host pays for
JUDGE_BURST = 2 * MOST_MODELS  # two comparisons with nothing but judges


class Panel:
    """One for the whole app. `own` are models of the host's, beside those of the catalogue."""

    def __init__(self, suite_cache: SuiteCache, *, own: Sequence[Model] = ()) -> None:
        self.suite_cache, self.live = suite_cache, Live(own=own)
        self.rate = rate()
        self.judge_rate = judge_rate()
        self.calibrations = memoised(lambda: calibrations(suite_cache), of=suite_cache.db)
        self.ready = ReadyAnswers(roster=lambda: self.live.roster, ask=self.ask, is_borrowed=is_lent())

    def admit(self, request: Any) -> None:
        """Counts a visitor's request, Gradio's or Starlette's; None counts as one visitor. Raises TooMany."""
        if self.rate is None:
            return
        wait = self.rate.allow(sender(request))
        if wait:
            raise TooMany("You have sent many questions in a short time", wait)

    def judges(self, request: Any, *, pressed: object) -> JudgeAllowance | None:
        """What counts this visitor's questions to judges; None where the visitor has not `pressed` (True) for them."""
        if pressed is not True:
            return None
        judge_rate, name = self.judge_rate, sender(request)
        return lambda: judge_rate.allow(name) if judge_rate else 0.0

    # ---- for programs

    def models(self, mode: str) -> list[dict[str, Any]]:
        """As endpoints.LivePart says."""
        return self.live.roster.records(mode)

    def score(
        self, inputs: Sequence[tuple[str, str | bytes]], models: Sequence[str], request: Any = None
    ) -> list[dict[str, Any]]:
        """As endpoints.LivePart says; no input is stored."""
        question, rows = self.live.pair(inputs, models)
        judges = self.judges(request, pressed=True)  # a program names the models that it asks
        answers = self.live.answers(question, rows, cache={}, calibrations=self.calibrations(), judges=judges)
        return [
            _record(calibrated_answer(answer, row, question), pairing(question))
            for answer, row in zip(answers, rows, strict=True)
        ]

    def ask(self, question: LiveQuestion, row: Model) -> CalibratedAnswer:
        """One model's answer, of which nothing is stored. Judges are not asked."""
        (answer,) = self.live.answers(question, [row], cache={}, calibrations=self.calibrations())
        return calibrated_answer(answer, row, question)


def _record(calibrated: CalibratedAnswer, pairing: str) -> dict[str, Any]:
    """One model's answer about a pair; None for what is unknown."""
    answer, reference = calibrated.answer, calibrated.reference
    standing = calibrated.standings[0] if calibrated.standings else None
    return {
        "model": calibrated.row.key,
        "title": calibrated.row.title,
        "pairing": pairing,
        "percentile": standing and round(standing.percentile, 2),
        "reading": standing.reading if standing else "",
        "above_unrelated": standing and standing.above_unrelated,
        "above_matching": standing and standing.above_matching,
        "calibrated_on": reference.source if reference else "",
        "synthetic": bool(reference and reference.synthetic),
        "no_percentile": calibrated.why,
        "nearer_than_unrelated": list(answer.controls) if answer.controls else None,
        "score": answer.scores[0] if answer.scores else None,
        "score_is": answer.unit,
        "replies": list(answer.replies),
        "seconds": round(answer.seconds, 4),
        "problem": answer.problem,
    }


def uploads_rate() -> Rate | None:
    """How often one visitor may upload a file: a few per comparison."""
    questions = rate()
    return Rate(a_minute=questions.a_minute * FILES, burst=BURST * FILES) if questions else None


def rate() -> Rate | None:
    """The rate limit for a visitor: LIKENESS_RATE a minute, else a default on a Space and no limit elsewhere.

    Raises BadInput where the variable is not a number.
    """
    return _rate(VARIABLE, default=ON_A_SPACE if os.environ.get("SYSTEM") == "spaces" else 0.0, burst=BURST)


def judge_rate() -> Rate | None:
    """The rate limit for a visitor's questions to judges: LIKENESS_JUDGE_RATE a minute, else JUDGE_RATE everywhere.

    Raises BadInput where the variable is not a number.
    """
    return _rate(JUDGE_VARIABLE, default=JUDGE_RATE, burst=JUDGE_BURST)


def _rate(variable: str, *, default: float, burst: int) -> Rate | None:
    value = os.environ.get(variable, "")
    try:
        a_minute = float(value or default)
    except ValueError:
        a_minute = math.nan
    if not 0 <= a_minute < math.inf:
        raise BadInput(f"{variable} is a number of requests a minute, 0 for no limit; got {value[:40]!r}")
    return Rate(a_minute=a_minute, burst=burst) if a_minute else None


def sender(request: Any) -> str:
    """The visitor's address in a request, Gradio's or Starlette's; None counts as one visitor."""
    request = getattr(request, "request", request)
    return "unknown" if request is None else visitor(request)


def calibrations(suite_cache: SuiteCache) -> Calibrations:
    """Every model's distributions and their domains."""
    rows = model_queries.calibrations(suite_cache.db).to_dict("records")
    records = model_queries.calibration_domains(suite_cache.db)["record"]
    return Calibrations(
        references=tuple(Reference(**row) for row in rows),
        domains=tuple(restored(json.loads(record)) for record in records),
    )
