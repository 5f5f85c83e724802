"""Drawn training examples of the four core tasks, and items to choose a checkpoint by: the mini suite's kind, not its
items.

Training draws from the scenes and the parts of photographs that the suite never shows (question_groups.py). Validation
items are drawn as the suite's are, from scenes that training never shows, with a seed of their own, and without any
image that the suite has too. So the suite decides nothing: neither weights nor which of them are stored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np

from compute import tasks
from compute.progress import Progress
from compute.tasks import mini
from compute.tasks.data import Data, every_column
from compute.tasks.source import stored_keys
from compute.training.unisim.data import drawn_groups, question_groups
from compute.training.unisim.data.drawn_groups import DATASET
from compute.training.unisim.data.examples import TASKS, TrainingExample, check_task
from compute.training.unisim.data.question_groups import QUESTIONS, Question
from compute.types import UnknownKey

COUNT = 129_600  # examples of a task; there are as many as one likes
VALIDATION = "validation"  # the seed of the items that a checkpoint is chosen by
VALIDATION_COUNT = 600  # items of a core task before those with an image of the suite are taken out
CORE = {
    key: mini.TASKS[key] for key in ("mini/image-choice", "mini/image-for-text", "mini/text-for-image", "mini/quality")
}
# The suite's tasks of the categories that UniSim calls out of distribution (sections 3.1 and 3.2): attributes, odd one
# out, image retrieval.
OOD = {
    key: mini.TASKS[key]
    for key in (
        "mini/brightness",
        "mini/colorfulness",
        "mini/contrast",
        "mini/sharpness",
        "mini/odd-one-out",
        "mini/instances",
    )
}


@dataclass(frozen=True, kw_only=True)
class DrawnExamples:
    """Examples of one task that are drawn when they are used: row i is a function of seed, task, domain and i.

    `group_size` rows at a time are a group, which shares its contents, also with other tasks' groups of its number.
    """

    group_size: ClassVar[int] = QUESTIONS
    shuffled_alike: ClassVar[bool] = True  # so that tasks come to the same group in the same step

    task: str
    seed: int = 0
    count: int = COUNT
    domain: str = ""  # of the scenes that change: one of question_groups.DOMAINS, or any
    cache: Path | None = None  # where content keys are stored, for who lists them

    def __post_init__(self) -> None:
        check_task(self.task)
        if self.domain and self.domain not in question_groups.DOMAINS:
            raise UnknownKey("domain", self.domain, question_groups.DOMAINS)

    @property
    def dataset(self) -> str:
        """Its key, and the domain."""
        return f"{DATASET}, {self.domain}" if self.domain else DATASET

    @property
    def catalogue_key(self) -> str:
        """Of any domain."""
        return DATASET

    @property
    def recipe(self) -> str:
        """All that decides the examples and their order, as JSON."""
        return json.dumps(
            [
                "unisim training",
                mini.GENERATOR_VERSION,
                question_groups.VERSION,
                self.task,
                self.domain,
                self.seed,
                self.count,
            ]
        )

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> TrainingExample:
        if not 0 <= row < self.count:
            raise IndexError(row)
        contents = drawn_groups.group(self._kind(row), self.seed, row // QUESTIONS).contents
        (reference, *alternatives), preferred = self._question(row)
        return TrainingExample(
            task=self.task,
            dataset=self.dataset,
            reference=contents[reference],
            alternatives=tuple(contents[at] for at in alternatives),
            preferred=preferred,
        )

    def _kind(self, row: int) -> str:
        return question_groups.kind_of(self.task, row // QUESTIONS, domain=self.domain)

    def _question(self, row: int) -> tuple[Question, int]:
        """Which contents of its group are reference and alternatives, and the preferred one's index."""
        group = drawn_groups.group(self._kind(row), self.seed, row // QUESTIONS)
        reference, right, wrong = group.questions[self.task][row % QUESTIONS]
        preferred = _preferred(self.task, self.seed, row // QUESTIONS)[row % QUESTIONS]
        return (reference, wrong, right) if preferred else (reference, right, wrong), preferred

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives; about 1 ms an image unless they are stored."""
        return self.stored_keys(range(self.count), progress=progress)

    def stored_keys(self, rows: Sequence[int], *, of: str = "", progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of n rows. `of`: what the rows have in common, where they are not all."""
        facts = [*json.loads(self.recipe), *([of, len(rows)] if of else [])]
        return stored_keys(self.cache, json.dumps(facts), lambda: self._keys(rows, progress or Progress()))

    def _keys(self, rows: Sequence[int], progress: Progress) -> np.ndarray:
        keys = np.zeros((len(rows), 3), dtype="S32")
        with progress.bar(f"Drawing {self.task}", total=len(rows), unit="example") as done:
            for at, row in enumerate(map(int, rows)):
                keys[at] = [_key(self._kind(row), self.seed, row // QUESTIONS, of) for of in self._question(row)[0]]
                done(1)
        return keys


@lru_cache(maxsize=64)
def _preferred(task: str, seed: int, number: int) -> tuple[int, ...]:
    """On which side the preferred alternative of each question of a group stands."""
    return tuple(Random(f"unisim {seed} {task} {number}, sides").choices((0, 1), k=QUESTIONS))


@lru_cache(maxsize=2**17)  # the contents of a training's groups, as one task after the other asks
def _key(kind: str, seed: int, number: int, content: int) -> bytes:
    return drawn_groups.group(kind, seed, number).contents[content].key()


@dataclass(frozen=True, kw_only=True)
class OneOfEachGroup:
    """`count` examples that share no image: one question of each group, for who stores their images."""

    drawn: DrawnExamples  # of `count` groups

    @property
    def task(self) -> str:
        """That of the drawn examples."""
        return self.drawn.task

    @property
    def dataset(self) -> str:
        """That of the drawn examples."""
        return self.drawn.dataset

    def __len__(self) -> int:
        return self.drawn.count // QUESTIONS

    def __getitem__(self, row: int) -> TrainingExample:
        return self.drawn[self._of_drawn(row)]

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives."""
        return self.drawn.stored_keys(
            [self._of_drawn(row) for row in range(len(self))], of="one of each", progress=progress
        )

    def _of_drawn(self, row: int) -> int:
        return row * QUESTIONS + row % QUESTIONS


def whole_groups(count: int) -> int:
    """The count of examples rounded up to whole groups."""
    return -(-count // QUESTIONS) * QUESTIONS


def training(*, seed: int = 0, count: int = COUNT, cache: Path | None = None) -> list[DrawnExamples]:
    """`count` examples of each core task, rounded up to whole groups."""
    return [DrawnExamples(task=task, seed=seed, count=whole_groups(count), cache=cache) for task in TASKS]


def unrelated(*, seed: int = 0, count: int, cache: Path | None = None) -> list[OneOfEachGroup]:
    """`count` examples of each core task; those of a task share no image."""
    return [OneOfEachGroup(drawn=part) for part in training(seed=seed, count=count * QUESTIONS, cache=cache)]


def validation(*, count: int = VALIDATION_COUNT, core: bool = True) -> dict[str, dict[str, Data]]:
    """Items by task and subset, of the core tasks unless `core` is off and of the out-of-distribution tasks, to choose
    a checkpoint by.

    Tasks, subsets and forms are the suite's. The attributes and the retrieval have their own numbers of items.
    """
    shown = suite_images()
    drawn: dict[str, Data | dict[str, Data]] = {}
    if core:
        drawn |= {key: draw(seed=VALIDATION, count=count) for key, draw in CORE.items()}
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
