"""Two sets of images compared in turns of a few seconds, so that others are answered in between.

All of it is in memory and ends with the visitor's session. The files are dropped with the last image, and what stays is
the comparison itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.live import two_sets
from compute.live.decoder.pool import DecoderUnavailable
from compute.live.inputs import Input
from compute.live.models.availability import requests_per_question
from compute.live.two_sets import ROLES, ImagePack, SetsComparison, TwoSets
from compute.types import BadInput, Model
from leaderboard.live.live import Live
from leaderboard.pages.compare.admission import Admission

TURN = 2.0  # seconds of work before it is the others' turn
CHUNK = 16  # images at most that go through the encoder at once
AIM = 0.5  # seconds that a chunk should take: a slow encoder gets fewer images at once
MOST = 4  # comparisons of sets at once, in the whole app: each may hold two files of 50 MB
MOST_OF_SENDER = 2  # of these from one address
ATTEMPTS = 6  # turns in which no image can be decoded, before it is given up
PAUSE = 5.0  # seconds until the next of them
KEY = ("two sets",)  # among the session's results
EXAMPLE = "example"  # instead of a file's key: the drawn sets
GONE = "The comparison is no longer available. Add the sets again"
RUNNING, DONE, STOPPED = "running", "done", "stopped"


@dataclass(frozen=True, kw_only=True)
class SetsProgress:
    """How much of two sets is read and encoded."""

    state: str  # RUNNING | DONE | STOPPED
    done: int  # images
    of: int
    left: float | None  # seconds, about, with the turns of others; None if still unknown
    pause: float = 0.0  # seconds until the next turn makes sense


@dataclass(kw_only=True, eq=False)
class SetsRun:
    """Two sets and the encoder that compares them. Turns run one after another; `stop` may be called at any time."""

    sets: TwoSets | None  # None once it is over
    encoder: Model
    synthetic: bool = False  # the drawn example
    sender: str = ""  # the visitor's address
    clock: Callable[[], float] = time.monotonic
    result: SetsComparison | None = field(init=False, default=None)
    used: float = field(init=False)  # when its last turn began
    _of: int = field(init=False)
    _done: int = 0
    _started: float | None = None  # when the encoder was loaded: after the first image
    _each: float = 0.0  # seconds of an image in the last chunk
    _metrics: Iterator[SetsComparison | None] | None = None  # once all images are encoded
    _failed: int = 0  # turns in a row without a decoder
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.used, self._of = self.clock(), self.sets.of

    @property
    def over(self) -> bool:
        """Whether there is a result, or the visitor stopped."""
        return self._stopped or self.result is not None

    @property
    def nbytes(self) -> int:
        """Bytes of the features; the files are counted as the session's own."""
        sets = self.sets  # which another thread may take away in between
        return sets.nbytes if sets else 100_000

    def turn(self, live: Live, *, seconds: float = TURN) -> SetsProgress:
        """Works for `seconds`, a chunk at least, and returns the progress. Raises BadInput where it cannot go on."""
        with self._lock:
            self.used = started = self.clock()
            pause = 0.0
            while not self.over:
                try:
                    self._step(live)
                except DecoderUnavailable:
                    self._failed += 1
                    if self._failed == ATTEMPTS:
                        self._release()
                        raise
                    pause = PAUSE
                    break
                except Exception:
                    self._release()
                    raise
                if self.clock() - started >= seconds:
                    break
            if self.over:
                self.sets = self._metrics = None
            return self.progress(pause=pause)

    def stop(self) -> SetsProgress:
        """Ends it without a result. A current turn ends after its chunk."""
        self._stopped = True
        if self._lock.acquire(blocking=False):
            self.sets = self._metrics = None
            self._lock.release()
        return self.progress()

    def progress(self, *, pause: float = 0.0) -> SetsProgress:
        """The progress now."""
        state = DONE if self.result else STOPPED if self._stopped else RUNNING
        left = None
        if state == RUNNING and self._started is not None and self._done > 1:
            left = (self.clock() - self._started) / (self._done - 1) * (self._of - self._done)
        return SetsProgress(state=state, done=self._done, of=self._of, left=left, pause=pause)

    def _step(self, live: Live) -> None:
        """A chunk of images, or at the end the metrics."""
        if not self.sets.left:
            self._metrics = self._metrics or self.sets.compare(self.encoder)
            self.result = next(self._metrics)
            return
        most = 1 if self._started is None else max(1, min(CHUNK, int(AIM / max(self._each, 1e-3))))
        began = self.clock()
        taken = self.sets.step(partial(self._embed, live), most=most)
        self._done, self._failed = self._done + taken, 0
        self._each = (self.clock() - began) / taken
        self._started = self._started or self.clock()

    def _embed(self, live: Live, images: Sequence[Input]) -> NDArray[np.float32]:
        features, _ = live.run(self.encoder, partial(two_sets.embed, images=images), images, {})
        return features

    def _release(self) -> None:
        self._stopped, self.sets, self._metrics = True, None, None


