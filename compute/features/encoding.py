"""The pipeline of one pass: items made ready in threads, in order and within bounds, and run in batches.

A shard's batches are fixed before the first is run: of a given size, a shard that is interrupted and taken up again
runs the same ones.
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

# A batch's vectors, their offsets or None, and for each item why it is not usable.
Forward = Callable[[Sequence[Any]], tuple[np.ndarray, np.ndarray | None, Sequence[str]]]
# Half precision that overflows gives such values for a sound item.
NOT_FINITE = "the model gave values that are not finite (NaN or infinite), which may be the model's fault"
PIECE = 4  # items a thread takes at once: enough that handing over costs little, few enough that order holds nobody up
GROWTH = 8  # times its usual size that a batch may grow to
GAIN = 0.05  # the share of an item's time that doubling must save
SPENT = ("out of memory", "alloc_failed", "can't allocate memory", "not enough memory")  # as devices word it


def workers(wanted: int | None = None) -> int:
    """Threads that decode and prepare: one a core this process may use, 16 at most."""
    return wanted or min(16, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def share_cores() -> None:
    """Has a model's idle threads sleep instead of spinning, to be called before anything imports torch.

    Spinning threads hold the cores that decoding, or another process, needs: where cores are short a batch then takes
    several times as long.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


class BatchSize:
    """How many items per model is given at once: doubled from shard to shard, up to `most`, as long as an item takes
    less time; the vectors of an item differ from one size to another by rounding alone."""

    def __init__(self, size: int, *, most: int) -> None:
        self.size, self._most = size, max(size, most)
        self._before = (size, math.inf)  # the last size, and what an item took with it

    def took(self, seconds: float) -> None:
        """Takes what an item of a shard took, in seconds for any unit of its work."""
        if seconds > (1 - GAIN) * self._before[1]:
            self.settle(self._before[0])
        elif 2 * self.size > self._most:
            self.settle(self.size)
        else:
            self._before, self.size = (self.size, seconds), 2 * self.size

    def settle(self, size: int) -> None:
        """Keeps to a size from now onward."""
        self.size = self._most = size
        self._before = (size, math.inf)


class CpuGate:
    """Lets threads that prepare rest while a model runs on the same cores: a model on a CPU takes them all, and its
    threads wait for one another, so that two kinds of work at once take longer than one after the other."""

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()

    def wait(self) -> None:
        """For a preparing thread: returns when no model runs."""
        self._free.wait()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Around a batch of the model."""
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()


def in_order(make: Callable[[int], Any], count: int, *, threads: int, ahead: Callable[[], int]) -> Iterator[Any]:
    """make(0), make(1), ... computed by `threads` threads, at most `ahead()` items before the one taken.

    What `make` raises is raised here, in its turn. Closing the iterator stops the threads after the item in hand.
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
    """For a thread that prepares: many small tensor operations that all want every core are slower."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


@contextlib.contextmanager
def own_threads() -> Iterator[None]:
    """Keeps the number of threads that the model runs with: torch counts them by thread, but starts new ones the same
    way."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(before)


def ready(modality: str, content: Any, prepare: Callable[[str, Any], Any]) -> Any:
    """One item's content decoded or checked, then prepared by the adapter. Raises BadInput."""
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
    except ValueError as error:  # what image processors raise for a shape or size
        raise BadInput(f"refused by the model's preprocessing ({error})") from error


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the device's memory is spent; known by name and wording, without loading torch."""
    if isinstance(error, MemoryError) or any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in SPENT)


def release() -> None:
    """Frees a dropped model's memory, and the accelerator's cache if there is one; cycles of errors may hold it."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_available():
        torch.cuda.empty_cache()


def halved(sizes: Sequence[int]) -> list[int]:
    """Returns the sizes of the batches left after the first one was too large: each cut to half of that or less."""
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
    """Puts batches of `sizes` through `forward`: yields each one's size, its items and what came out.

    `items` yields what is to go in, or a BadItem for what cannot; these are among a batch's items and not put through.
    When the device's memory is spent the batches left are halved, `recut` gets their sizes, and the run continues.
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
            spent = str(error)  # not the error itself: it holds the batch's tensors
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
    """A batch's output as float32 vectors, offsets (None unless `multi`), and which items are finite, (count,) bool."""
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
    """Why items are not usable, empty for those that are `finite` (n,) bool."""
    return ["" if usable else NOT_FINITE for usable in finite.tolist()]
