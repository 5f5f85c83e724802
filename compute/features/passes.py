"""One pass over what a cache is missing: run in batches and stored as it goes, so that the next pass resumes.

Missing items are cut into shards of a fixed number of items, and batches are cut within a shard. With a given batch
size, the vectors therefore do not depend on how many processes encode, or on which process has which shard. Otherwise
the batch size is tuned from shard to shard.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compute.arrays import cumulative
from compute.content.items import Column, unreadable
from compute.features import encoding
from compute.features.store import EmbeddingCache
from compute.progress import Progress
from compute.types import BadItem

SHARD = 2048  # items: seconds of an accelerator's work, and small enough to lose or to wait for
FLUSH_SECONDS = 10.0  # about the maximum work that is lost when a process is killed
FLUSH_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class DistinctItems:
    """The distinct items of several columns of one modality, in order of first occurrence."""

    columns: tuple[Column, ...]
    keys: np.ndarray  # (n,) S32
    column: np.ndarray  # (n,) int, the index of its column
    row: np.ndarray  # (n,) int, the row in that column

    def locate(self, at: int) -> tuple[Column, int]:
        """Returns the column and the row of an item's first occurrence."""
        return self.columns[self.column[at]], int(self.row[at])

    def name(self, at: int) -> str:
        """Returns an item's name within its data set."""
        column, row = self.locate(at)
        return column.name(row)

    def read(self, at: int) -> Any:
        """Returns what a model sees of one item. Raises BadItem, and LikenessError if its file cannot be read."""
        column, row = self.locate(at)
        try:
            return column.content(row)
        except OSError as error:
            raise unreadable(self.name(at), error) from error

    def at(self, keys: np.ndarray) -> np.ndarray:
        """Returns the position (n,) int of each key, -1 if it is not wanted."""
        return positions(keys, among=self.keys, order=self._order)

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.keys)


def positions(keys: np.ndarray, *, among: np.ndarray, order: np.ndarray | None = None) -> np.ndarray:
    """Returns the position (n,) int of each key in `among`, whose keys are distinct; -1 if absent. `order` sorts
    `among`, if known.
    """
    if not len(among):
        return np.full(len(keys), -1)
    order = np.argsort(among) if order is None else order
    nearest = order[np.minimum(np.searchsorted(among, keys, sorter=order), len(order) - 1)]
    return np.where(among[nearest] == keys, nearest, -1)


def distinct(columns: Sequence[Column]) -> DistinctItems:
    """Returns the distinct items of the columns."""
    keys = np.concatenate([np.zeros(0, dtype="S32"), *(np.asarray(column.keys, dtype="S32") for column in columns)])
    first = np.sort(np.unique(keys, return_index=True)[1])
    starts = cumulative([len(column) for column in columns])
    column = np.searchsorted(starts, first, side="right") - 1
    return DistinctItems(columns=tuple(columns), keys=keys[first], column=column, row=first - starts[column])


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """The result of one shard. `bad`: key, name and problem of each unusable item."""

    items: int
    bad: tuple[tuple[bytes, str, str], ...] = ()
    effective: int = 0  # batch size; if memory ran out, the smallest that was used


