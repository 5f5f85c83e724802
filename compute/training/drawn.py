"""Drawn training examples of the four core tasks, and items to choose a checkpoint by: the mini suite's kind, not its
items.

Training draws from the scenes and the parts of photographs that the suite never shows (question_groups.py). Validation
items are drawn as the suite's are, from scenes that training never shows, with their own seed, and without any
image that the suite has too. So the suite decides nothing: neither weights nor which of them are stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random

from PIL import Image

from compute import tasks
from compute.tasks import mini
from compute.tasks.data import Data, every_column
from compute.tasks.drawing.distortions import Shown
from compute.tasks.mini.album import png
from compute.training import question_groups
from compute.training.examples import TASKS, Content, TrainingExample
from compute.training.question_groups import QUESTIONS, Question

DATASET = "drawn-scenes-training"  # its key in the catalogue of data sets
VALIDATION = "validation"  # the seed of the items that a checkpoint is chosen by
VALIDATION_COUNT = 600  # items of a core task before those with an image of the suite are taken out
CORE = ("mini/image-choice", "mini/image-for-text", "mini/text-for-image", "mini/quality")
# The suite's tasks of the categories that UniSim calls out of distribution (sections 3.1 and 3.2): attributes, odd one
# out, image retrieval.
OOD = ("mini/sharpness", "mini/odd-one-out", "mini/instances")


@dataclass(frozen=True, kw_only=True)
class DrawnExamples:
    """Examples of one task that are drawn when they are used: row i is a function of seed, task and i.

    QUESTIONS rows at a time are a group, which shares its contents, also with other tasks' groups of its number. With
    `unrelated`, a row is a question group by itself, so that no two share an image.
    """

    task: str
    seed: int = 0
    count: int
    unrelated: bool = False
    dataset: str = DATASET

    @property
    def group_size(self) -> int:
        """Rows that share contents."""
        return 1 if self.unrelated else QUESTIONS

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> TrainingExample:
        number, question = (row if self.unrelated else row // QUESTIONS), row % QUESTIONS
        contents, questions = _group(question_groups.kind_of(self.task, number), self.seed, number)
        reference, right, wrong = questions[self.task][question]
        preferred = _sides(self.task, self.seed, number)[question]
        pair = (contents[right], contents[wrong])
        return TrainingExample(
            task=self.task,
            dataset=self.dataset,
            reference=contents[reference],
            alternatives=pair[::-1] if preferred else pair,
            preferred=preferred,
        )

    def identity(self) -> str:
        """All that decides the examples and their order."""
        versions = (mini.GENERATOR_VERSION, question_groups.VERSION)
        return json.dumps([*versions, self.task, self.seed, self.count, self.unrelated])

    def keys(self) -> None:
        """Not known before all are drawn."""


@lru_cache(maxsize=64)  # more than a step has: what its tasks share is one object
def _group(kind: str, seed: int, number: int) -> tuple[tuple[Content, ...], Mapping[str, tuple[Question, ...]]]:
    made = question_groups.drawn(kind, seed=seed, number=number)
    name = f"{DATASET}, {kind} {number}, content"
    return tuple(_content(value, f"{name} {at}") for at, value in enumerate(made.contents)), made.questions


@lru_cache(maxsize=64)
def _sides(task: str, seed: int, number: int) -> list[int]:
    """On which side the preferred alternative of each question of a group stands."""
    return Random(f"unisim {seed} {task} {number}, sides").choices((0, 1), k=QUESTIONS)


def _content(value: str | Shown, name: str) -> Content:
    if isinstance(value, str):
        return Content(modality="text", name=name, read=lambda: value)
    pixels = cache(value.pixels)  # for the key and for the model, while the group is in memory
    return Content(modality="image", name=name, read=lambda: png(pixels()), draw=lambda: Image.fromarray(pixels()))


def training(*, seed: int = 0, count: int) -> list[DrawnExamples]:
    """`count` examples of each core task, rounded up to whole groups."""
    count = -(-count // QUESTIONS) * QUESTIONS
    return [DrawnExamples(task=task, seed=seed, count=count) for task in TASKS]


def validation(*, core: bool = True) -> dict[str, dict[str, Data]]:
    """Items by task and subset to choose a checkpoint by, of the core tasks unless `core` is off and of the
    out-of-distribution tasks. Tasks, subsets and forms are the suite's."""
    suite = {
        key
        for task in mini.TASKS
        for column in every_column(mini.drawn(task))
        if column.modality == "image"
        for key in column.keys.tolist()
    }
    made = {key: mini.TASKS[key](seed=VALIDATION, count=VALIDATION_COUNT) for key in CORE if core}
    made |= {key: mini.TASKS[key](seed=VALIDATION) for key in OOD}
    return {
        key: {
            subset: tasks.without(part, suite)
            for subset, part in (data if isinstance(data, dict) else {"default": data}).items()
        }
        for key, data in made.items()
    }
