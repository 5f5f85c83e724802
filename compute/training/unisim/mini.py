"""Drawn training examples of the four core tasks, and items to choose a checkpoint by: the mini suite's kind, not its
items.

Training draws from the scenes and the parts of photographs that the suite never shows (`part="train"`). Validation
items are drawn as the suite's are, from scenes that training never shows, with a seed of their own, and without any
image that the suite has too. So the suite decides nothing: neither weights nor which of them are stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from compute import tasks
from compute.progress import Progress
from compute.tasks import mini
from compute.tasks.data import Data, every_column
from compute.tasks.drawing.scenes import Scene
from compute.tasks.drawing.variants import Shown
from compute.tasks.mini import choices, finding, triplets
from compute.tasks.mini.album import png
from compute.tasks.source import stored_keys
from compute.training.unisim.examples import QUALITY_PROMPT, TASKS, Content, TrainingExample, check_task

DATASET = "drawn-scenes-training"  # its key in the catalogue of data sets
COUNT = 8192  # examples of a task; there are as many as one likes
VALIDATION = "validation"  # the seed of the items that a checkpoint is chosen by
VALIDATION_COUNT = 240  # items of a core task before those with an image of the suite are taken out
DRAWN: dict[str, Callable[..., tuple]] = {
    "image-choice": triplets.image_choice,
    "image-for-text": triplets.image_for_text,
    "text-for-image": triplets.text_for_image,
    "quality": triplets.quality,
}
CORE: dict[str, Callable[..., Data]] = {
    "mini/image-choice": choices.image_choice,
    "mini/image-for-text": choices.image_for_text,
    "mini/text-for-image": choices.text_for_image,
    "mini/quality": choices.quality,
}
# The suite's tasks of the categories that UniSim calls out of distribution: attributes, odd one out, image retrieval.
OOD: dict[str, Callable[..., Data | dict[str, Data]]] = {
    "mini/brightness": partial(choices.measured, "brightness"),
    "mini/colorfulness": partial(choices.measured, "colorfulness"),
    "mini/contrast": partial(choices.measured, "contrast"),
    "mini/sharpness": choices.sharpness,
    "mini/odd-one-out": choices.odd_one_out,
    "mini/instances": finding.instances,
}


@dataclass(frozen=True, kw_only=True)
class DrawnExamples:
    """Examples of one task that are drawn when they are used: row i is a function of seed, task and i."""

    task: str
    seed: int = 0
    count: int = COUNT
    dataset: str = DATASET
    cache: Path | None = None  # where content keys are stored, so that they are drawn for them only once

    def __post_init__(self) -> None:
        check_task(self.task)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> TrainingExample:
        if not 0 <= row < self.count:
            raise IndexError(row)
        rng = self.random(row)
        drawn = DRAWN[self.task](rng, row, part="train")
        *reference, right, wrong = (self._content(value, row) for value in drawn)
        preferred = rng.randrange(2)
        return TrainingExample(
            task=self.task,
            dataset=self.dataset,
            reference=reference[0] if reference else self._content(QUALITY_PROMPT, row),
            alternatives=(wrong, right) if preferred else (right, wrong),
            preferred=preferred,
        )

    def random(self, row: int) -> Random:
        """The random numbers that a row is drawn from."""
        return Random(f"unisim {self.seed} {self.task} {row}")

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives; about 1 ms an example unless they are stored."""
        return self.stored_keys(range(self.count), progress=progress)

    def stored_keys(self, rows: Sequence[int], *, of: str = "", progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of n rows. `of`: what the rows have in common, where they are not all."""
        facts = ["unisim training", mini.GENERATOR_VERSION, self.task, self.seed, self.count]
        facts += [of, len(rows)] if of else []
        return stored_keys(self.cache, json.dumps(facts), lambda: self._keys(rows, progress or Progress()))

    def _keys(self, rows: Sequence[int], progress: Progress) -> np.ndarray:
        keys = np.zeros((len(rows), 3), dtype="S32")
        with progress.bar(f"Drawing {self.task}", total=len(rows), unit="example") as done:
            for at, row in enumerate(rows):
                keys[at] = [content.key() for content in self[int(row)].contents]
                done(1)
        return keys

    def _content(self, value: str | Shown | Scene, row: int) -> Content:
        def name() -> str:
            return f"{self.dataset}, {self.task} {row}"

        if isinstance(value, str):
            return Content(modality="text", read=lambda: value, name=name)
        shown = value if isinstance(value, Shown) else Shown(scene=value)
        return Content(
            modality="image",
            read=lambda: png(shown.pixels()),
            name=name,
            draw=lambda: Image.fromarray(shown.pixels()),
        )


def training(*, seed: int = 0, count: int = COUNT, cache: Path | None = None) -> list[DrawnExamples]:
    """`count` examples of each core task."""
    return [DrawnExamples(task=task, seed=seed, count=count, cache=cache) for task in TASKS]


def validation(*, count: int = VALIDATION_COUNT) -> dict[str, dict[str, Data]]:
    """Items by task and subset, of the core and the out-of-distribution tasks, to choose a checkpoint by.

    Tasks, subsets and forms are the suite's. The attributes and the retrieval have their own numbers of items.
    """
    shown = suite_images()
    drawn: dict[str, Any] = {key: draw(seed=VALIDATION, count=count) for key, draw in CORE.items()}
    drawn |= {key: draw(seed=VALIDATION) for key, draw in OOD.items()}
    return {
        key: {
            subset: tasks.without(part, shown)
            for subset, part in (data if isinstance(data, dict) else {"default": data}).items()
        }
        for key, data in drawn.items()
    }


def suite_images() -> frozenset[bytes]:
    """The content keys of every image of the mini suite."""
    return frozenset(
        key
        for task in mini.TASKS
        for column in every_column(mini.drawn(task))
        if column.modality == "image"
        for key in column.keys.tolist()
    )
