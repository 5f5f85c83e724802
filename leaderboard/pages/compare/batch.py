"""Many pairs at once: a visitor's table scored a few pairs a turn, so that others are answered in between.

All of it is in memory, goes with the visitor's session, and is let go of as soon as the last pair is scored.
"""

from __future__ import annotations

import logging
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakSet

from compute.types import BadInput, LikenessError, Model
from leaderboard.live.calibrated import References
from leaderboard.live.live import FAILED, MOST_MODELS, Live
from leaderboard.pages.compare.batch_table import SHOWN, Cell, Line, cell

if TYPE_CHECKING:
    from compute.live.batch import Batch, Row

TURN = 2.0  # seconds of work before others have theirs
CHUNK = 10  # pairs a model is asked before the next one: two that do not fit into memory together change places less
MOST = 6  # tables at work at once, in the whole app
IDLE = 120.0  # seconds without a turn after which a table gives way to another
KEPT = 24_000_000  # bytes of encodings a table keeps
CELL = 500  # bytes of an answer with its words, about
NAME = ("batch", "table")  # of the work in the session's memory
GONE = "The table is no longer here. Add it again"
RUNNING, DONE, STOPPED = "running", "done", "stopped"
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a table has come."""

    state: str  # RUNNING | DONE | STOPPED
    done: int  # pairs that all models have been asked
    of: int
    share: float  # 0..1, of all answers
    left: float | None  # seconds, about, with the turns of others; None where nothing tells yet
    problems: int  # pairs so far that lack a score


@dataclass(kw_only=True, eq=False)
class Work:
    """One table and the models that are asked. CpuGate are taken one after another; `stop` may come at any time."""

    batch: Batch | None  # None once it is over
    models: tuple[Model, ...]
    clock: Callable[[], float] = time.monotonic
    rows: tuple[Row, ...] = field(init=False)
    used: float = field(init=False)  # when its last turn began
    _started: float = field(init=False)
    _left: Iterator[tuple[int, Model]] = field(init=False)
    _next: tuple[int, Model] | None = field(init=False)
    _stopped: bool = False
    _cells: dict[tuple[int, str], Cell] = field(default_factory=dict)  # by place of the row and model
    _refused: dict[int, str] = field(default_factory=dict)  # rows that no model can be asked
    _kept: dict[str, dict] = field(default_factory=dict)  # what models made of inputs, by model
    _spent: dict[str, list[float]] = field(default_factory=dict)  # seconds of each answer, by model
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.rows = self.batch.rows
        self.used = self._started = self.clock()
        self._left = iter(
            [
                (place, model)
                for start in range(0, len(self.rows), CHUNK)
                for model in self.models
                for place in range(start, min(start + CHUNK, len(self.rows)))
            ]
        )
        self._next = next(self._left, None)

    @property
    def over(self) -> bool:
        return self._stopped or self._next is None

    @property
    def nbytes(self) -> int:
        """Bytes of the text it holds, with all answers that it will have; encodings come and go and are bounded."""
        words = [text for row in self.rows for text in (row.name, row.first, row.second, row.problem)]
        return sum(map(sys.getsizeof, words)) + CELL * len(self.rows) * len(self.models)

    def turn(self, live: Live, references: References, *, seconds: float = TURN) -> Progress:
        """Asks for so many seconds, at least one model about one pair, and tells how far it is."""
        with self._lock:
            self.used = began = self.clock()
            while not self.over:
                self._step(live, references)
                if self.clock() - began >= seconds:
                    break
            if self.over:
                self._release()
            return self.progress()

    def stop(self) -> Progress:
        """Ends the work; what is finished stays. A turn that is being taken ends after its pair."""
        self._stopped = True
        if self._lock.acquire(blocking=False):
            self._release()
            self._lock.release()
        return self.progress()

    def progress(self) -> Progress:
        """How far it is now."""
        reached = [place for place in range(len(self.rows)) if self._reached(place)]
        state = STOPPED if self._stopped and self._next else DONE if self._next is None else RUNNING
        missing = self._missing()
        return Progress(
            state=state,
            done=sum(self._whole(place) for place in reached),
            of=len(self.rows),
            share=1 - len(missing) / len(self.rows) / len(self.models),
            left=self._estimate(missing) if state == RUNNING else None,
            problems=sum(bool(self._problem(place)) for place in reached),
        )

    def lines(self) -> list[Line]:
        """The pairs that were reached, with what each model gave."""
        return [
            Line(
                row=row,
                cells=tuple(self._cells.get((place, model.key), Cell()) for model in self.models),
                problem=self._problem(place),
            )
            for place, row in enumerate(self.rows)
            if self._reached(place)
        ]

    def _step(self, live: Live, references: References) -> None:
        """One model about one pair. The next one is due only when this one's cell is there."""
        place, model = self._next
        began = self.clock()
        if place not in self._refused:
            try:
                asked = self.batch.asked(self.rows[place])
                kept = self._kept.setdefault(model.key, {})
                (answer,) = live.judge(asked, [model], kept=kept, calibrated=(model.key,))
                self._cells[place, model.key] = cell(answer, model, asked, references)
                self._spent.setdefault(model.key, []).append(self.clock() - began)
            except LikenessError as error:
                self._refused[place] = str(error)
            except Exception:
                log.exception("A pair of a table failed")
                self._refused[place] = FAILED
        self._next = next(self._left, None)
        if self._next and self._next[1] is not model and sum(map(_bytes, self._kept.values())) > KEPT:
            self._kept.clear()

    def _release(self) -> None:
        """Drops all but what the results repeat: one sign more than they show, so that they say it is shortened."""
        self.batch, self._kept = None, {}
        self.rows = tuple(
            replace(row, first=row.first[: SHOWN + 1], second=row.second[: SHOWN + 1]) for row in self.rows
        )

    def _whole(self, place: int) -> bool:
        return place in self._refused or all((place, model.key) in self._cells for model in self.models)

    def _reached(self, place: int) -> bool:
        return place in self._refused or any((place, model.key) in self._cells for model in self.models)

    def _problem(self, place: int) -> str:
        if place in self._refused:
            return self._refused[place]
        found: dict[str, list[str]] = {}
        for model in self.models:
            given = self._cells.get((place, model.key))
            why = given.problem if given else "Stopped before it was asked" if self._stopped else ""
            if why:
                found.setdefault(why, []).append(model.key)
        return "; ".join(f"{', '.join(keys)}: {why}" for why, keys in found.items())

    def _missing(self) -> list[str]:
        """The models of all answers that are still to come, one each."""
        return [
            model.key
            for place in range(len(self.rows))
            if place not in self._refused
            for model in self.models
            if (place, model.key) not in self._cells
        ]

    def _estimate(self, missing: Sequence[str]) -> float | None:
        """Seconds left: what each model took in the middle, times the pairs it has before it, times what waiting adds.

        None before any model has answered twice: its first answer waits until it is loaded.
        """
        usual = {key: statistics.median(seconds[1:]) for key, seconds in self._spent.items() if len(seconds) > 1}
        if not usual:
            return None
        other = statistics.fmean(usual.values())
        left = sum(usual.get(key, other) for key in missing)
        worked = sum(sum(seconds) for seconds in self._spent.values())
        return left * max(1.0, (self.clock() - self._started) / max(worked, 1e-6))


