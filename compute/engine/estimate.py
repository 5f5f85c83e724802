"""What a plan would download, encode, compare and store, and how long that takes: nothing is fetched or stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from compute import tasks
from compute.content.items import Column
from compute.content.messages import Question, Reply
from compute.engine.plan import Job, Plan
from compute.engine.workspace import Bench
from compute.features.memory import MemoryStore
from compute.features.passes import DistinctItems, Operation
from compute.features.subject import ABILITY, Subject
from compute.models.loading import size_of_weights
from compute.procedures import probe
from compute.tasks.data import Data, Probe
from compute.tasks.source import Need
from compute.types import CannotDo, LikenessError, Model, Task

# Data that is here is counted exactly, by reading it; above this many bytes that takes minutes, and the catalogue's
# count is given.
EXACT_BELOW = 2 << 30

KINDS = ("image", "text", "pair")  # what is encoded


@dataclass(frozen=True, kw_only=True)
class TaskEstimate:
    """What one task's items take; `loaded` where they were read: then the counts are exact."""

    task: Task
    need: Need
    loaded: Mapping[str, Data] = field(default_factory=dict)
    problem: str = ""

    @property
    def exact(self) -> bool:
        """Whether the items were read, so that the counts are not estimates."""
        return bool(self.loaded)

    @property
    def counts(self) -> Mapping[str, int | None]:
        """Distinct images and texts to encode; None where nothing says before the files are here."""
        if not self.exact:
            return {"image": self.need.images, "text": self.need.texts}
        return {kind: len(_keys(self.columns(), kind)) for kind in ("image", "text")}

    def columns(self, *, joint: bool = False) -> list[Column]:
        """What a model encodes of the items that were read, a probe's training items among them."""
        trained = [probe.training_items(part) for part in self.loaded.values() if isinstance(part, Probe)]
        return tasks.every_column(self.loaded, joint=joint) + trained


@dataclass(frozen=True, kw_only=True)
class ModelEstimate:
    """What one model's missing runs take."""

    model: Model
    weights: int | None  # bytes
    present: bool  # the weights are on this machine
    encoded: Mapping[str, int]  # distinct items that are not encoded yet, by KINDS
    comparisons: int  # distinct ones that are not stored yet
    questions: int
    exact: bool
    unknown: int  # tasks whose items nothing counts
    runs: int
    bytes_each: int = 4  # of a stored number

    rate: float | None = None  # items, comparisons or answers a second, where it is given

    @property
    def embeds(self) -> bool:
        """Whether the model makes vectors."""
        return makes_vectors(self.model)

    @property
    def items(self) -> int:
        """Distinct items to encode."""
        return sum(self.encoded.values())

    @property
    def work(self) -> Mapping[str, int]:
        """What passes through the model, by kind."""
        work = {**self.encoded, "comparison": self.comparisons, "question": self.questions}
        return {kind: count for kind, count in work.items() if count}

    @property
    def seconds(self) -> float | None:
        """How long encoding, comparing and answering takes; None without a rate."""
        if self.rate is None:
            return None if self.work else 0
        return sum(self.work.values()) / self.rate

    @property
    def vectors(self) -> int | None:
        """Bytes of the vectors to store; None where the model says no size, or makes none."""
        return self.items * self.model.embed_dim * self.bytes_each if self.embeds and self.model.embed_dim else None


@dataclass(frozen=True, kw_only=True)
class ItemCounts:
    """What some tasks take, whatever the model: distinct items, as far as they can be counted without the files."""

    images: int
    texts: int
    questions: int  # to a judge, over all tasks that ask
    bytes: int  # of the data sets whose size is known
    unsized: int  # data sets of unknown size
    uncounted: int  # tasks of which nothing says how many items they have


