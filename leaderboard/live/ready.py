"""Which models get the ready comparisons: asked of the models that are ready here, once each, while nobody waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from compute.analysis.calibrated import MATCHING, UNRELATED
from compute.live.examples import COMPARISONS, ReadyQuestion
from compute.live.pool import borrows_gpu
from compute.live.questions import Answer
from compute.live.roster import DEFAULT, Listed
from compute.types import Model
from leaderboard.live.live import Live

RIGHT, WRONG, OUTSIDE = "right", "wrong", "outside"
SILENT, FAILED = "silent", "failed"  # nothing that is right or wrong; no answer at all
log = logging.getLogger(__name__)


class ReadyAnswers:
    """The verdicts by comparison and model. A model that no visitor has asked leaves memory after its answers.

    Models that borrow a GPU are not asked: nobody's quota is spent on a question that nobody asked.
    """

    def __init__(self, live: Live, *, comparisons: Sequence[ReadyQuestion] = COMPARISONS) -> None:
        self._live, self._comparisons = live, comparisons
        self._verdicts: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def records(self) -> dict[str, Any]:
        """As JSON: whether all models have answered, and of each comparison which got it; has the others asked.

        `download` is the one model that a click adds, where none that is ready got it.
        """
        roster = self._live.roster
        listed = {
            ready.key: [
                each for each in roster.listed(mode=ready.mode, kinds=ready.live.kinds) if not borrows_gpu(each.row)
            ]
            for ready in self._comparisons
        }
        asked = [(ready, each.row) for ready in self._comparisons for each in listed[ready.key] if each.first]
        order = list(dict.fromkeys(row.key for _, row in asked))
        missing = [(ready, row) for ready, row in asked if (ready.key, row.key) not in self._verdicts]
        missing.sort(key=lambda pair: order.index(pair[1].key))  # one model after another: each is loaded once
        if missing:
            with self._lock:
                if self._thread is None or not self._thread.is_alive():
                    self._thread = threading.Thread(target=self._run, args=(missing,), daemon=True, name="ready")
                    self._thread.start()
        return {
            "done": not missing,
            "comparisons": {ready.key: self._record(ready, listed[ready.key]) for ready in self._comparisons},
        }

    def _run(self, missing: Sequence[tuple[ReadyQuestion, Model]]) -> None:
        for row, questions in groupby(missing, key=itemgetter(1)):
            for ready, _ in questions:
                try:
                    (answer,) = self._live.answers(ready.live, [row], cache={})
                    self._verdicts[ready.key, row.key] = verdict(ready, answer)
                except Exception:
                    log.exception("The ready comparison %s could not be asked of %s", ready.key, row.key)
                    self._verdicts[ready.key, row.key] = FAILED
            if row.key not in self._live.wanted:
                self._live.pool.drop(row)

    def _record(self, ready: ReadyQuestion, listed: Sequence[Listed]) -> dict[str, Any]:
        asked = [each for each in listed if each.first]
        verdicts = {each.row.key: self._verdicts.get((ready.key, each.row.key), "") for each in asked}
        titles = {
            kind: [each.row.title for each in asked if verdicts[each.row.key] == kind]
            for kind in (RIGHT, WRONG, OUTSIDE, SILENT, FAILED)
        }
        done, download = all(verdicts.values()), None
        offered = next((each for each in listed if each.row.key == DEFAULT and not each.availability.is_ready), None)
        if done and not titles[RIGHT] and offered:
            download = {
                "key": offered.row.key,
                "title": offered.row.title,
                "bytes": offered.availability.bytes,
                "state": offered.availability.state,
            }
        return titles | {"done": done, "download": download}


def verdict(ready: ReadyQuestion, answer: Answer) -> str:
    """Whether a model got a ready comparison: RIGHT, WRONG, SILENT, FAILED, or OUTSIDE what it was calibrated on, where
    even a right answer may be luck.

    Of a pair that matches: RIGHT where it scores as matching pairs, WRONG where as unrelated ones; without a
    distribution RIGHT where it is nearer than every unrelated example.
    """
    if answer.problem:
        return FAILED
    if answer.is_outside:
        return OUTSIDE
    if ready.expected is not None:
        return SILENT if answer.pick is None else RIGHT if answer.pick == ready.expected else WRONG
    if answer.reading:
        return {MATCHING: RIGHT, UNRELATED: WRONG}.get(answer.reading, SILENT)
    if answer.controls is None:
        return SILENT
    below, total = answer.controls
    return RIGHT if below == total else WRONG
