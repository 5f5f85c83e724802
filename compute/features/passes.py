"""One pass over what a shelf lacks: planned in writing, run in batches, stored as it goes, taken up where it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import cumulative
from compute.content.items import Column, unreadable
from compute.features import encoding
from compute.features.store import Shelf
from compute.progress import Progress, duration
from compute.types import BadItem

FLUSH_SECONDS = 10.0  # at most about this much work is lost when a process is killed
FLUSH_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class DistinctItems:
    """The distinct items of several columns of one modality, in the order in which they are first met."""

    columns: tuple[Column, ...]
    keys: np.ndarray  # (n,) S32
    column: np.ndarray  # (n,) int, which of the columns
    row: np.ndarray  # (n,) int, and where in it

    def locate(self, at: int) -> tuple[Column, int]:
        """The column and the row where an item is first met."""
        return self.columns[self.column[at]], int(self.row[at])

    def name(self, at: int) -> str:
        """An item's name within its data set."""
        column, row = self.locate(at)
        return column.name(row)

    def read(self, at: int) -> Any:
        """What a model is shown of one item. Raises BadItem, LikenessError when its file cannot be read."""
        column, row = self.locate(at)
        try:
            return column.content(row)
        except OSError as error:
            raise unreadable(self.name(at), error) from error

    def at(self, keys: np.ndarray) -> np.ndarray:
        """The position of each key, -1 where it is not wanted."""
        return positions(keys, among=self.keys)


def positions(keys: np.ndarray, *, among: np.ndarray) -> np.ndarray:
    """(n,) int: where each key stands in `among`, whose keys are distinct; -1 where it does not."""
    if not len(among):
        return np.full(len(keys), -1)
    order = np.argsort(among)
    nearest = order[np.minimum(np.searchsorted(among[order], keys), len(order) - 1)]
    return np.where(among[nearest] == keys, nearest, -1)