def item_counts(tasks: Iterable[Task], *, needs: Callable[[Task], Need]) -> ItemCounts:
    """The items of tasks that share what they show, each once, and the data sets; nothing is fetched or read."""
    data = []
    for task in tasks:
        with suppress(LikenessError):  # it has published scores only
            data.append(TaskEstimate(task=task, need=replace(needs(task), present=False)))
    sizes = downloads(data).values()
    return ItemCounts(
        images=_not_read(data, "image"),
        texts=_not_read(data, "text"),
        questions=sum(one.need.questions or 0 for one in data),
        bytes=sum(size or 0 for size in sizes),
        unsized=sum(size is None for size in sizes),
        uncounted=sum(not (one.need.images or one.need.texts or one.need.questions) for one in data),
    )


def makes_vectors(row: Model) -> bool:
    """Whether the model makes vectors."""
    return bool({"embed_image", "embed_text"} & set(row.abilities))


def estimate(plan: Plan, *, bench: Bench) -> tuple[list[TaskEstimate], list[ModelEstimate]]:
    """Each task with a run to make, and each model with one; how long it takes follows from the settings' `rate`."""
    first = {job.task.key: job for job in reversed(plan.missing)}
    data = {task.key: _data(first[task.key], bench) for task in plan.tasks if task.key in first}
    work = []
    for row in plan.models:
        jobs = [job for job in plan.of(row) if job.stored is None]
        if jobs:
            work.append(_work(row, jobs, data, bench))
    return list(data.values()), work


def _data(job: Job, bench: Bench) -> TaskEstimate:
    task = job.task
    try:
        need = bench.need(task)
    except LikenessError as error:
        unknown = Need(repo=task.dataset, revision=task.revision, bytes=None, present=False)
        return TaskEstimate(task=task, need=unknown, problem=str(error))
    estimate = TaskEstimate(task=task, need=need)
    if not need.present or (need.bytes or 0) > EXACT_BELOW:
        return estimate
    try:
        return replace(estimate, loaded=bench.load(task, job.task_options))
    except LikenessError as error:
        return replace(estimate, problem=str(error))


def _keys(columns: Iterable[Column], modality: str) -> np.ndarray:
    keys = [column.keys for column in columns if column.modality == modality]
    return np.unique(np.concatenate(keys)) if keys else np.zeros(0, dtype="S32")


def _work(
    row: Model,
    jobs: Sequence[Job],
    data: Mapping[str, TaskEstimate],
    bench: Bench,
) -> ModelEstimate:
    """Everything once, whatever number of tasks shows it: by content where the items were read, else by what the
    catalogue says of tasks that show the same."""
    size, present = size_of_weights(row)
    shown = [data[key] for key in dict.fromkeys(job.task.key for job in jobs)]
    kinds = [kind for kind in KINDS if set(ABILITY[kind]) <= set(row.abilities)]
    encoded, comparisons, questions, unknown = dict.fromkeys(KINDS, 0), 0, 0, 0
    asking = [job for job in jobs if not _encodes(job)]
    embedding = [job for job in jobs if _encodes(job)]
    if embedding:
        columns = _columns(embedding, data)
        apart = [data[key] for key in dict.fromkeys(job.task.key for job in embedding)]
        for kind in kinds:
            keys = _keys(columns, kind)
            encoded[kind] = len(keys) - _stored(row, kind, keys, bench)
        for kind in ("image", "text"):
            if kind in kinds:
                encoded[kind] += _not_read(apart, kind)
        known = [[task.counts.get(kind) for kind in kinds if kind != "pair"] for task in apart if not task.exact]
        unknown = sum(all(count is None for count in counts) for counts in known)
    if asking:
        tallies = _tallies(row, jobs, data)
        keys = np.unique(np.array([key for each in tallies for *_, key in each.new], dtype="S32"))
        comparisons = len(keys) - _stored(row, "comparison", keys, bench)
        questions = sum(len(each.questions) for each in tallies)
        for job in asking:
            if not data[job.task.key].exact:
                need = data[job.task.key].need
                count = need.comparisons if "compare" in row.abilities else need.questions
                comparisons += (count or 0) if "compare" in row.abilities else 0
                questions += (count or 0) if "compare" not in row.abilities else 0
                unknown += count is None
    return ModelEstimate(
        model=row,
        bytes_each=np.dtype(bench.settings.store_dtype).itemsize,
        weights=size,
        present=present,
        encoded=encoded,
        comparisons=comparisons,
        questions=questions,
        exact=all(task.exact for task in shown),
        unknown=unknown,
        runs=len(jobs),
        rate=bench.settings.rate,
    )