# The processing of each item. The first function, of (wanted, position, content), runs in threads and raises BadItem.
# The second converts its results to vectors, offsets or None, and why each of the n items is unusable, empty for usable
# ones.
Steps = tuple[Callable[[DistinctItems, int, Any], Any], encoding.Forward]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A pass over items of one kind. `steps` loads the model, if any."""

    title: str  # `openai/clip-vit-base-patch32, image`
    unit: str
    steps: Callable[[], Steps]
    batch: encoding.BatchSize
    threads: int
    skip_bad: bool
    where: str  # the device, for messages
    turns: bool = False  # the model runs on the preparing cores
    by_length: bool = False  # groups texts of similar length to reduce padding


# Encodes shards elsewhere, each given by its keys (n,) S32, and yields the result of each.
Elsewhere = Callable[[Sequence[np.ndarray]], Generator[Encoded]]


@dataclass(frozen=True, kw_only=True)
class Pass:
    """The statistics of one pass, in items and seconds.

    `batch` is the planned size; `effective` is what memory allowed, or what was found to be faster.
    """

    title: str
    wanted: int
    stored: int
    encoded: int
    bad: int
    batch: int
    effective: int
    seconds: float


def plan(wanted: DistinctItems, missing: np.ndarray, *, by_length: bool) -> list[np.ndarray]:
    """Returns the keys of the missing items (n,) bool of `wanted`, in shards of SHARD.

    They are in order of occurrence, in which a data set's files are read. Texts are sorted by length, the longest
    first, so that a batch that is too large for the device fails immediately.
    """
    new = np.flatnonzero(missing)
    if by_length:
        lengths = np.array([len(wanted.read(int(position))) for position in new])
        new = new[np.lexsort((wanted.keys[new], -lengths))]
    return np.split(wanted.keys[new], range(SHARD, len(new), SHARD))


def run(
    operation: Operation,
    *,
    cache: EmbeddingCache,
    wanted: DistinctItems,
    missing: np.ndarray,
    progress: Progress,
    bad: dict[bytes, str],
    elsewhere: Elsewhere | None = None,
) -> Pass:
    """Encodes the missing items (n,) bool of `wanted` and stores them, in this process or `elsewhere`. The caller must
    hold the cache's lock.

    Raises BadItem at the first unusable item, unless the operation skips them: then `bad` maps its key to the reason.
    What was encoded is stored, however the pass ends.
    """
    began = time.perf_counter()
    shards = plan(wanted, missing, by_length=operation.by_length)
    count = skipped = 0
    batch = effective = operation.batch.size
    there = int((~missing).sum())
    with progress.bar(operation.title, total=len(missing), done=there, unit=operation.unit) as advance:
        if elsewhere is None:
            encoded = encode(operation, cache=cache, wanted=wanted, shards=shards, advance=advance)
        else:
            encoded = elsewhere(shards)
        with closing(encoded):
            for done in encoded:
                for key, item, problem in done.bad:
                    if not operation.skip_bad:
                        raise BadItem(item, problem, key=key)
                    bad[key] = problem
                count, skipped = count + done.items, skipped + len(done.bad)
                effective = done.effective if effective >= batch else min(effective, done.effective)
                if elsewhere is not None:
                    advance(done.items)
    done = Pass(
        title=operation.title,
        wanted=len(missing),
        stored=there,
        encoded=count - skipped,
        bad=skipped,
        batch=batch,
        effective=effective,
        seconds=round(time.perf_counter() - began, 3),
    )
    cache.merge()
    return done


def encode(
    operation: Operation,
    *,
    cache: EmbeddingCache,
    wanted: DistinctItems,
    shards: Sequence[np.ndarray],
    advance: Callable[[int], None] = lambda more: None,
) -> Generator[Encoded]:
    """Encodes and stores shards, and yields the result of each. The next shard is prepared while one is encoded.

    It ends with the shard of the first unusable item, unless the operation skips them; everything encoded before is
    stored. When the device is out of memory, the remaining batches of a shard are halved. The next shard starts at the
    usual size, which then no longer grows, and the next pass at the smallest.
    """
    prepare, run_batch = operation.steps()
    usual = least = operation.batch.size
    clock = [0.0, 0]  # seconds, and items or, for texts, their lengths
    order = wanted.at(np.concatenate(shards))
    turns = encoding.CpuGate()
    reading = threading.Lock()  # a column need not support reading from several threads

    def make(position: int) -> Any:
        at = int(order[position])
        try:
            with reading:
                content = wanted.read(at)
            turns.wait()
            return prepare(wanted, at, content)
        except BadItem as error:
            return error

    def forward(batch: Sequence[Any]) -> Any:
        with turns.running() if operation.turns else nullcontext():
            began = time.perf_counter()
            output = run_batch(batch)
        clock[0] += time.perf_counter() - began
        clock[1] += sum(map(len, batch)) if operation.by_length else len(batch)
        return output

    def ahead() -> int:
        return operation.batch.size + 4 * operation.threads * encoding.PIECE

    with closing(encoding.in_order(make, len(order), threads=operation.threads, ahead=ahead)) as items:
        for shard in shards:
            clock[:] = 0.0, 0
            done = _encode_shard(operation, cache, wanted, shard, items, forward, advance)
            if done.effective < operation.batch.size:
                operation.batch.settle(max(usual, done.effective))
            elif done.items >= operation.batch.size and clock[1]:
                operation.batch.took(clock[0] / clock[1])
            least = min(least, done.effective)
            yield done
            if done.bad and not operation.skip_bad:
                return
    if least < usual:
        operation.batch.settle(least)


def _encode_shard(
    operation: Operation,
    cache: EmbeddingCache,
    wanted: DistinctItems,
    keys: np.ndarray,
    items: Iterator[Any],
    forward: Callable[[Sequence[Any]], Any],
    advance: Callable[[int], None],
) -> Encoded:
    """Encodes one shard of `encode`, given by its keys; `items` yields its prepared items.

    Bad items are reported only after the shard is stored.
    """
    unsaved, effective, count = _Unsaved(cache), operation.batch.size, 0
    bad: list[BadItem] = []

    def refuse(error: BadItem) -> BadItem:
        bad.append(error)
        if not operation.skip_bad:
            raise error
        return error

    def recut(left: list[int]) -> None:
        nonlocal effective
        effective = left[0]

    try:
        for size, batch, output in encoding.run(
            sizes=[min(effective, len(keys) - start) for start in range(0, len(keys), effective)],
            items=(refuse(item) if isinstance(item, BadItem) else item for item in items),
            forward=forward,
            recut=recut,
            where=operation.where,
        ):
            if output is not None:
                good = keys[count : count + size][[not isinstance(item, BadItem) for item in batch]]
                for row, problem in unsaved.add(good, *output):
                    refuse(BadItem(wanted.name(int(wanted.at(good[[row]])[0])), problem, key=bytes(good[row])))
            count += size
            unsaved.flush(if_due=True)
            advance(size)
    except BadItem as error:
        if error not in bad:
            raise
    finally:
        unsaved.flush()
    return Encoded(
        items=len(keys), bad=tuple((error.key, error.item, error.problem) for error in bad), effective=effective
    )


class _Unsaved:
    """Batches of a shard that have not been written.

    They are written as a part of the shard when they are large or old enough, and the rest at its end. The end of the
    pass merges the parts.
    """

    def __init__(self, cache: EmbeddingCache) -> None:
        self._cache = cache
        self._clear()

    def _clear(self) -> None:
        self._waiting: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]] = []
        self._bytes, self._since = 0, time.perf_counter()

    def add(
        self, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None, problems: Sequence[str]
    ) -> list[tuple[int, str]]:
        """Takes the usable part of a batch; returns the rows of the rest with the reasons."""
        usable = np.array([not problem for problem in problems], dtype=bool)
        if usable.all():
            self._take(keys, vectors, offsets)
        elif usable.any() and offsets is None:
            self._take(keys[usable], vectors[usable], None)
        elif usable.any():
            counts = np.diff(offsets)
            self._take(keys[usable], vectors[np.repeat(usable, counts)], cumulative(counts[usable]))
        return [(int(row), problems[row]) for row in np.flatnonzero(~usable)]

    def _take(self, keys: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None) -> None:
        self._waiting.append((keys, vectors, offsets))
        self._bytes += vectors.nbytes

    def flush(self, *, if_due: bool = False) -> None:
        """Writes pending batches; with `if_due`, only if they are large or old enough."""
        is_due = self._bytes >= FLUSH_BYTES or time.perf_counter() - self._since >= FLUSH_SECONDS
        if if_due and not is_due:
            return
        batches = self._waiting
        self._clear()  # first, so that data that cannot be written is not tried again while the error propagates
        if batches:
            counts = [np.diff(offsets) for _, _, offsets in batches if offsets is not None]
            self._cache.append(
                np.concatenate([keys for keys, _, _ in batches]),
                np.concatenate([vectors for _, vectors, _ in batches]),
                cumulative(np.concatenate(counts)) if counts else None,
            )
