"""The live part of the app, as its pages, routes and endpoints use it; and who may ask it how often."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from compute.analysis.calibrated import Reference
from compute.types import BadInput
from leaderboard.data import model_queries
from leaderboard.data.memo import memoised
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live import calibrated as judged
from leaderboard.live.live import Live
from leaderboard.web.visitors import Rate, visitor

VARIABLE = "LIKENESS_RATE"  # comparisons a minute and visitor; 0: as many as one likes
ON_A_SPACE = 20.0
BURST = 10  # at once, before that holds
FILES = 4  # files a comparison, on average and at most for long


class TooMany(BadInput):
    """A visitor asks more often than this app answers one; `seconds` until the next is answered."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(
            f"You have asked often in a short time. Try again in {self.seconds} "
            f"second{'' if self.seconds == 1 else 's'}"
        )


class Panel:
    """One for the whole app."""

    def __init__(self, suite_cache: SuiteCache) -> None:
        self.suite_cache, self.live = suite_cache, Live()
        self.rate = rate()
        self.references = memoised(lambda: references(suite_cache), of=suite_cache.db)

    def admit(self, request: Any) -> None:
        """Counts a visitor's request for a model; Gradio's request or Starlette's, None counts too. Raises TooMany."""
        if self.rate is None:
            return
        found = getattr(request, "request", request)
        wait = self.rate.allow("unknown" if found is None else visitor(found))
        if wait:
            raise TooMany(wait)

    # ---- for programs

    def models(self, mode: str) -> list[dict[str, Any]]:
        """As endpoints.LivePart says."""
        return self.live.models(mode)

    def score(self, inputs: Sequence[tuple[str, str | bytes]], models: Sequence[str]) -> list[dict[str, Any]]:
        """As endpoints.LivePart says; nothing is kept of the inputs."""
        asked, rows = self.live.pair(inputs, models)
        pairing, held = judged.pairing(asked), self.references()
        known = frozenset(model for model, of in held if of == pairing)
        answers = self.live.judge(asked, rows, kept={}, calibrated=known)
        return [
            _record(judged.judged(answer, row, asked, held), pairing) for answer, row in zip(answers, rows, strict=True)
        ]


def _record(one: judged.Judged, pairing: str) -> dict[str, Any]:
    """One model's answer about a pair; what is not known is None."""
    answer, reference = one.answer, one.reference
    place = one.places[0] if one.places else None
    return {
        "model": one.row.key,
        "title": one.row.title,
        "pairing": pairing,
        "percentile": place and round(place.percentile, 2),
        "reading": place.reading if place else "",
        "above_unrelated": place and place.above_unrelated,
        "above_matching": place and place.above_matching,
        "calibrated_on": reference.source if reference else "",
        "synthetic": bool(reference and reference.synthetic),
        "nearer_than_unrelated": list(answer.controls) if answer.controls else None,
        "score": answer.scores[0] if answer.scores else None,
        "score_is": answer.unit,
        "replies": list(answer.replies),
        "seconds": round(answer.seconds, 4),
        "problem": answer.problem,
    }


def uploads_rate() -> Rate | None:
    """How often one visitor may send a file: a few a comparison."""
    asks = rate()
    return Rate(a_minute=asks.a_minute * FILES, burst=BURST * FILES) if asks else None


def rate() -> Rate | None:
    """How often one visitor may ask: LIKENESS_RATE a minute, else a default on a Space and no limit elsewhere.

    Raises BadInput where the variable holds no number.
    """
    given = os.environ.get(VARIABLE, "")
    usual = ON_A_SPACE if os.environ.get("SYSTEM") == "spaces" else 0.0
    try:
        a_minute = float(given or usual)
    except ValueError:
        a_minute = math.nan
    if not 0 <= a_minute < math.inf:
        raise BadInput(f"{VARIABLE} is a number of requests a minute, 0 for no limit; got {given[:40]!r}")
    return Rate(a_minute=a_minute, burst=BURST) if a_minute else None


def references(suite_cache: SuiteCache) -> Mapping[tuple[str, str], Reference]:
    """Every model's own distributions, by model and pairing."""
    rows = model_queries.calibrations(suite_cache.db).to_dict("records")
    return {(row["model"], row["pairing"]): Reference(**row) for row in rows}
