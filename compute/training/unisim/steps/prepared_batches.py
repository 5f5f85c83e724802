"""The batches of the steps to come: their images read, decoded and made ready for the towers while a step runs.

On a CPU in threads, as the cores are the model's too. For CUDA in processes: threads that prepare wait for one another,
for Python's lock, and the thread that starts the device's work waits for them. On 16 cores beside an NVIDIA H200, 16
threads made 915 images of 512 x 512 pixels a second for a CLIP ViT-B/32 that trains on 3,400; a single thread, 267.
"""

from __future__ import annotations

import copy
import multiprocessing
import shutil
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import processes as child_processes
from compute.features import encoding
from compute.training.unisim.data import drawn_groups
from compute.training.unisim.data.examples import Content, ExampleSet, TrainingExample, batches
from compute.types import LikenessError

if TYPE_CHECKING:
    import torch

    from compute.training.unisim.plan import TuningPlan
    from compute.training.unisim.trainable import DualEncoder

AHEAD = 2  # steps whose images threads prepare while one runs
SHARED = Path("/dev/shm")  # where processes leave what they prepared; a container may have 64 MB of it
SHARE = 0.5  # of what is free there, at most
STEPS_OF_A_PROCESS = 2  # one that waits to be taken, one in the making


@dataclass(frozen=True, kw_only=True)
class PreparedExample:
    """An example as the towers take it: of reference and alternatives an image's tensors, or a text."""

    contents: tuple[Any, Any, Any]
    preferred: int


Batch = dict[str, list[PreparedExample]]  # by task


def distinct_images(batch: Mapping[str, Sequence[PreparedExample]]) -> list[Mapping[str, torch.Tensor]]:
    """The tensors of each image of a batch; one that examples share comes once."""
    contents = (each for part in batch.values() for example in part for each in example.contents)
    return list({id(each): each for each in contents if not isinstance(each, str)}.values())


def batches_ahead(
    base: DualEncoder,
    sets: Sequence[ExampleSet],
    plan: TuningPlan,
    *,
    start: int,
    end: int,
    compare: Callable[[Content], None] | None = None,
    processes: int | None = None,
) -> Iterator[Batch]:
    """The batches of the steps from `start` to before `end`; what examples share of a step is one object.

    `compare` is called with every image before its step is given, and what it raises is raised here. `processes`: how
    many prepare, 0 for threads; default: as many as there are cores and shared memory for, where the base is on CUDA.
    Raises LikenessError where a process that prepares was killed.
    """
    source = _BatchSource(base=base, sets=sets, plan=plan, compare=compare)
    if processes is None and start < end and base.hardware.device.startswith("cuda"):
        (first,) = _in_threads(source, start, start + 1)
        start, processes = start + 1, min(_affordable(first), end - start - 1)
        yield first
        del first
    yield from _in_processes(source, start, end, count=processes) if processes else _in_threads(source, start, end)


@dataclass(frozen=True, kw_only=True)
class _BatchSource:
    base: DualEncoder
    sets: Sequence[ExampleSet]
    plan: TuningPlan
    compare: Callable[[Content], None] | None

    def examples(self, number: int) -> dict[str, list[TrainingExample]]:
        return batches(self.sets, batch_size=self.plan.batch_size, seed=self.plan.seed, step=number)

    def prepared(self, content: Content) -> Any:
        if content.modality == "text":
            return content.text()
        if self.compare is not None:
            self.compare(content)
        return self.base.prepared(content.image())


def _distinct(examples: Mapping[str, Sequence[TrainingExample]]) -> list[Content]:
    every = (each for part in examples.values() for example in part for each in example.contents)
    return list({id(each): each for each in every}.values())


# ---- in threads


def _in_threads(source: _BatchSource, start: int, end: int) -> Iterator[Batch]:
    pending: deque[Future[tuple[dict[str, list[TrainingExample]], list[Future[dict[int, Any]]]]]] = deque()
    pool = ThreadPoolExecutor(encoding.workers(), thread_name_prefix="examples", initializer=encoding.use_one_core)
    chooser = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")  # examples may have to be drawn first

    def prepared(part: Sequence[Content]) -> dict[int, Any]:
        return {id(content): source.prepared(content) for content in part}

    def submitted(number: int) -> tuple[dict[str, list[TrainingExample]], list[Future[dict[int, Any]]]]:
        examples = source.examples(number)
        contents = _distinct(examples)
        starts = range(0, len(contents), encoding.PIECE)
        return examples, [pool.submit(prepared, contents[at : at + encoding.PIECE]) for at in starts]

    with encoding.own_threads():
        try:
            for number in range(start, end + AHEAD):
                if number < end:
                    pending.append(chooser.submit(submitted, number))
                if number >= start + AHEAD or number >= end:
                    if not pending:
                        return
                    examples, futures = pending.popleft().result()
                    ready = {name: value for future in futures for name, value in future.result().items()}
                    yield {task: [_as_prepared(example, ready) for example in part] for task, part in examples.items()}
        finally:
            chooser.shutdown(wait=True, cancel_futures=True)  # it fills the other pool
            pool.shutdown(wait=False, cancel_futures=True)


