"""Hands shards to worker processes, each the next one when it has finished the last; a lost worker's shard to another.

Where workers run, and how they are started, is for the process pool or for Ray.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol

from compute.engine.workers.crew import WorkersFailed
from compute.engine.workers.worker import Failure
from compute.features.passes import Encoded, PlannedShard
from compute.types import LikenessError

LOSSES = 3  # workers lost over the same shard, or in a row before they could start: it is no accident then
WAITING = 60.0  # seconds without a worker after which it is reported
SLOW = 10  # times the median of an item: a shard that takes so long, and WAITING, is reported


class Hand(Protocol):
    """One worker process, seen from here."""

    def submit(self, method: str, *arguments: Any) -> Future:
        """Has a method of its Worker called. Where the process is no more, the future raises one of `lost`, or this."""

    def name(self) -> str:
        """Which process it is, for a person who looks for it. Does not wait for it."""

    def stop(self) -> None:
        """Ends the process."""


def name(answer: Future) -> str:
    """What a worker answered to `where`, if it has."""
    return answer.result() if answer.done() and not answer.exception() else "its process is not known"


class HandedEncoders:
    """The processes that encode for one model; started when first needed."""

    def __init__(
        self,
        start: Sequence[Callable[[], Hand]],
        *,
        lost: tuple[type[Exception], ...],
        report: Callable[[str], None],
    ) -> None:
        """`start` has a function for each worker, which starts it, and starts it anew where it was lost."""
        self._start, self._lost, self._report = start, lost, report
        self._starting: dict[Future, tuple[Hand, Callable[[], Hand]]] = {}
        self._idle: deque[tuple[Hand, Callable[[], Hand]]] = deque()
        self._running: dict[Future, tuple[int, Hand, Callable[[], Hand]]] = {}
        self._settings: dict[str, Any] = {}
        self._failed_starts = 0
        # Why the model cannot be loaded: no worker can, and none is started for it again.
        self._problem: Failure | None = None

    # ---- what a subject asks

    def settings(self) -> dict[str, Any]:
        """What the model says of itself, from the first worker that has loaded it. Raises LikenessError, WorkersFailed
        of lost workers."""
        if self._problem:
            raise _error(self._problem)
        self._begin()
        while not self._idle:
            self._watch(wait(self._starting, timeout=WAITING, return_when=FIRST_COMPLETED).done)
        return self._settings

    def encode(self, modality: str, shards: Sequence[PlannedShard], batch: int) -> Generator[Encoded]:
        """What became of each shard, in the order in which they end. Raises LikenessError, WorkersFailed of lost
        workers.

        A pass that is closed, or fails, waits until its workers have ended their shards: the next one begins with idle
        workers, and plans without what these have stored. One that is interrupted waits for nobody.
        """
        try:
            yield from self._encode(modality, shards, batch)
        except (Exception, GeneratorExit):
            self._end_running()
            raise

    def _encode(self, modality: str, shards: Sequence[PlannedShard], batch: int) -> Generator[Encoded]:
        self._begin()
        waiting = deque(range(len(shards)))
        running = self._running
        losses: Counter[int] = Counter()
        begun: set[int] = set()  # shards that a worker could not end: parts of them may be stored
        full = ""
        clock = _Clock()
        while waiting or running:
            while waiting and self._idle:
                at = waiting.popleft()
                hand, start = self._idle.popleft()
                try:
                    future = hand.submit("encode", modality, shards[at], batch, at in begun)
                except self._lost as error:  # since its last call, so not over these items
                    waiting.appendleft(at)
                    self._begin_anew(start, error, when="while they wait for a call")
                    continue
                running[future] = at, hand, start
                clock.begin(future)
            if not running and not self._starting:
                raise LikenessError(full or "No worker is left")
            done = wait([*running, *self._starting], timeout=WAITING, return_when=FIRST_COMPLETED).done
            self._watch(done & self._starting.keys(), quiet=bool(running))
            for future in done & running.keys():
                at, hand, start = running.pop(future)
                seconds = clock.end(future)
                try:
                    result = future.result()
                except self._lost as error:
                    losses[at] += 1
                    begun.add(at)
                    if losses[at] == LOSSES:
                        raise WorkersFailed(
                            f"{LOSSES} workers were lost over the same {len(shards[at].keys):,} items, the last by: "
                            f"{_line(error)}. Give each worker more memory, or a smaller --batch-size"
                        ) from error
                    self._report(f"A worker was lost; another encodes its {len(shards[at].keys):,} items")
                    waiting.appendleft(at)
                    self._begin_one(start)
                    continue
                if isinstance(result, Encoded):
                    self._failed_starts = 0
                    self._idle.append((hand, start))
                    clock.encoded(result.items, seconds=seconds)
                    yield result
                elif result.is_full:
                    full = result.reason
                    self._report(f"A worker stops: {full}")
                    hand.stop()
                    begun.add(at)
                    waiting.appendleft(at)
                else:
                    self._idle.append((hand, start))
                    raise _error(result)
            for future, (at, hand, _) in running.items():
                items = int(shards[at].pending.sum())
                if clock.is_slow(future, items=items):
                    several = "s" if items > 1 else ""
                    self._report(
                        f"A worker has had a shard of {items:,} item{several} for {clock.seconds(future):,.0f} s, over "
                        f"{SLOW} times as long as others take: {hand.name()}. If it hangs, end that process: another "
                        "worker encodes them"
                    )

    def attempt(self, job: Any, encoding: Any) -> Any:
        """`Worker.attempt` by the first worker that is free, by another where it is lost. Raises LikenessError."""
        for left in reversed(range(LOSSES)):
            self.settings()
            hand, start = self._idle.popleft()
            try:
                result = hand.submit("attempt", job, encoding).result()
            except self._lost as error:
                self._begin_one(start)
                if not left:
                    raise WorkersFailed(
                        f"{LOSSES} workers were lost over this run, the last by: {_line(error)}"
                    ) from error
            else:
                self._failed_starts = 0
                self._idle.append((hand, start))
                return result

    def stop(self) -> None:
        """Ends all processes."""
        hands = [hand for hand, _ in (*self._idle, *self._starting.values())]
        for hand in [*hands, *(hand for _, hand, _ in self._running.values())]:
            hand.stop()
        for some in (self._idle, self._starting, self._running):
            some.clear()

    # ---- within

    def _begin(self) -> None:
        if not self._idle and not self._starting:
            self._failed_starts = 0
            for start in self._start:
                self._begin_one(start)

    def _end_running(self) -> None:
        """Waits for the shards of a pass that has ended. What became of them is stored; no other pass needs it."""
        while self._running:
            done = wait(self._running, timeout=WAITING, return_when=FIRST_COMPLETED).done
            if not done:
                self._report(f"Waiting for {len(self._running)} workers to end their shards")
            for future in done:
                _, hand, start = self._running.pop(future)
                try:
                    result = future.result()
                except self._lost:
                    self._begin_one(start)
                    continue
                if isinstance(result, Failure) and result.is_full:
                    hand.stop()
                else:
                    self._idle.append((hand, start))

    def _begin_anew(self, start: Callable[[], Hand], error: Exception, *, when: str) -> None:
        """Starts a worker that was lost without work. Raises WorkersFailed where that goes on and on."""
        self._failed_starts += 1
        if self._failed_starts >= LOSSES + len(self._start):
            raise WorkersFailed(f"Workers are lost {when}: {_line(error)}") from error
        self._begin_one(start)

    def _begin_one(self, start: Callable[[], Hand]) -> None:
        hand = start()
        self._starting[hand.submit("settings")] = hand, start

    def _watch(self, started: set[Future], *, quiet: bool = False) -> None:
        """Takes the workers that have started. Raises LikenessError where the model cannot be loaded, and where worker
        after worker is lost before it has."""
        if not started and not quiet and not self._idle:
            self._report("Waiting for a worker to start")
        for future in started:
            hand, start = self._starting.pop(future)
            try:
                result = future.result()
            except self._lost as error:
                self._begin_anew(start, error, when="before they have started")
                continue
            if isinstance(result, Failure):
                self._problem = result
                raise _error(result)
            self._settings = result
            self._idle.append((hand, start))


class _Clock:
    """How long the shards of a pass take, by what their items take."""

    def __init__(self) -> None:
        self._began: dict[Future, float] = {}
        self._of_item: list[float] = []  # seconds, of each shard that was encoded
        self._slow: set[Future] = set()

    def begin(self, shard: Future) -> None:
        """A worker has the shard from now on."""
        self._began[shard] = time.monotonic()

    def end(self, shard: Future) -> float:
        """The worker has ended it, whatever became of it; the seconds since it began."""
        self._slow.discard(shard)
        return time.monotonic() - self._began.pop(shard)

    def encoded(self, items: int, *, seconds: float) -> None:
        """A shard with so many items that were not stored yet took so long."""
        if items:
            self._of_item.append(seconds / items)

    def seconds(self, shard: Future) -> float:
        """Since it began."""
        return time.monotonic() - self._began[shard]

    def is_slow(self, shard: Future, *, items: int) -> bool:
        """Whether a shard of so many items takes many times as long as those that have ended. True once a shard."""
        if shard in self._slow or shard.done() or not self._of_item or self.seconds(shard) < WAITING:
            return False
        if self.seconds(shard) < SLOW * items * statistics.median(self._of_item):
            return False
        self._slow.add(shard)
        return True


def _error(failure: Failure) -> LikenessError:
    return WorkersFailed(failure.reason) if failure.is_unlike else LikenessError(failure.reason)


def _line(error: Exception) -> str:
    first, *others = str(error).strip().splitlines() or [type(error).__name__]
    # Of an error of the worker's own, the traceback follows, which ends in the reason.
    return others[-1].strip() if others and "error raised in its creation task" in first else first
