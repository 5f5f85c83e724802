"""Training data of the multi-task metric: two-alternative questions, and balanced batches of them.

Every example is a triplet of equation 1: a reference, two alternatives, and which of them people prefer. The four core
tasks differ only in which parts are images and which are texts (UniSim, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from compute.content import decoding
from compute.content.items import Column, content_key, texts
from compute.tasks.data import Choices, take
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample, items
from compute.types import BadInput

# The core tasks with the modalities of reference and alternatives: Img-2AFC, IT-2AFC, Text-2AFC, IQA.
TASKS = {
    "image-choice": ("image", "image"),
    "image-for-text": ("text", "image"),
    "text-for-image": ("image", "text"),
    "quality": ("text", "image"),
}
QUALITY_PROMPT = "A high quality photo."  # the reference of every quality example (UniSim, section 3.3, footnote 1)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Questions of one task from one data set, in the format of an evaluated task's items."""

    task: str  # one of TASKS
    dataset: str
    data: Choices  # with two alternatives; without a reference if the task is quality

    def __len__(self) -> int:
        return len(self.data.names)

    @cached_property
    def columns(self) -> tuple[Column, Column, Column]:
        """Returns references and alternatives; for quality, every reference is the prompt."""
        prompts = Column(
            modality="text",
            keys=np.full(len(self), content_key(QUALITY_PROMPT)),
            read=lambda row: QUALITY_PROMPT,
            name=lambda row: "the prompt",
        )
        return (self.data.reference or prompts, *self.data.alternatives)

    @property
    def images(self) -> list[Column]:
        """Returns the columns of images."""
        return [column for column in self.columns if column.modality == "image"]

    def take(self, rows: np.ndarray) -> Examples:
        """Returns the examples at these rows."""
        return replace(self, data=take(self.data, rows))

    def record(self) -> dict[str, Any]:
        """Returns the entry in a run's plan: task, data set, number, and a digest of all contents, their order and
        answers.
        """
        keys = np.stack([column.keys for column in self.columns], axis=1)
        contents = sha256(keys.tobytes() + self.data.answer.astype(np.int8).tobytes()).hexdigest()
        return {"task": self.task, "dataset": self.dataset, "examples": len(self), "contents": contents}


Example = tuple[Examples, int]  # examples, and the row


def packed(samples: list[Sample], *, task: str, dataset: str, files: Files, cache: Path | None = None) -> Examples:
    """Returns a data set's samples as examples. Every distinct image is read once, for its key, which is stored in
    `cache`.
    """
    of_reference, of_alternatives = TASKS[task]
    named = [name for sample in samples for name in sample.alternatives if of_alternatives == "image"]
    named += [sample.reference for sample in samples if of_reference == "image"]
    place = {name: at for at, name in enumerate(dict.fromkeys(named))}
    images = files.images(tuple(place), cache=cache)

    def look(contents: Sequence[str], pictures: bool) -> Column:
        return images.take([place[name] for name in contents]) if pictures else texts(contents, of=dataset)

    asked = {"reference": "", "question": "quality"} if task == "quality" else {"reference": of_reference}
    data = items(samples, look, alternatives=of_alternatives, **{"question": "reference"} | asked)
    names = tuple(f"{dataset} {row}" for row in range(len(samples)))  # the samples' names may repeat
    return Examples(task=task, dataset=dataset, data=replace(data, names=names))


@contextmanager
def naming(column: Column, row: int) -> Iterator[None]:
    """Adds the content's name to an exception about it."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{column.name(row)}: {error}") from error


def text(column: Column, row: int) -> str:
    """Returns a text of a column. Raises BadInput with its name if it is blank."""
    with naming(column, row):
        return decoding.checked(column.read(row))


def batches(sets: Sequence[Examples], *, batch_size: int, seed: int, step: int) -> dict[str, list[Example]]:
    """Returns the batch of each task at a step from 0: `batch_size` examples of every task, regardless of its data's
    size.

    It is a pure function of its arguments, so training can resume from the step number alone. The data sets of a task
    are concatenated, so that each is sampled in proportion to its size (equation 2), and reshuffled every epoch; each
    example occurs once per epoch. Epochs are per task: examples of a small task repeat sooner, and some examples of a
    large task never occur. 12,500 steps of 32 are thus the paper's 400K samples of every task (appendix B.2).
    """
    tasks = {task: [part for part in sets if part.task == task] for task in TASKS}
    positions = range(step * batch_size, (step + 1) * batch_size)
    return {task: taken(parts, positions, seed=seed) for task, parts in tasks.items() if parts}


def taken(parts: Sequence[Examples], positions: Sequence[int], *, seed: int) -> list[Example]:
    """Returns the examples at these positions of a task's infinite shuffled order. The order depends on the task;
    otherwise tasks of one data set would run in lockstep.
    """
    ends = np.cumsum([len(part) for part in parts])
    order = list(TASKS).index(parts[0].task)
    rows = [int(_shuffled(int(ends[-1]), seed, order, at // ends[-1])[at % ends[-1]]) for at in positions]
    of = np.searchsorted(ends, rows, side="right")
    return [(parts[at], row - int(ends[at]) + len(parts[at])) for at, row in zip(of, rows, strict=True)]


@lru_cache(maxsize=2 * len(TASKS))  # a batch may end one epoch and begin the next
def _shuffled(count: int, seed: int, order: int, epoch: int) -> np.ndarray:
    """Returns (count,) int: the order of an epoch."""
    return np.random.default_rng([seed, order, epoch]).permutation(count)
