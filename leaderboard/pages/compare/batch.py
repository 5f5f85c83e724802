"""Many pairs at once: a visitor's table scored a few pairs per turn, so that others are answered in between.

All of it is in memory, ends with the visitor's session, and is dropped as soon as the last pair is scored.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from compute.analysis.domain import Calibrations
from compute.live.batch import PREVIEW, Batch, PairRow
from compute.types import BadInput, Model
from leaderboard.live.live import JudgeAllowance, Live
from leaderboard.pages.compare.admission import Admission
from leaderboard.pages.compare.batch_table import PairScore, ScoredPair, pair_score
from leaderboard.web.errors import explain

TURN = 2.0  # seconds of work before it is the others' turn
CHUNK = 10  # pairs per model before the next one: two that do not fit into memory together alternate less
MOST = 8  # tables being scored at once, in the whole app
MOST_OF_SENDER = 6  # of these from one address, so that others find room
CACHE_BYTES = 24_000_000  # of encodings, for one table
SCORE_BYTES = 500  # of a score with its words, about
KEY = ("batch", "table")  # among the session's results
GONE = "The table is no longer available. Add it again"
RUNNING, DONE, STOPPED = "running", "done", "stopped"


@dataclass(frozen=True, kw_only=True)
class ScoringProgress:
    """How much of a table is scored."""

    state: str  # RUNNING | DONE | STOPPED
    done: int  # pairs that all models have scored
    of: int
    share: float  # 0..1, of all answers
    left: float | None  # seconds, about, with the turns of others; None if still unknown
    problems: int  # pairs so far without a score
    pause: float  # seconds until a judge may be asked again; a turn before that does nothing


@dataclass(kw_only=True, eq=False)
class PairScoring:
    """One table and the models that score it. Turns run one after another; `stop` may be called at any time."""

    batch: Batch | None  # None once it is over
    models: tuple[Model, ...]
    sender: str = ""  # the visitor's address
    judges: JudgeAllowance | None = None  # counts the visitor's questions to judges; without it none is asked
    clock: Callable[[], float] = time.monotonic
    rows: tuple[PairRow, ...] = field(init=False)
    used: float = field(init=False)  # when its last turn began
    _started: float = field(init=False)
    _left: Iterator[tuple[int, Model]] = field(init=False)
    _next: tuple[int, Model] | None = field(init=False)
    _stopped: bool = False
    _pause: float = 0.0
    _scores: dict[tuple[int, str], PairScore] = field(default_factory=dict)  # by index of the row and model
    _refused: dict[int, str] = field(default_factory=dict)  # rows that no model can score, with the reason
    _cache: dict[str, dict] = field(default_factory=dict)  # encodings of the inputs, by model
    _spent: dict[str, list[float]] = field(default_factory=dict)  # seconds of each answer, by model
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.rows = self.batch.rows
        self.used = self._started = self.clock()
        self._left = iter(
            [
                (index, model)
                for start in range(0, len(self.rows), CHUNK)
                for model in self.models
                for index in range(start, min(start + CHUNK, len(self.rows)))
            ]
        )
        self._next = next(self._left, None)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to score, or the visitor stopped."""
        return self._stopped or self._next is None

    @property
    def nbytes(self) -> int:
        """Bytes of its texts and of all scores to come; encodings are bounded separately."""
        texts = [text for row in self.rows for text in (row.name, row.first, row.second, row.problem)]
        return sum(map(sys.getsizeof, texts)) + SCORE_BYTES * len(self.rows) * len(self.models)

    def turn(self, live: Live, calibrations: Calibrations, *, seconds: float = TURN) -> ScoringProgress:
        """Scores for `seconds`, at least one pair with one model unless a judge must wait, and returns the progress."""
        with self._lock:
            self.used = started = self.clock()
            while not self.over:
                self._pause = self._wait()
                if self._pause:
                    break
                self._step(live, calibrations)
                if self.clock() - started >= seconds:
                    break
            if self.over:
                self._release()
            return self.progress()

    def stop(self) -> ScoringProgress:
        """Ends the scoring; finished pairs stay. A current turn ends after its pair."""
        self._stopped = True
        if self._lock.acquire(blocking=False):
            self._release()
            self._lock.release()
        return self.progress()

    def progress(self) -> ScoringProgress:
        """The progress now."""
        reached = [index for index in range(len(self.rows)) if self._is_reached(index)]
        state = STOPPED if self._stopped and self._next else DONE if self._next is None else RUNNING
        missing = self._missing()
        return ScoringProgress(
            state=state,
            done=sum(self._is_done(index) for index in reached),
            of=len(self.rows),
            share=1 - len(missing) / len(self.rows) / len(self.models),
            left=self._estimate(missing) if state == RUNNING else None,
            problems=sum(bool(self._problem(index)) for index in reached),
            pause=self._pause,
        )

    def pairs(self) -> list[ScoredPair]:
        """The pairs sent to any model, with each model's result."""
        return [
            ScoredPair(
                row=row,
                scores=tuple(self._scores.get((index, model.key), PairScore()) for model in self.models),
                problem=self._problem(index),
            )
            for index, row in enumerate(self.rows)
            if self._is_reached(index)
        ]

    def _wait(self) -> float:
        """Seconds until the next pair may be scored; counts it where a judge scores it."""
        from compute.live.models.availability import requests_per_question

        index, model = self._next
        if self.judges is None or index in self._refused or not requests_per_question(model):
            return 0.0
        return self.judges()

    def _step(self, live: Live, calibrations: Calibrations) -> None:
        """Scores one pair with one model; `_next` moves on once the result is stored."""
        index, model = self._next
        started = self.clock()
        if index not in self._refused:
            try:
                question = self.batch.question(self.rows[index])
                cache = self._cache.setdefault(model.key, {})
                judges = self.judges and (lambda: 0.0)  # it was counted before
                (answer,) = live.answers(
                    question, [model], cache=cache, calibrations=calibrations, controls=False, judges=judges
                )
                self._scores[index, model.key] = pair_score(answer, model, question)
                self._spent.setdefault(model.key, []).append(self.clock() - started)
            except Exception as error:
                self._refused[index] = explain(error, action="A pair of a table")
        self._next = next(self._left, None)
        if self._next and self._next[1] is not model and sum(map(_bytes, self._cache.values())) > CACHE_BYTES:
            self._cache.clear()

    def _release(self) -> None:
        """Drops all but the texts in the results: one character more than they show, which marks them as shortened."""
        self.batch, self._cache = None, {}
        self.rows = tuple(
            replace(row, first=row.first[: PREVIEW + 1], second=row.second[: PREVIEW + 1]) for row in self.rows
        )

    def _is_done(self, index: int) -> bool:
        return index in self._refused or all((index, model.key) in self._scores for model in self.models)

    def _is_reached(self, index: int) -> bool:
        return index in self._refused or any((index, model.key) in self._scores for model in self.models)

    def _problem(self, index: int) -> str:
        if index in self._refused:
            return self._refused[index]
        problems: dict[str, list[str]] = {}
        for model in self.models:
            score = self._scores.get((index, model.key))
            problem = score.problem if score else "Stopped before its turn" if self._stopped else ""
            if problem:
                problems.setdefault(problem, []).append(model.key)
        return "; ".join(f"{', '.join(keys)}: {problem}" for problem, keys in problems.items())

    def _missing(self) -> list[str]:
        """The models of all scores still to come, one entry per score."""
        return [
            model.key
            for index in range(len(self.rows))
            if index not in self._refused
            for model in self.models
            if (index, model.key) not in self._scores
        ]

    def _estimate(self, missing: Sequence[str]) -> float | None:
        """Seconds left: each model's median time, times its remaining pairs, times the share of waiting for others.

        None before any model has answered twice: its first answer includes loading it.
        """
        typical = {key: statistics.median(seconds[1:]) for key, seconds in self._spent.items() if len(seconds) > 1}
        if not typical:
            return None
        other = statistics.fmean(typical.values())
        left = sum(typical.get(key, other) for key in missing)
        worked = sum(sum(seconds) for seconds in self._spent.values())
        return left * max(1.0, (self.clock() - self._started) / max(worked, 1e-6))