class Batches:
    """The tables at work: one a session, which takes it along when it ends, and a few in the whole app."""

    def __init__(self, live: Live, *, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._live, self._most, self._clock = live, most, clock
        self._works: WeakSet[Work] = WeakSet()
        self._lock = threading.Lock()

    def start(self, session: str, file: str, keys: Sequence[str]) -> Work:
        """Reads a table that the session holds, to ask these models. Raises BadInput where it cannot."""
        models = self._models(keys)
        memory = self._live.uploads.memory(session)
        work = Work(batch=self._live.table(session, file), models=models, clock=self._clock)
        with self._lock:
            if before := memory.get(NAME):
                before.stop()
            others = [one for one in self._works if not one.over]
            for one in sorted(others, key=lambda one: one.used)[: max(0, len(others) - self._most + 1)]:
                if self._clock() - one.used < IDLE:
                    raise BadInput(f"{len(others)} tables of other visitors are at work now. Try again in a minute")
                one.stop()
            self._works.add(work)
            memory[NAME] = work
        return work

    def at_work(self, session: str) -> Work:
        """The session's table. Raises BadInput where there is none, or none any more."""
        try:
            return self._live.uploads.memory(session)[NAME]
        except KeyError:
            raise BadInput(GONE) from None

    def _models(self, keys: Sequence[str]) -> tuple[Model, ...]:
        models = tuple(self._live.row(key) for key in dict.fromkeys(keys))
        if not models:
            raise BadInput("No model is chosen: tick at least one above")
        if len(models) > MOST_MODELS:
            raise BadInput(f"{len(models)} models are more than can be asked at once: choose at most {MOST_MODELS}")
        for model in models:
            state = self._live.state(model)
            if state.state == "download":
                raise BadInput(
                    f"{model.title} is not on this machine yet. Compare one pair with it first, which "
                    "fetches it, or untick it"
                )
            if state.state != "ready":
                raise BadInput(f"{model.title} cannot be asked here: {state.why}. Untick it")
        return models


def _bytes(kept: dict) -> int:
    return sum(getattr(value, "nbytes", 0) for value in kept.values())
