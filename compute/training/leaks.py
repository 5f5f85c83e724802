"""Proof that no evaluation item is trained on: content keys of training images against those of evaluated tasks.

What counts: an image of an evaluated item, in whatever role, that is any image of a training example. Texts do not
count: prompts and captions such as `A high quality photo.` are the same in many data sets, and an item of the four core
tasks is never a text alone.

A content key is a hash of the bytes of a file, as everywhere here. The same picture in another encoding has another key
and is not recognised.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute import tasks
from compute.catalog import shipped
from compute.progress import Progress
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import Source
from compute.training.examples import Examples
from compute.types import BadInput, LikenessError, Task

BENCHMARKS = ("unisim", "mini")  # whose tasks are evaluated during training
LISTED = 5  # hits that an error names


def evaluated_tasks() -> list[Task]:
    """The tasks that a training must not have seen: all of UniSim-Bench and of the drawn suites that have items."""
    return [task for task in shipped().tasks if task.benchmark in BENCHMARKS and tasks.computable(task)]


def check(sets: Sequence[Examples], *, source: Source, progress: Progress | None = None) -> str:
    """Compares every image of the examples with those of the evaluated tasks; returns a sentence on what was compared.

    `source` must be offline: nothing is fetched. Raises BadInput naming data set and item of the first hits: nothing
    may be trained then.
    """
    images: dict[bytes, str] = {}  # content key -> the image in words
    rows, compared = evaluated_tasks(), 0
    with (progress or Progress()).bar("Reading evaluation items", total=len(rows), unit="task") as done:
        for task in rows:
            done(1)
            try:
                columns = tasks.every_column(tasks.load(task, source=source), variants=False)
            except LikenessError:
                continue
            compared += 1
            for column in columns:
                if column.modality == "image":
                    for row, key in enumerate(column.keys.tolist()):
                        images.setdefault(key, f"{column.name(row)!r} of {task.key}")
    images.pop(NO_KEY, None)
    known = np.array(list(images), dtype="S32")
    hits = [
        f"{column.name(int(row))!r} is {images[column.keys[row]]}"
        for part in sets
        for column in part.images
        for row in np.flatnonzero(np.isin(column.keys, known))
    ]
    if hits:
        raise BadInput(
            f"{len(hits)} training images are evaluated too: {'; '.join(hits[:LISTED])}. Nothing was trained: take "
            "these examples out of the training data, or drop the data set"
        )
    missing = len(rows) - compared
    left = f"; {missing} tasks were not compared: their data is not on this machine or unreadable" if missing else ""
    return f"No training image is of {len(images):,} images of {compared} evaluated tasks{left}"
