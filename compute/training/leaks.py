"""Proof that no evaluation item is trained on: content keys of training images against those of evaluated tasks.

What counts: an image of an evaluated item, in whatever role, that is any image of a training example. Texts do not
count: prompts and captions such as `A high quality photo.` are the same in many data sets, and an item of the four core
tasks is never a text alone.

A content key is a hash of the bytes of a file, as everywhere here. The same picture in another encoding has another key
and is not recognised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from compute import tasks
from compute.catalog import Catalog
from compute.progress import Progress
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import Source
from compute.training.examples import Examples
from compute.types import BadInput, LikenessError, Task

BENCHMARKS = ("unisim", "mini")  # whose tasks are evaluated during training
LISTED = 5  # hits that an error names


@dataclass(frozen=True, kw_only=True)
class EvaluatedImages:
    """The images of the evaluated tasks whose data is on this machine."""

    images: dict[bytes, str]  # content key -> the image in words
    tasks: tuple[str, ...]  # that they are of
    missing: tuple[str, ...]  # tasks whose data is not on this machine or cannot be read

    @property
    def sentence(self) -> str:
        """What a comparison without a hit says."""
        text = f"No training image is of {len(self.images):,} images of {len(self.tasks)} evaluated tasks"
        if self.missing:
            text += f"; {len(self.missing)} tasks were not compared: their data is not on this machine or unreadable"
        return text


def evaluated_tasks(catalog: Catalog) -> list[Task]:
    """The tasks that a training must not have seen: all of UniSim-Bench and of the drawn suites that have items."""
    return [task for task in catalog.tasks if task.benchmark in BENCHMARKS and tasks.computable(task)]


def evaluated_images(rows: Sequence[Task], *, source: Source, progress: Progress | None = None) -> EvaluatedImages:
    """The images of the tasks' items. `source` must be offline: nothing is fetched."""
    images: dict[bytes, str] = {}
    compared: list[str] = []
    with (progress or Progress()).bar("Reading evaluation items", total=len(rows), unit="task") as done:
        for task in rows:
            done(1)
            try:
                if not tasks.needs(task, source=source).present:
                    continue
                columns = tasks.every_column(tasks.load(task, source=source), variants=False)
            except LikenessError:
                continue
            compared.append(task.key)
            for column in columns:
                if column.modality == "image":
                    for row, key in enumerate(column.keys.tolist()):
                        images.setdefault(key, f"{column.name(row)!r} of {task.key}")
    images.pop(NO_KEY, None)
    missing = tuple(task.key for task in rows if task.key not in compared)
    return EvaluatedImages(images=images, tasks=tuple(compared), missing=missing)


def check(sets: Sequence[Examples], evaluated: EvaluatedImages) -> None:
    """Compares every image of the examples with every evaluated one.

    Raises BadInput naming data set and item of the first hits: nothing may be trained then.
    """
    known = np.array(list(evaluated.images), dtype="S32")
    hits = [
        f"{column.name(int(row))!r} is {evaluated.images[column.keys[row]]}"
        for part in sets
        for column in part.images
        for row in np.flatnonzero(np.isin(column.keys, known))
    ]
    if hits:
        raise BadInput(
            f"{len(hits)} training images are evaluated too: {'; '.join(hits[:LISTED])}. Nothing was trained: take "
            "these examples out of the training data, or drop the data set"
        )
