"""Proof that no evaluation item is trained on: content keys of training images against those of evaluated tasks.

What counts: an image of an evaluated item, in whatever role, that is any image of a training example. Texts do not
count: prompts and captions such as `A high quality photo.` are the same in many data sets, and an item of the four core
tasks is never a text alone.

A content key is a hash of the bytes of a file, as everywhere here. The same picture in another encoding has another key
and is not recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from compute import tasks
from compute.catalog import Catalog
from compute.progress import Progress
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import Source
from compute.training.examples import TASKS, Content, ExampleSet
from compute.types import BadInput, LikenessError, Task

BENCHMARKS = ("unisim", "mini")  # whose tasks are evaluated during training
LISTED = 5  # hits that an error names


@dataclass(frozen=True, kw_only=True)
class EvaluatedImages:
    """The images of the evaluated tasks whose data is on this machine."""

    images: dict[bytes, str]  # content key -> the image in words
    tasks: tuple[str, ...]  # that they are of
    missing: tuple[str, ...]  # tasks whose data is not on this machine or cannot be read

    def sentence(self, *, are_drawn: bool) -> str:
        """What a comparison without a hit says. `are_drawn`: the training images are still to be drawn."""
        compared = "Every training image is compared, when drawn, with" if are_drawn else "No training image is of"
        text = f"{compared} {len(self.images):,} images of {len(self.tasks)} evaluated tasks"
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


def check(sets: Sequence[ExampleSet], evaluated: EvaluatedImages) -> None:
    """Compares every image of the examples whose keys are known before training with every evaluated one.

    Raises BadInput naming data set and item of the first hits: nothing may be trained then.
    """
    known = np.array(list(evaluated.images), dtype="S32")
    hits: list[str] = []
    for part in sets:
        if (keys := part.keys()) is None:
            continue
        of_reference, of_alternatives = TASKS[part.task]
        for at, modality in enumerate((of_reference, of_alternatives, of_alternatives)):
            rows = np.flatnonzero(np.isin(keys[:, at], known)) if modality == "image" else []
            hits += [f"{part[int(row)].contents[at].name!r} is {evaluated.images[keys[row, at]]}" for row in rows]
    if hits:
        raise BadInput(
            f"{len(hits)} training images are evaluated too: {'; '.join(hits[:LISTED])}. Nothing was trained: take "
            "these examples out of the training data, or drop the data set"
        )


def guard(evaluated: EvaluatedImages) -> Callable[[Content], None]:
    """What compares one image with every evaluated one; it raises BadInput naming both for a hit."""

    def compare(image: Content) -> None:
        if (found := evaluated.images.get(image.key())) is not None:
            raise BadInput(
                f"A training image is evaluated too: {image.name!r} is {found}. It was not trained on. Train with "
                "another seed, into another folder"
            )

    return compare
