"""The pipeline of one pass: threads prepare items in order with bounded lookahead, and the model runs in batches.

A shard's batches are fixed before the first one runs. With a given batch size, an interrupted shard that resumes has
the same batches.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from compute.arrays import cumulative
from compute.content import decoding
from compute.types import BadInput, BadItem, LikenessError

# A batch's vectors, their offsets or None, and for each item why it is unusable.
Forward = Callable[[Sequence[Any]], tuple[np.ndarray, np.ndarray | None, Sequence[str]]]
# Overflow in half precision also gives such values for a valid item.
NOT_FINITE = "the model gave values that are not finite (NaN or infinite), which may be the model's fault"
PIECE = 4  # items a thread takes at once: enough for a low overhead, few enough that order does not block others
GROWTH = 8  # factor by which a batch may grow
GAIN = 0.05  # share of an item's time that doubling must save
SPENT = ("out of memory", "alloc_failed", "can't allocate memory", "not enough memory")  # messages of devices


def workers(wanted: int | None = None) -> int:
    """Returns the number of threads that decode and prepare: one per core available to this process, at most 16."""
    return wanted or min(16, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def share_cores() -> None:
    """Makes a model's idle threads sleep instead of spin; must be called before torch is imported.

    Spinning threads occupy cores that decoding or another process needs: with few cores, a batch then takes several
    times as long.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


class BatchSize:
    """The number of items given to a model at once.

    It is doubled from shard to shard, up to `most`, as long as the time per item decreases. An item's vectors differ
    between sizes only by rounding.
    """

    def __init__(self, size: int, *, most: int) -> None:
        self.size, self._most = size, max(size, most)
        self._before = (size, math.inf)  # the last size, and its time per item

    def took(self, seconds: float) -> None:
        """Records the time per item of a shard, in seconds per any unit of its work."""
        if seconds > (1 - GAIN) * self._before[1]:
            self.settle(self._before[0])
        elif 2 * self.size > self._most:
            self.settle(self.size)
        else:
            self._before, self.size = (self.size, seconds), 2 * self.size

    def settle(self, size: int) -> None:
        """Fixes the size from now on."""
        self.size = self._most = size
        self._before = (size, math.inf)


class CpuGate:
    """Makes preparing threads wait while a model runs on the same cores.

    A model on a CPU uses all cores, and its threads wait for one another, so running both at once takes longer than one
    after the other.
    """

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()

    def wait(self) -> None:
        """Waits, in a preparing thread, until no model runs."""
        self._free.wait()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Marks a batch of the model as running."""
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()


def in_order(make: Callable[[int], Any], count: int, *, threads: int, ahead: Callable[[], int]) -> Iterator[Any]:
    """Yields make(0), make(1), ... computed by `threads` threads, at most `ahead()` items before the one taken.

    Exceptions from `make` are raised in turn. Closing the iterator stops the threads after their current item.
    """
    stopped = threading.Event()

    def piece(start: int) -> list[Any]:
        return [make(at) for at in range(start, min(start + PIECE, count)) if not stopped.is_set()]

    waiting: deque[Future[list[Any]]] = deque()
    starts = iter(range(0, count, PIECE))
    with own_threads():
        pool = ThreadPoolExecutor(threads, thread_name_prefix="prepare", initializer=use_one_core)
        try:
            while True:
                while len(waiting) * PIECE < max(ahead(), PIECE) and (start := next(starts, None)) is not None:
                    waiting.append(pool.submit(piece, start))
                if not waiting:
                    return
                yield from waiting.popleft().result()
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


def use_one_core() -> None:
    """Limits a preparing thread to one core: many small tensor operations that use all cores are slower."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@contextlib.contextmanager
def own_threads() -> Iterator[None]:
    """Restores the model's number of threads afterwards: torch stores it per thread, but new threads inherit the last
    value.
    """
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(before)


def ready(modality: str, content: Any, prepare: Callable[[str, Any], Any]) -> Any:
    """Decodes or checks one item's content, then prepares it with the adapter. Raises BadInput."""
    if modality == "text":
        return _prepared(prepare, modality, decoding.checked(content))
    data, text = content if modality == "pair" else (content, None)
    image = data() if callable(data) else decoding.opened(data)
    with decoding.lock(image):
        picture = image if callable(data) else decoding.rgb(image)
        return _prepared(prepare, modality, picture if modality == "image" else (picture, decoding.checked(text)))


def _prepared(prepare: Callable[[str, Any], Any], modality: str, item: Any) -> Any:
    try:
        return prepare(modality, item)
    except ValueError as error:  # raised by image processors for a shape or size
        raise BadInput(f"refused by the model's preprocessing ({error})") from error


def out_of_memory(error: BaseException) -> bool:
    """Returns whether an error means that the device is out of memory, by name and wording, without importing torch."""
    if isinstance(error, MemoryError) or any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in SPENT)


def release() -> None:
    """Frees a dropped model's memory, and the accelerator's cache if any; reference cycles of errors may hold it."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_available():
        torch.cuda.empty_cache()


def halved(sizes: Sequence[int]) -> list[int]:
    """Returns the sizes of the remaining batches after the first was too large: each is cut to at most half of it."""
    half = -(-sizes[0] // 2)
    return [min(half, size - done) for size in sizes for done in range(0, size, half)]


def run(
    *,
    sizes: Sequence[int],
    items: Iterator[Any],
    forward: Callable[[Sequence[Any]], Any],
    recut: Callable[[list[int]], None],
    where: str,
) -> Iterator[tuple[int, list[Any], Any]]:
    """Runs batches of `sizes` through `forward`, and yields each one's size, items and output.

    `items` yields inputs, or a BadItem for an unusable one, which is part of a batch but not run. When the device is
    out of memory, the remaining batches are halved, `recut` is called with their sizes, and the run continues.
    """
    left = deque(sizes)
    waiting: list[Any] = []
    while left:
        waiting += [next(items) for _ in range(left[0] - len(waiting))]
        batch = waiting[: left[0]]
        good = [item for item in batch if not isinstance(item, BadItem)]
        spent = ""
        try:
            output = forward(good) if good else None
        except Exception as error:
            if not out_of_memory(error):
                raise
            spent = str(error)  # not the error itself, which holds the batch's tensors
        if spent:
            release()
            if left[0] == 1:
                raise LikenessError(
                    f"{where} has too little memory for a single item ({spent.splitlines()[0]}). "
                    "Use a larger device, or another dtype"
                )
            left = deque(halved(left))
            recut(list(left))
            continue
        waiting = waiting[left[0] :]
        yield left.popleft(), batch, output


def checked(output: Any, *, count: int, multi: bool, model: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Returns a batch's output as float32 vectors, offsets (None unless `multi`), and which items are finite, (count,)
    bool.
    """
    if multi:
        parts = [np.asarray(part, dtype=np.float32) for part in output]
        finite = np.array([bool(np.isfinite(part).all()) for part in parts])
        offsets = cumulative([len(part) for part in parts])
        vectors = np.concatenate(parts)
    else:
        vectors, offsets = np.ascontiguousarray(output, dtype=np.float32), None
        finite = np.isfinite(vectors).all(axis=tuple(range(1, vectors.ndim)))
    if vectors.ndim != 2 or len(finite) != count:
        raise LikenessError(f"{model}: its adapter gave an array of shape {vectors.shape} for {count} items")
    return vectors, offsets, finite


def not_finite(finite: np.ndarray) -> list[str]:
    """Returns why items are unusable, empty for those that are `finite` (n,) bool."""
    return ["" if usable else NOT_FINITE for usable in finite.tolist()]
