"""What a plan would download, encode and store, without network and without running a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from compute import tasks
from compute.content.items import Column
from compute.engine.bench import Bench
from compute.engine.plan import Job, Plan, counted
from compute.features.store import Shelf
from compute.features.subject import ABILITY
from compute.models import ADAPTERS
from compute.models.files.weights import cached_folder, own_folder
from compute.tables import padded
from compute.types import LikenessError, Model, NotHere, Task

# Data that is here is counted exactly, by reading it; above this many bytes that takes minutes, and the catalogue's
# count is given.
EXACT_BELOW = 2 << 30
FLOAT = 4  # bytes of a stored number
HALF_ABOVE = 1000  # million parameters: larger checkpoints are stored in half precision


@dataclass(frozen=True, kw_only=True)
class TaskEstimate:
    """What one task's items take. Numbers are None where nothing says before the files are here."""

    task: Task
    repo: str  # empty: made at run time
    revision: str
    bytes: int | None = None
    present: bool = False
    counts: Mapping[str, int | None] = field(default_factory=dict)  # modality -> distinct items
    columns: tuple[Column, ...] = ()  # the items themselves, where they were read: then the counts are exact
    problem: str = ""

    @property
    def exact(self) -> bool:
        """Whether the items were read, so that the counts are no estimates."""
        return bool(self.columns)


@dataclass(frozen=True, kw_only=True)
class ModelEstimate:
    """What one model's missing runs take."""

    model: Model
    weights: int | None  # bytes
    present: bool  # the weights are on this machine
    items: int  # distinct items that are not encoded yet
    exact: bool
    unknown: int  # tasks whose items nothing counts
    runs: int

    @property
    def embeds(self) -> bool:
        """Whether the model makes vectors."""
        return bool({"embed_image", "embed_text"} & set(self.model.abilities))

    @property
    def vectors(self) -> int | None:
        """Bytes of the vectors to store; None where the model says no size, or makes none."""
        return self.items * self.model.embed_dim * FLOAT if self.embeds and self.model.embed_dim else None


def estimate(plan: Plan, *, bench: Bench) -> tuple[list[TaskEstimate], list[ModelEstimate]]:
    """Each task with a run to make, and each model with one."""
    first = {job.task.key: job for job in reversed(plan.missing)}
    data = {task.key: _data(first[task.key], bench) for task in plan.tasks if task.key in first}
    work = [_work(row, [job for job in plan.of(row) if job.stored is None], data, bench) for row in plan.models]
    return list(data.values()), [model for model in work if model.runs]


def _data(job: Job, bench: Bench) -> TaskEstimate:
    task = job.task
    try:
        need = bench.need(task)
    except LikenessError as error:
        return TaskEstimate(task=task, repo=task.dataset, revision=task.revision, problem=str(error))
    estimate = TaskEstimate(
        task=task,
        repo=need.repo,
        revision=need.revision,
        bytes=need.bytes,
        present=need.present,
        counts={"image": need.images, "text": need.texts},
    )
    if not need.present or (need.bytes or 0) > EXACT_BELOW:
        return estimate
    try:
        columns = tuple(tasks.every_column(bench.load(task, job.task_options)))
    except LikenessError as error:
        return replace(estimate, problem=str(error))
    counts = {modality: len(_keys(columns, modality)) for modality in estimate.counts}
    return replace(estimate, counts=counts, columns=columns)


def _keys(columns: Iterable[Column], modality: str) -> np.ndarray:
    keys = [column.keys for column in columns if column.modality == modality]
    return np.unique(np.concatenate(keys)) if keys else np.zeros(0, dtype="S32")


def _work(row: Model, jobs: Sequence[Job], data: Mapping[str, TaskEstimate], bench: Bench) -> ModelEstimate:
    """A content that several tasks share counts once where it is known, as often as it stands where it is not."""
    shown = [data[key] for key in dict.fromkeys(job.task.key for job in jobs)]
    items, unknown, exact = 0, 0, True
    kinds = [kind for kind in ("image", "text") if set(ABILITY[kind]) <= set(row.abilities)]
    for kind in kinds:
        keys = _keys((column for task in shown for column in task.columns), kind)
        items += len(keys) - _stored(row, kind, keys, bench)
    for task in shown:
        if not task.exact:
            exact = False
            known = [task.counts.get(kind) for kind in kinds]
            items += sum(count for count in known if count)
            unknown += bool(kinds) and not any(count is not None for count in known)
    size, present = weights(row)
    return ModelEstimate(
        model=row, weights=size, present=present, items=items, exact=exact, unknown=unknown, runs=len(jobs)
    )


def _stored(row: Model, kind: str, keys: np.ndarray, bench: Bench) -> int:
    """How many of the keys are encoded already."""
    try:
        subject = bench.subject(row)
        home = subject.store.home(row.key, subject.identity)
    except LikenessError:
        return 0  # weights that are not here have encoded nothing
    return int(Shelf(home / kind).has(keys).sum()) if len(keys) and (home / kind).is_dir() else 0


