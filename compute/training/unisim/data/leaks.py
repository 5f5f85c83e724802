"""Proof that no evaluation item is trained on: content keys of training examples against those of evaluated tasks.

What counts: an image of an evaluated item, in whatever role, that is any image of a training example. Texts do not
count: prompts and captions such as `A high quality photo.` are the same in many data sets, and an item of the four core
tasks is never a text alone.

A content key is a hash of the bytes of a file, as everywhere here. The same picture in another encoding has another key
and is not recognised.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from compute import tasks
from compute.catalog import Catalog
from compute.database import store
from compute.engine import run_folders
from compute.features.passes import DistinctItems, distinct
from compute.progress import Progress
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import Source
from compute.training.unisim.data.examples import TASKS, Content, ExampleSet
from compute.types import BadInput, LikenessError, Task

BENCHMARKS = ("unisim", "mini")  # whose tasks are evaluated beside a training
LISTED = 5  # hits that an error names
# Odd numbers without a pattern, one for each 8 bytes of a key: what keys are hashed by before they are compared.
MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)


@dataclass(frozen=True, kw_only=True)
class EvaluatedImages:
    """The images of evaluated tasks, and how each task's are known."""

    items: dict[str, DistinctItems]  # task -> its distinct images, of tasks whose data is on this machine
    stored: dict[str, np.ndarray]  # task -> (n,) S32, of tasks of which only a run's items are: not all of its images
    missing: tuple[str, ...]  # tasks of which nothing is on this machine
    unreadable: dict[str, str]  # tasks whose data cannot be read, with the reason

    @property
    def keys(self) -> dict[str, np.ndarray]:
        """Task -> (n,) S32, the distinct content keys of its images."""
        return {task: part.keys for task, part in self.items.items()} | self.stored

    @property
    def digest(self) -> str:
        """Of the content keys, whatever tasks have them."""
        return sha256(b"".join(sorted(set().union(*(keys.tolist() for keys in self.keys.values()))))).hexdigest()

    def description(self, key: bytes) -> str:
        """The image of a content key in words, by the first task that has it."""
        for task, images in self.items.items():
            row = images.at(np.array([key], dtype="S32"))[0]
            if row >= 0:
                return f"{images.name(int(row))!r} of {task}"
        task = next(task for task, keys in self.stored.items() if key in keys)
        return f"an item of a stored run of {task}"


@dataclass(frozen=True, kw_only=True)
class LeakCheck:
    """What was compared and had no image in common: recorded with what was trained."""

    trained: int  # distinct images of listed training examples; of drawn ones each as often as it was drawn
    evaluated: int  # distinct images that they were compared with
    tasks: tuple[str, ...]  # compared in full
    by_items: tuple[str, ...]  # compared by the items that stored runs have
    missing: tuple[str, ...]  # not compared: their data is not on this machine
    unreadable: tuple[str, ...]  # not compared: their data cannot be read


def evaluated_tasks(catalog: Catalog) -> list[Task]:
    """The tasks that a training must not have seen: all of UniSim-Bench and of the drawn suites that have items."""
    return [task for task in catalog.tasks if task.benchmark in BENCHMARKS and tasks.computable(task)]


def evaluated_images(
    rows: Sequence[Task], *, source: Source, roots: Sequence[Path] = (), progress: Progress | None = None
) -> EvaluatedImages:
    """The images of the tasks' items. `source` must be offline: nothing is fetched.

    Of a task whose data is not here, the items that a run below `roots` stored count; pages open at most 2,000 of them.
    """
    items: dict[str, DistinctItems] = {}
    stored: dict[str, np.ndarray] = {}
    missing: list[str] = []
    unreadable: dict[str, str] = {}
    runs = _run_folders(roots)
    with (progress or Progress()).bar("Reading evaluation items", total=len(rows), unit="task") as done:
        for task in rows:
            try:
                if tasks.needs(task, source=source).present:
                    columns = tasks.every_column(tasks.load(task, source=source), variants=False)
                    items[task.key] = distinct([column for column in columns if column.modality == "image"])
                elif task.key in runs:
                    stored[task.key] = np.array(sorted(_shown_images(runs[task.key])), dtype="S32")
                else:
                    missing.append(task.key)
            except LikenessError as error:
                unreadable[task.key] = str(error)
            done(1)
    return EvaluatedImages(items=items, stored=stored, missing=tuple(missing), unreadable=unreadable)


def _run_folders(roots: Sequence[Path]) -> dict[str, Path]:
    """A folder of a whole run for every task that has one below the roots."""
    out: dict[str, Path] = {}
    for root in roots:
        for folder in run_folders.every(root):
            with contextlib.suppress(IndexError):
                out.setdefault(folder.parts[-2].replace("__", "/"), folder)
    return out