def distinct(columns: Sequence[Column]) -> DistinctItems:
    """Every content once."""
    keys = np.concatenate([np.zeros(0, dtype="S32"), *(np.asarray(column.keys, dtype="S32") for column in columns)])
    first = np.sort(np.unique(keys, return_index=True)[1])
    starts = cumulative([len(column) for column in columns])
    column = np.searchsorted(starts, first, side="right") - 1
    return DistinctItems(columns=tuple(columns), keys=keys[first], column=column, row=first - starts[column])


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What is done to each item. `make(wanted, position, content)` runs in threads and raises BadItem; `forward` turns
    what it made into vectors, offsets or None, and why each of the n items is unusable, empty for the usable."""

    title: str  # `openai/clip-vit-base-patch32, image`
    unit: str
    make: Callable[[DistinctItems, int, Any], Any]
    forward: Callable[[Sequence[Any]], tuple[np.ndarray, np.ndarray | None, Sequence[str]]]
    batch: int
    threads: int
    skip_bad: bool
    where: str  # the device, for messages
    turns: bool = False  # the model runs on the cores that prepare
    by_length: bool = False  # texts of like length together: less padding
    remember_bad: bool = True


@dataclass(frozen=True, kw_only=True)
class Pass:
    """What one pass did, in items and seconds. `batch` is the size planned, `effective` what memory allowed."""

    title: str
    wanted: int
    stored: int
    encoded: int
    bad: int
    batch: int
    effective: int
    seconds: float

    def line(self, unit: str) -> str:
        """The pass in one line for a log."""
        rate = f"{self.encoded / self.seconds:.3g}/s" if self.seconds else ""
        left_out = f", {self.bad:,} left out" if self.bad else ""
        smaller = f", batch {self.effective} instead of {self.batch}" if self.effective < self.batch else ""
        return (
            f"{self.title}: {self.encoded:,} {unit}s in {duration(self.seconds)} ({rate}), "
            f"{self.stored:,} were stored{left_out}{smaller}"
        )


def plan(
    shelf: Shelf, wanted: DistinctItems, missing: np.ndarray, *, batch: int, by_length: bool
) -> tuple[np.ndarray, list[int]]:
    """The order of the missing items, as positions in `wanted`, and the sizes of the batches.

    The batches of an unfinished pass come first, as they were cut then (less what is no longer wanted); what is new
    follows in the order in which it is met, texts by length, the longest first, so that a batch that is too large for
    the device shows at once.
    """
    keys, cuts = shelf.plan()
    at = wanted.at(keys)
    of_batch = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    pending = (at >= 0) & missing[at] if len(at) else np.zeros(0, dtype=bool)
    old = at[pending]
    sizes = np.bincount(of_batch[pending], minlength=1)
    rest = missing.copy()
    rest[old] = False
    new = np.flatnonzero(rest)
    if by_length and len(new):
        lengths = np.array([len(wanted.read(int(position))) for position in new])
        new = new[np.lexsort((wanted.keys[new], -lengths))]
    new_sizes = [min(batch, len(new) - start) for start in range(0, len(new), batch)]
    return np.concatenate([old, new]).astype(np.int64), [*sizes[sizes > 0].tolist(), *new_sizes]


def run(operation: Operation, *, shelf: Shelf, wanted: DistinctItems, missing: np.ndarray, progress: Progress) -> Pass:
    """Encodes what is missing (n,) bool of `wanted` and stores it. To be called under the shelf's lock.

    Raises BadItem at the first item that cannot be used, unless the operation skips them. However the pass ends,
    what was encoded before is stored.
    """
    began = time.perf_counter()
    order, sizes = plan(shelf, wanted, missing, batch=operation.batch, by_length=operation.by_length)
    shelf.write_plan(wanted.keys[order], cumulative(sizes))
    unsaved = _Unsaved(shelf, wanted.keys)
    turns = encoding.CpuGate()
    reading = threading.Lock()  # a column need not bear being read by several threads at once
    count = bad = 0
    effective = operation.batch

    def make(position: int) -> Any:
        at = int(order[position])
        try:
            with reading:
                content = wanted.read(at)
            turns.wait()
            return operation.make(wanted, at, content)
        except BadItem as error:
            return error

    def refuse(error: BadItem) -> BadItem:
        nonlocal bad
        if operation.remember_bad:
            shelf.remember_bad(error.key, error.item, error.problem)
        if not operation.skip_bad:
            raise error
        bad += 1
        return error

    def forward(batch: Sequence[Any]) -> Any:
        with turns.running() if operation.turns else nullcontext():
            return operation.forward(batch)

    def recut(left: list[int]) -> None:
        nonlocal effective
        effective = left[0]
        unsaved.flush()  # first: what the new plan no longer holds must be on the disk
        shelf.write_plan(wanted.keys[order[count:]], cumulative(left))

    ahead = max(sizes, default=0) + 4 * operation.threads * encoding.PIECE
    items = encoding.in_order(make, len(order), threads=operation.threads, ahead=ahead)
    watched = (refuse(item) if isinstance(item, BadItem) else item for item in items)
    there = int((~missing).sum())
    with progress.bar(operation.title, total=len(missing), done=there, unit=operation.unit) as advance, closing(items):
        try:
            for size, batch, output in encoding.run(
                sizes=sizes, items=watched, forward=forward, recut=recut, where=operation.where
            ):
                if output is not None:
                    good = [not isinstance(item, BadItem) for item in batch]
                    for position, problem in unsaved.add(order[count : count + size][good], *output):
                        refuse(BadItem(wanted.name(position), problem, key=bytes(wanted.keys[position])))
                count += size
                unsaved.flush(if_due=True)
                advance(size)
        finally:
            unsaved.flush()
    shelf.drop_plan()
    done = Pass(
        title=operation.title,
        wanted=len(missing),
        stored=there,
        encoded=count - bad,
        bad=bad,
        batch=operation.batch,
        effective=effective,
        seconds=round(time.perf_counter() - began, 3),
    )
    shelf.note_pass(**vars(done))
    shelf.merge()
    progress.say(done.line(operation.unit))
    return done


class _Unsaved:
    """Whole batches that wait to be written as one shard."""

    def __init__(self, shelf: Shelf, keys: np.ndarray) -> None:
        self._shelf, self._keys = shelf, keys
        self._clear()

    def _clear(self) -> None:
        self._waiting: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]] = []
        self._bytes, self._since = 0, time.perf_counter()

    def add(
        self, positions: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None, problems: Sequence[str]
    ) -> list[tuple[int, str]]:
        """Takes a batch: what is usable of it. Returns the positions of the rest and why, once the batch is on disk: an
        unusable item that were remembered before would be left out of its batch by a pass resumed in between."""
        usable = np.array([not problem for problem in problems], dtype=bool)
        if usable.all():
            self._take(positions, vectors, offsets)
            return []
        if usable.any():
            if offsets is None:
                self._take(positions[usable], vectors[usable], None)
            else:
                counts = np.diff(offsets)
                self._take(positions[usable], vectors[np.repeat(usable, counts)], cumulative(counts[usable]))
        self.flush()
        return [(int(positions[at]), problems[at]) for at in np.flatnonzero(~usable)]

    def _take(self, positions: np.ndarray, vectors: np.ndarray, offsets: np.ndarray | None) -> None:
        self._waiting.append((self._keys[positions], vectors, offsets))
        self._bytes += vectors.nbytes

    def flush(self, *, if_due: bool = False) -> None:
        """Writes what waits; `if_due`: only once it is large or old enough."""
        if if_due and self._bytes < FLUSH_BYTES and time.perf_counter() - self._since < FLUSH_SECONDS:
            return
        batches = self._waiting
        self._clear()  # first: what cannot be written is not tried again while the failure is on its way up
        if batches:
            counts = [np.diff(offsets) for _, _, offsets in batches if offsets is not None]
            self._shelf.append(
                np.concatenate([keys for keys, _, _ in batches]),
                np.concatenate([vectors for _, vectors, _ in batches]),
                cumulative(np.concatenate(counts)) if counts else None,
            )