def _columns(jobs: Sequence[Job], data: Mapping[str, TaskEstimate]) -> list[Column]:
    """What a model encodes of all items that were read."""
    ways = dict.fromkeys((job.task.key, job.options.get("fusion") == "joint") for job in jobs)
    return [column for key, joint in ways for column in data[key].columns(joint=joint)]


def _not_read(shown: Sequence[TaskEstimate], kind: str) -> int:
    """Items of tasks that were not read: of those that show the same the largest number, less what is counted already
    because another of them was read, and every probe's training items."""
    most: dict[str, int] = {}
    counted_already: dict[str, int] = {}
    trained = 0
    for task in shown:
        name, count = task.need.shared or task.task.key, task.counts.get(kind) or 0
        if task.exact:
            counted_already[name] = max(count, counted_already.get(name, 0))
            continue
        apart = task.need.trained if kind == "image" else 0
        trained += apart
        most[name] = max(count - apart, most.get(name, 0))
    return trained + sum(max(0, count - counted_already.get(name, 0)) for name, count in most.items())


def _encodes(job: Job) -> bool:
    """Whether the run encodes items, instead of comparing them or asking about them."""
    return makes_vectors(job.model) and not job.by_comparison


class Noted(MemoryStore):
    """Notes what is compared, each pair once, and asked; every comparison comes out equal, every answer is the first.

    What is encoded follows from the items alone: a vector raises CannotDo.
    """

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[Question] = []

    def fill(self, model: str, kind: str, operation: Operation, wanted: DistinctItems, missing: np.ndarray) -> None:
        """Runs nothing."""
        if kind != "comparison":
            raise CannotDo(f"{model} is only counted")
        self.new |= {(kind, model, key.decode()): np.zeros(1) for key in wanted.keys.tolist()}

    def replies(self, model: str, questions: Sequence[Question], ask: object) -> list[Reply]:
        """The first option of each question, or the lowest score."""
        self.questions += questions
        return [Reply(item=question.item, text="A" if question.choices else "Score: 1") for question in questions]


def _tallies(row: Model, jobs: Sequence[Job], data: Mapping[str, TaskEstimate]) -> list[Noted]:
    """What the runs ask of a model that compares or answers, where the items were read; a run that would fail asks
    nothing."""
    tallies = []
    for job in jobs:
        if not _encodes(job) and data[job.task.key].exact:
            with suppress(LikenessError):
                noted = Noted()
                for part in data[job.task.key].loaded.values():
                    job.procedure.run(Subject(row, noted), part, job.options)
                tallies.append(noted)
    return tallies


def _stored(row: Model, kind: str, keys: np.ndarray, bench: Bench) -> int:
    """How many of the keys are stored already."""
    try:
        subject = bench.subject(row)
        store, home = subject.store, subject.store.home(row.key, subject.identity)
    except LikenessError:
        return 0  # weights that are not here have encoded nothing
    return int(store.cache(home, kind).has(keys).sum()) if len(keys) else 0


def downloads(data: Sequence[TaskEstimate]) -> dict[tuple[str, str], int | None]:
    """Bytes to fetch of each data set and revision that is not here, each split once; None where not known."""
    here = {(task.need.repo, split) for task in data if task.need.present for split in task.need.parts}
    splits: dict[tuple[str, str], dict[str, int]] = {}
    whole: dict[tuple[str, str], int] = {}
    for need in (task.need for task in data if task.need.repo and not task.need.present):
        key = need.repo, need.revision
        parts = splits.setdefault(key, {})
        for split, count in need.parts.items():
            if (need.repo, split) not in here:
                parts[split] = max(count, parts.get(split, 0))
        if not need.parts:
            whole[key] = max(need.bytes or 0, whole.get(key, 0))
    return {key: max(sum(parts.values()), whole.get(key, 0)) or None for key, parts in splits.items()}