def weights(row: Model) -> tuple[int | None, bool]:
    """Bytes of a model's weights and whether they are here; where not, what its parameters make likely."""
    if not row.weights:
        return 0, True
    try:
        folder = own_folder(row) or cached_folder(row)
    except NotHere:
        folder = None
    if folder is None:
        return by_parameters(row), False
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), True


def by_parameters(row: Model) -> int | None:
    """Bytes that the row's weights should have: four a parameter, of large ones two; None where nothing says."""
    bytes_each = FLOAT / 2 if (row.parameters_m or 0) > HALF_ABOVE else FLOAT
    return round(row.parameters_m * 1e6 * bytes_each) if row.parameters_m else None


def lines(plan: Plan, data: Sequence[TaskEstimate], work: Sequence[ModelEstimate], *, results: Path) -> list[str]:
    """The dry run's page: data, models, what is there, totals."""
    text = []
    if data:
        heads = ("task", "data set", "revision", "to fetch", "images", "texts")
        rows = [
            (
                task.task.key,
                task.repo or "made at run time",
                task.revision[:7] or "-",
                _fetch(task),
                _number(task, "image"),
                _number(task, "text"),
            )
            for task in data
        ]
        text += ["", *("  ".join(row).rstrip() for row in padded([heads, *rows]))]
        text += [f"{task.task.key}: {task.problem}" for task in data if task.problem]
    for model in work:
        text += ["", *_model_lines(model)]
    stored = [job for job in plan.jobs if job.stored is not None]
    if stored:
        text += ["", "Stored already:", *(f"  {job.model.key}, {job.name}: {job.fingerprint}" for job in stored)]
    fetched: dict[tuple[str, str], int] = {}  # tasks of one data set share its files
    for task in data:
        if task.repo and not task.present:
            fetched[task.repo, task.revision] = max(task.bytes or 0, fetched.get((task.repo, task.revision), 0))
    unknown, total = sum(not count for count in fetched.values()), sum(fetched.values())
    vectors = sum(model.vectors or 0 for model in work)
    rows = sum((job.task.n_items or 0) for job in plan.missing)
    text += [
        "",
        f"In all: {counted(len(fetched), 'data set')} to fetch, {_amount(total, unknown)}; "
        f"{size(sum(model.weights or 0 for model in work if not model.present))} of weights to fetch; "
        f"{sum(model.items for model in work):,} items to encode, {size(vectors)} of vectors; "
        f"{len(plan.missing)} run folders with about {rows:,} items, under {results}",
    ]
    return text


def _model_lines(one: ModelEstimate) -> list[str]:
    row = one.model
    if row.weights:
        revision = f" @ {row.revision[:7]}" if row.revision else ""
        files = f"here {size(one.weights)}" if one.present else f"to fetch, {_about(one.weights)}"
        weights = f"{row.weights}{revision}: {files}"
    else:
        own = row.adapter in ADAPTERS and ADAPTERS[row.adapter].weights
        weights = "its package's own, from torch's cache" if own else "no weights"
    if one.embeds:
        stores = (
            f"{one.items:,} x {row.embed_dim} x {FLOAT} bytes = {size(one.vectors)}"
            if one.vectors is not None
            else "the size of a vector is known once the model is loaded"
        )
        items = f"{'' if one.exact else 'about '}{one.items:,} distinct items to encode; vectors: {stores}"
    else:
        items = "compares or answers; nothing to encode"
    if one.unknown:
        items += f"; the items of {one.unknown} tasks are not counted: nothing says how many before they are fetched"
    return [f"{row.key}, {counted(one.runs, 'run')}", f"  weights  {weights}", f"  items    {items}"]


def _fetch(one: TaskEstimate) -> str:
    if not one.repo:
        return "nothing"
    return f"here, {size(one.bytes)}" if one.present else _about(one.bytes)


def _about(count: int | None) -> str:
    return "size unknown" if count is None else f"about {size(count)}"


def _number(one: TaskEstimate, modality: str) -> str:
    count = one.counts.get(modality)
    if count is None:
        return "unknown" if modality in one.task.modalities else "-"
    return f"{count:,}" if one.exact or not count else f"about {count:,}"


def _amount(total: int, unknown: int) -> str:
    if unknown and not total:
        return "of unknown size"
    return f"about {size(total)}" + (f" and {unknown} of unknown size" if unknown else "")


def size(count: int | None) -> str:
    """Bytes as people read them: `605 MB`."""
    if count is None:
        return "size unknown"
    step = min(4, max(0, (len(str(count)) - 1) // 3))
    value, unit = count / 1000**step, ("bytes", "kB", "MB", "GB", "TB")[step]
    return f"{value:.0f} {unit}" if value >= 10 or not step else f"{value:.1f} {unit}"
