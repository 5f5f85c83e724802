"""Which models get the ready comparisons: asked of the models that are ready here, once each, while nobody waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from compute.analysis.calibrated import MATCHING, UNRELATED
from compute.live.examples import COMPARISONS, ReadyQuestion
from compute.live.question import LiveQuestion
from compute.types import Model
from leaderboard.live.calibrated import CalibratedAnswer

if TYPE_CHECKING:
    from compute.live.models.roster import Listed, Roster

RIGHT, WRONG, OUTSIDE = "right", "wrong", "outside"
SILENT, FAILED = "silent", "failed"  # nothing that is right or wrong; no answer at all
BORROWED = "Which models get them is not computed on this host: each answer would borrow a GPU."
log = logging.getLogger(__name__)


class ReadyAnswers:
    """The verdicts by comparison and model. `ask(question, row)` gives one model's answer.

    With `is_borrowed` no model is asked: nobody's quota of a lent GPU is spent on a question that nobody asked.
    """

    def __init__(
        self,
        *,
        roster: Callable[[], Roster],
        ask: Callable[[LiveQuestion, Model], CalibratedAnswer],
        comparisons: Sequence[ReadyQuestion] = COMPARISONS,
        is_borrowed: bool = False,
    ) -> None:
        self._roster, self._ask, self._comparisons = roster, ask, comparisons
        self._is_borrowed = is_borrowed
        self._verdicts: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def records(self) -> dict[str, Any]:
        """As JSON: whether all models have answered, and of each comparison which got it; has the others asked.

        `download` is the one model that a click adds, where none that is ready got it; `why` says why none is asked.
        """
        if self._is_borrowed:
            return {"done": True, "comparisons": {}, "why": BORROWED}
        listed = {ready.key: self._listed(ready) for ready in self._comparisons}
        missing = list(self._missing(listed))
        if missing:
            self._start(missing)
        return {
            "why": "",
            "done": not missing,
            "comparisons": {ready.key: self._record(ready, listed[ready.key]) for ready in self._comparisons},
        }

    def wait(self, seconds: float) -> None:
        """Until the models have answered, at most so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _listed(self, ready: ReadyQuestion) -> list[Listed]:
        return self._roster().listed(mode=ready.mode, kinds=ready.live.kinds)

    def _missing(self, listed: dict[str, list[Listed]]) -> Iterator[tuple[ReadyQuestion, Model]]:
        """One model after another, so that each is loaded once."""
        asked = [(ready, each.row) for ready in self._comparisons for each in listed[ready.key] if each.first]
        order = list(dict.fromkeys(row.key for _, row in asked))
        for ready, row in sorted(asked, key=lambda pair: order.index(pair[1].key)):
            if (ready.key, row.key) not in self._verdicts:
                yield ready, row

    def _start(self, missing: Sequence[tuple[ReadyQuestion, Model]]) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, args=(missing,), daemon=True, name="ready")
                self._thread.start()

    def _run(self, missing: Sequence[tuple[ReadyQuestion, Model]]) -> None:
        for ready, row in missing:
            try:
                self._verdicts[ready.key, row.key] = verdict(ready, self._ask(ready.live, row))
            except Exception:
                log.exception("The ready comparison %s could not be asked of %s", ready.key, row.key)
                self._verdicts[ready.key, row.key] = FAILED

    def _record(self, ready: ReadyQuestion, listed: Sequence[Listed]) -> dict[str, Any]:
        asked = [each for each in listed if each.first]
        verdicts = {each.row.key: self._verdicts.get((ready.key, each.row.key), "") for each in asked}
        titles = {
            kind: [each.row.title for each in asked if verdicts[each.row.key] == kind]
            for kind in (RIGHT, WRONG, OUTSIDE, SILENT, FAILED)
        }
        done = all(verdicts.values())
        return titles | {"done": done, "download": _offer(listed) if done and not titles[RIGHT] else None}


def verdict(ready: ReadyQuestion, calibrated: CalibratedAnswer) -> str:
    """Whether a model got a ready comparison: RIGHT, WRONG, SILENT, FAILED, or OUTSIDE what it was calibrated on, where
    even a right answer may be luck.

    Of a pair that matches: RIGHT where it scores as matching pairs, WRONG where as unrelated ones; without a percentile
    by the nearer of their medians; without a distribution RIGHT where it is nearer than every unrelated example.
    """
    answer = calibrated.answer
    if answer.problem:
        return FAILED
    if calibrated.is_outside:
        return OUTSIDE
    if ready.expected is not None:
        return SILENT if answer.pick is None else RIGHT if answer.pick == ready.expected else WRONG
    if calibrated.standings:
        return {MATCHING: RIGHT, UNRELATED: WRONG}.get(calibrated.standings[0].reading, SILENT)
    if calibrated.direction:
        return {MATCHING: RIGHT, UNRELATED: WRONG}[calibrated.direction[0]]
    if answer.controls is None:
        return SILENT
    below, total = answer.controls
    return RIGHT if below == total else WRONG


def _offer(listed: Sequence[Listed]) -> dict[str, Any] | None:
    """The model that one click downloads, where it can answer and is not ready."""
    from compute.live.models.roster import DEFAULT

    offered = next((each for each in listed if each.row.key == DEFAULT and not each.availability.is_ready), None)
    if offered is None:
        return None
    return {
        "key": offered.row.key,
        "title": offered.row.title,
        "bytes": offered.availability.bytes,
        "state": offered.availability.state,
    }