def _shown_images(folder: Path) -> set[bytes]:
    """The content keys of the images that a run's stored items show. Raises LikenessError."""
    details = store.read_parquet(folder / run_folders.ITEMS)["detail"].dropna()
    try:
        return {key.encode() for detail in details for key in json.loads(detail).get("images") or [] if key}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"its run {folder.name} is damaged ({str(error)[:80]})") from error


def check(sets: Sequence[ExampleSet], evaluated: EvaluatedImages, *, progress: Progress | None = None) -> LeakCheck:
    """Compares every image of the examples with every evaluated one.

    Raises BadInput naming task, data set and item of the first hits: nothing may be trained then.
    """
    known = np.concatenate([np.zeros(0, "S32"), *evaluated.keys.values()])
    known = known[known != NO_KEY]
    known_short = np.sort(_short(known))
    trained: list[np.ndarray] = []
    hits: list[str] = []
    count = 0
    for part in sets:
        own = part.keys(progress)
        for at, modality in enumerate((TASKS[part.task][0], *2 * (TASKS[part.task][1],))):
            if modality != "image":
                continue
            short = _short(own[:, at])
            rows = np.flatnonzero(_among(short, known_short))
            rows = rows[np.isin(own[rows, at], known)]  # the whole key decides
            count += len(rows)
            hits += [_hit(part, int(row), at, own[row, at], evaluated) for row in rows[: LISTED - len(hits)]]
            trained.append(short)
    if count:
        more = f", and {count - len(hits)} more" if count > len(hits) else ""
        raise BadInput(
            f"{count} training images are evaluated too: {'; '.join(hits)}{more}. Nothing was trained: take these "
            "examples out of the training data, or leave the data set out"
        )
    return LeakCheck(
        trained=_distinct(np.sort(np.concatenate(trained))) if trained else 0,
        evaluated=_distinct(known_short),
        tasks=tuple(evaluated.items),
        by_items=tuple(evaluated.stored),
        missing=evaluated.missing,
        unreadable=tuple(evaluated.unreadable),
    )


def guard(evaluated: EvaluatedImages) -> Callable[[Content], None]:
    """What compares one image with every evaluated one, from any thread; it raises BadInput naming both for a hit."""
    known = frozenset(key for keys in evaluated.keys.values() for key in keys.tolist())

    def compare(image: Content) -> None:
        if (key := image.key()) in known:
            raise BadInput(
                f"A training image is evaluated too: {image.name()!r} is {evaluated.description(key)}. It was not "
                "trained on. Train with another seed, into another folder"
            )

    return compare


def _short(keys: np.ndarray) -> np.ndarray:
    """(n,) uint64 of keys (n,) S32: equal keys have equal ones. They are sorted 20 times faster than the keys."""
    words = np.ascontiguousarray(keys).view(np.uint64).reshape(len(keys), len(MULTIPLIERS))
    return (words * MULTIPLIERS).sum(axis=1, dtype=np.uint64)


def _among(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """(n,) bool: which values are among the ordered ones."""
    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    return ordered[np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)] == values


def _distinct(ordered: np.ndarray) -> int:
    return int((ordered[1:] != ordered[:-1]).sum()) + (len(ordered) > 0)


def sentence(checked: LeakCheck, *, are_drawn: bool = False) -> str:
    """What a check without a hit says, for the log and the model card. `are_drawn`: images that are still to be drawn
    are compared then, and so far there are none."""
    compared = len(checked.tasks) + len(checked.by_items)
    which = (
        "Every training image, when it is drawn, is compared with"
        if are_drawn
        else (f"None of {checked.trained:,} training images is one of")
    )
    text = f"{which} {checked.evaluated:,} images of {compared} evaluated tasks"
    if checked.by_items:
        text += f", {len(checked.by_items)} of them by the items of a stored run alone"
    unknown = len(checked.missing) + len(checked.unreadable)
    if unknown:
        text += f"; {unknown} tasks were not compared, for their data is not on this machine or cannot be read"
    return text


def uncompared(evaluated: EvaluatedImages, *, rows: Sequence[Task], sets: Sequence[ExampleSet]) -> list[str]:
    """Those of the evaluated tasks `rows` that are of a data set of `sets` and that nothing could be compared with."""
    datasets = {part.dataset for part in sets}
    return [row.key for row in rows if row.dataset in datasets and row.key not in evaluated.keys]


def _hit(part: ExampleSet, row: int, at: int, key: bytes, evaluated: EvaluatedImages) -> str:
    return f"{part[row].contents[at].name()!r} of {part.dataset} ({part.task}) is {evaluated.description(key)}"