class SetRuns:
    """The comparisons of sets: one per session, which ends with it, and a few in the whole app."""

    def __init__(self, live: Live, *, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._live, self._clock = live, clock
        self._admission = Admission(
            most=most,
            most_of_sender=min(MOST_OF_SENDER, most),
            many="comparisons of sets",
            running="running",
            clock=clock,
        )

    def encoders(self) -> list[dict[str, Any]]:
        """The image encoders that are ready, as JSON: those of FID and FD-DINOv2 first, then those of images alone."""
        from compute.engine.generators.backbones import NAMED_DISTANCES

        ready = [
            listed.row
            for listed in self._live.roster.listed()
            if listed.availability.is_ready and can_encode(listed.row)
        ]
        ready.sort(key=lambda row: (row.key not in NAMED_DISTANCES, "embed_text" in row.abilities))
        return [{"key": row.key, "title": row.title} for row in ready]

    def start(self, session: str, files: Mapping[str, Any], key: str, *, sender: str = "") -> SetsRun:
        """Two files of the session, by role, for this encoder to compare; EXAMPLE as either key: the drawn sets.

        `sender` is the visitor's address. Raises BadInput where it cannot.
        """
        results = self._live.uploads.results(session)
        encoder = self._encoder(key)
        keys = {role: str(files.get(role, "")) for role in ROLES}
        synthetic = EXAMPLE in keys.values()
        packs = {
            role: two_sets.drawn(role) if synthetic else self._pack(session, keys[role], role=role, sender=sender)
            for role in ROLES
        }
        run = SetsRun(sets=TwoSets(packs=packs), encoder=encoder, synthetic=synthetic, sender=sender, clock=self._clock)
        self._admission.admit(run, results=results, key=KEY)
        return run

    def current(self, session: str) -> SetsRun:
        """The session's comparison. Raises BadInput where there is none any more."""
        try:
            return self._live.uploads.results(session)[KEY]
        except KeyError:
            raise BadInput(GONE) from None

    def _pack(self, session: str, key: str, *, role: str, sender: str) -> ImagePack:
        return two_sets.packed(self._live.uploads.file(session, key), role=role, owner=sender)

    def _encoder(self, key: str) -> Model:
        row = self._live.roster.row(key)
        availability = self._live.roster.availability(row)
        if not can_encode(row):
            raise BadInput(f"{row.title} does not embed images on this machine. Choose another encoder")
        if not availability.is_ready:
            raise BadInput(f"{row.title} cannot run here: {availability.why or 'its weights are missing'}")
        return row


def can_encode(row: Model) -> bool:
    """Whether the model embeds images on this machine, with one vector an image as far as the catalogue says."""
    return row.kind == "encoder" and "embed_image" in row.abilities and not requests_per_question(row)