class Tables:
    """The tables being scored: one per session, which ends with it, and a few in the whole app."""

    def __init__(
        self,
        live: Live,
        *,
        most: int = MOST,
        most_of_sender: int = MOST_OF_SENDER,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._live, self._clock = live, clock
        self._admission = Admission(
            most=most, most_of_sender=most_of_sender, many="tables", running="being scored", clock=clock
        )

    def start(
        self,
        session: str,
        file: str,
        keys: Sequence[str],
        *,
        sender: str = "",
        judges: JudgeAllowance | None = None,
    ) -> PairScoring:
        """Reads a table of the session for these models to score. Without `judges` none that asks the host's endpoint.

        `sender` is the visitor's address. Raises BadInput where it cannot.
        """
        models = self._models(keys)
        results = self._live.uploads.results(session)
        batch = self._live.table(session, file)
        scoring = PairScoring(batch=batch, models=models, sender=sender, judges=judges, clock=self._clock)
        self._admission.admit(scoring, results=results, key=KEY)
        return scoring

    def current(self, session: str) -> PairScoring:
        """The session's table. Raises BadInput where there is none any more."""
        try:
            return self._live.uploads.results(session)[KEY]
        except KeyError:
            raise BadInput(GONE) from None

    def _models(self, keys: Sequence[str]) -> tuple[Model, ...]:
        models = tuple(self._live.models(keys))
        for model in models:
            availability = self._live.roster.availability(model)
            if availability.is_downloadable:
                raise BadInput(
                    f"{model.title} is not on this machine yet. Compare one pair with it first, which downloads it, "
                    "or untick it"
                )
            if not availability.is_ready:
                raise BadInput(f"{model.title} cannot run here: {availability.why}. Untick it")
        return models


def _bytes(cache: dict) -> int:
    return sum(getattr(value, "nbytes", 0) for value in cache.values())
