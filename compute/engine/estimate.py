"""Estimates what a plan would download, encode, compare and store, without fetching or storing anything."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from compute import tasks
from compute.content.items import Column
from compute.engine.plan import Job, Plan
from compute.engine.workspace import Bench
from compute.features.subject import ABILITY
from compute.models.model_rows import size_of_weights
from compute.procedures import probe
from compute.tasks.data import Data, Probe
from compute.tasks.source import Need
from compute.types import LikenessError, Model, Task

# Local data is counted exactly by reading it. Above this many bytes reading takes minutes, so the catalogue's count is
# used.
EXACT_BELOW = 2 << 30


@dataclass(frozen=True, kw_only=True)
class TaskEstimate:
    """The items of one task; if `loaded`, the counts are exact."""

    task: Task
    need: Need
    loaded: Mapping[str, Data] = field(default_factory=dict)
    problem: str = ""

    @property
    def counts(self) -> Mapping[str, int | None]:
        """Distinct images and texts to encode; None if unknown before the files are downloaded."""
        if not self.loaded:
            return {"image": self.need.images, "text": self.need.texts}
        found = _by_kind(self.columns())
        return {kind: len(np.unique(np.concatenate(found[kind]))) if kind in found else 0 for kind in ("image", "text")}

    def columns(self, *, joint: bool = False) -> list[Column]:
        """Returns what a model encodes of the loaded items, including a probe's training items."""
        trained = [probe.training_items(part) for part in self.loaded.values() if isinstance(part, Probe)]
        return tasks.every_column(self.loaded, joint=joint) + trained


@dataclass(frozen=True, kw_only=True)
class ModelEstimate:
    """The cost of one model's missing runs."""

    model: Model
    runs: int
    weights: int | None  # bytes
    present: bool  # the weights are on this machine
    # Counts by kind: distinct images, texts and pairs to encode that are not stored yet; comparisons and questions.
    work: Counter[str]
    exact: bool
    unknown: int  # tasks with an unknown number of items

    @property
    def items(self) -> int:
        """The number of distinct items to encode."""
        return sum(self.work[kind] for kind in ABILITY)


def estimate(plan: Plan, *, bench: Bench) -> tuple[list[TaskEstimate], list[ModelEstimate]]:
    """Returns an estimate for each task and each model with a missing run."""
    first = {job.task.key: job for job in reversed(plan.missing)}
    data = {task.key: _data(first[task.key], bench) for task in plan.tasks if task.key in first}
    jobs = [(row, [job for job in plan.of(row) if job.stored is None]) for row in plan.models]
    return list(data.values()), [_work(row, missing, data, bench) for row, missing in jobs if missing]


def item_counts(tasks: Iterable[Task], *, needs: Callable[[Task], Need]) -> Mapping[str, int]:
    """Returns the size of some tasks for any model if nothing is downloaded or stored.

    Counts distinct `images` and `texts`, `questions` to a judge, `bytes` of data sets, data sets of unknown size
    (`unsized`), and tasks with an unknown number of items (`uncounted`).
    """
    data = []
    for task in tasks:
        with suppress(LikenessError):  # it has published scores only
            data.append(TaskEstimate(task=task, need=replace(needs(task), present=False)))
    sizes = downloads(data).values()
    return {
        "images": _not_read(data, "image"),
        "texts": _not_read(data, "text"),
        "questions": sum(one.need.questions or 0 for one in data),
        "bytes": sum(size or 0 for size in sizes),
        "unsized": sum(size is None for size in sizes),
        "uncounted": sum(not (one.need.images or one.need.texts or one.need.questions) for one in data),
    }


def _data(job: Job, bench: Bench) -> TaskEstimate:
    task, loaded, problem = job.task, {}, ""
    need = Need(repo=task.dataset, revision=task.revision, bytes=None, present=False)
    try:
        need = bench.need(task)
        if need.present and (need.bytes or 0) <= EXACT_BELOW:
            loaded = bench.load(task, job.task_options)
    except LikenessError as error:
        problem = str(error)
    return TaskEstimate(task=task, need=need, loaded=loaded, problem=problem)


def _work(row: Model, jobs: Sequence[Job], data: Mapping[str, TaskEstimate], bench: Bench) -> ModelEstimate:
    """Counts everything once, however many tasks use it: by content for loaded items, else by what the catalogue says
    about tasks that share data.
    """
    kinds = [kind for kind in ABILITY if set(ABILITY[kind]) <= set(row.abilities)]
    work, keys, unknown = Counter[str](), defaultdict[str, list[np.ndarray]](list), 0
    encoding: dict[str, TaskEstimate] = {}
    for job in jobs:
        one = data[job.task.key]
        if job.way == "embed":
            encoding[job.task.key] = one
            columns = one.columns(joint=job.options.get("fusion") == "joint")
            for kind, found in _by_kind(column for column in columns if column.modality in kinds).items():
                keys[kind] += found
        else:
            if "compare" in row.abilities:
                kind, count = "comparison", one.need.comparisons
            else:
                kind, count = "question", one.need.questions or job.task.n_items
            work[kind] += count or 0
            unknown += count is None
    for kind, found in keys.items():
        distinct = np.unique(np.concatenate(found))
        work[kind] += len(distinct) - _stored(row, kind, distinct, bench)
    for kind in set(kinds) - {"pair"}:
        work[kind] += _not_read(encoding.values(), kind)
    unknown += sum(all(one.counts.get(kind) is None for kind in kinds) for one in encoding.values() if not one.loaded)
    size, present = size_of_weights(row)
    return ModelEstimate(
        model=row,
        runs=len(jobs),
        weights=size,
        present=present,
        work=work,
        exact=all(data[job.task.key].loaded for job in jobs),
        unknown=unknown,
    )


def _by_kind(columns: Iterable[Column]) -> dict[str, list[np.ndarray]]:
    """Returns the keys of each modality, one array per column."""
    keys = defaultdict[str, list[np.ndarray]](list)
    for column in columns:
        keys[column.modality].append(column.keys)
    return keys


def _not_read(shown: Iterable[TaskEstimate], kind: str) -> int:
    """Counts items of tasks that were not loaded: the largest number among tasks that share data, minus what is already
    counted because another of them was loaded.
    """
    read, told = Counter[str](), Counter[str]()
    for one in shown:
        count = Counter({one.need.shared or one.task.key: one.counts[kind] or 0})
        read, told = (read | count, told) if one.loaded else (read, told | count)
    return (told - read).total()


def _stored(row: Model, kind: str, keys: np.ndarray, bench: Bench) -> int:
    """Returns how many of the keys are already stored."""
    try:
        subject = bench.subject(row)
        store, home = subject.store, subject.store.home(row.key, subject.identity)
    except LikenessError:
        return 0  # weights that are not downloaded have not encoded anything
    return int(store.cache(home, kind).has(keys).sum()) if len(keys) else 0


def downloads(data: Iterable[TaskEstimate]) -> dict[tuple[str, str], int | None]:
    """Returns the bytes to fetch for each missing data set and revision: the most that any of its tasks reads; None if
    unknown.
    """
    sizes: dict[tuple[str, str], int] = {}
    for need in (task.need for task in data if task.need.repo and not task.need.present):
        key = need.repo, need.revision
        sizes[key] = max(sizes.get(key, 0), need.bytes or 0)
    return {key: size or None for key, size in sizes.items()}