def _as_prepared(example: TrainingExample, ready: Mapping[int, Any]) -> PreparedExample:
    """`ready`: what each content is made into, by its id."""
    return PreparedExample(contents=tuple(ready[id(each)] for each in example.contents), preferred=example.preferred)


# ---- in processes


@dataclass(frozen=True, kw_only=True)
class _StackedBatch:
    """A step's batch as a process sends it: its images' tensors stacked, in shared memory."""

    contents: Sequence[str | int]  # a text, or an image's place among the stacked
    images: Mapping[str, torch.Tensor]
    examples: Mapping[str, Sequence[tuple[tuple[int, ...], int]]]  # places among `contents`, and the preferred one


class _BatchDataset:
    """The batches by step, for torch's DataLoader. Errors are returned, because it would rewrite their messages."""

    def __init__(self, source: _BatchSource) -> None:
        self.source = source

    def __getitem__(self, number: int) -> _StackedBatch | LikenessError:
        import torch

        try:
            examples = self.source.examples(number)
            distinct = _distinct(examples)
            prepared = [self.source.prepared(content) for content in distinct]
        except LikenessError as error:
            return _sendable(error)
        place = {id(content): at for at, content in enumerate(distinct)}
        images = [value for value in prepared if not isinstance(value, str)]
        stacked = {name: torch.stack([image[name] for image in images]) for name in images[0]} if images else {}
        for tensor in stacked.values():
            # Here, where a lack of room is an error: the loader shares in a thread whose errors are lost.
            tensor.share_memory_()
        numbers = iter(range(len(images)))
        return _StackedBatch(
            contents=[value if isinstance(value, str) else next(numbers) for value in prepared],
            images=stacked,
            examples={
                task: [(tuple(place[id(each)] for each in example.contents), example.preferred) for example in part]
                for task, part in examples.items()
            },
        )


def _sendable(error: LikenessError) -> LikenessError:
    """The error itself, or its message alone where it cannot be made again from what is sent of it."""
    try:
        return copy.copy(error)  # as it is made again where it is received
    except TypeError:
        return LikenessError(str(error))


def _in_processes(source: _BatchSource, start: int, end: int, *, count: int) -> Iterator[Batch]:
    """Each process prepares a step at a time; the steps come in their order."""
    from torch.utils.data import DataLoader

    loader = DataLoader(
        _BatchDataset(source),
        batch_size=None,
        sampler=range(start, end),
        num_workers=count,
        prefetch_factor=STEPS_OF_A_PROCESS,
        worker_init_fn=_begin,
        multiprocessing_context="fork",  # what reads a data set cannot be sent; no process touches the device
    )
    with _own_signals():
        sent = iter(loader)
    try:
        while True:
            try:
                batch = next(sent, None)
            except RuntimeError as error:
                batch = _killed(error)
            if batch is None:
                return
            if isinstance(batch, LikenessError):
                raise batch
            yield _unstacked(batch)
    finally:
        del sent  # which ends the processes, also while an error's traceback has this frame


def _killed(error: RuntimeError) -> LikenessError:
    """What is said of a process that was killed; any other error is raised, which states where in the process it was:
    without the frames of this one, which would keep the loader and so its processes."""
    if "DataLoader worker (pid" not in str(error):
        raise error.with_traceback(None)
    return LikenessError(
        "A process that prepares training images was killed, perhaps because memory ran out. Run the same command "
        "again to go on"
    )


@contextmanager
def _own_signals() -> Iterator[None]:
    """Takes back the loader's handler of killed children, which would raise in the middle of a step. That one was
    killed is seen when its batch is due."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where the loader sets none
        return
    before = signal.getsignal(signal.SIGCHLD)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before)


def _begin(_: int) -> None:
    child_processes.follow_parent()
    drawn_groups.draw_here()


def _unstacked(batch: _StackedBatch) -> Batch:
    images = [dict(zip(batch.images, tensors, strict=True)) for tensors in zip(*batch.images.values(), strict=True)]
    contents = [each if isinstance(each, str) else images[each] for each in batch.contents]
    return {
        task: [
            PreparedExample(contents=tuple(contents[at] for at in places), preferred=preferred)
            for places, preferred in part
        ]
        for task, part in batch.examples.items()
    }


def _affordable(batch: Batch) -> int:
    """Processes whose steps, as large as this one, fit into shared memory; one core is left to this process."""
    if "fork" not in multiprocessing.get_all_start_methods() or not SHARED.is_dir():
        return 0
    size = sum(tensor.nbytes for image in distinct_images(batch) for tensor in image.values())
    room = SHARE * shutil.disk_usage(SHARED).free / (STEPS_OF_A_PROCESS * max(size, 1))
    return max(0, min(encoding.workers() - 1, int(room)))
