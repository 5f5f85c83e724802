"""What the multi-task metric is trained on: two-alternative questions, and balanced batches of them.

Every example is a triplet of equation 1: a reference, two alternatives, and which of them people prefer. The four core
tasks differ only in what is an image and what is a text (UniSim, section 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from compute.content import decoding
from compute.content.items import content_key
from compute.types import BadInput, unknown

if TYPE_CHECKING:
    from PIL import Image

# The core tasks and the modalities of reference and alternatives: Img-2AFC, IT-2AFC, Text-2AFC, IQA.
TASKS = {
    "image-choice": ("image", "image"),
    "image-for-text": ("text", "image"),
    "text-for-image": ("image", "text"),
    "quality": ("text", "image"),
}
QUALITY_PROMPT = "A high quality photo."  # the reference of every quality example (UniSim, section 3.3, footnote 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Content:
    """One image or text, read or drawn only when it is used; examples that share one share the object."""

    modality: str  # "image" or "text"
    name: str  # for messages
    read: Callable[[], Any]  # an image file's bytes, or a text
    draw: Callable[[], Image.Image] | None = None  # of drawn images, which need not be encoded to be seen

    def text(self) -> str:
        """The text. Raises BadInput, naming it, where it is blank."""
        try:
            return decoding.checked(self.read())
        except BadInput as error:
            raise BadInput(f"{self.name}: {error}") from error

    def image(self) -> Image.Image:
        """The image in RGB, not to be changed. Raises BadInput, naming it, where its file is damaged."""
        try:
            return decoding.picture(self.draw or self.read())
        except BadInput as error:
            raise BadInput(f"{self.name}: {error}") from error

    def key(self) -> bytes:
        """The content key, as evaluation items have it."""
        return content_key(self.read())


@dataclass(frozen=True, kw_only=True)
class TrainingExample:
    """One two-alternative question with its answer."""

    task: str  # one of TASKS
    dataset: str
    reference: Content
    alternatives: tuple[Content, Content]
    preferred: int  # 0 or 1

    @property
    def contents(self) -> tuple[Content, Content, Content]:
        """Reference and alternatives."""
        return (self.reference, *self.alternatives)


class ExampleSet(Protocol):
    """Examples of one task from one data set.

    A row always gives the same example. `group_size` rows in a row share contents and stay together in a batch; groups
    of one number share contents with other tasks' where that is above 1.
    """

    task: str  # one of TASKS
    dataset: str
    group_size: int

    def __len__(self) -> int: ...

    def __getitem__(self, row: int) -> TrainingExample: ...

    def identity(self) -> str:
        """A digest or a description of all examples, their order and answers."""
        ...

    def keys(self) -> np.ndarray | None:
        """(n, 3) S32: the content keys of reference and alternatives; None where they are known only once drawn."""
        ...


def check_task(task: str) -> None:
    """Raises BadInput for a task without training examples."""
    if task not in TASKS:
        raise BadInput(unknown("training task", task, TASKS, listed=True))


def batches(sets: Sequence[ExampleSet], *, batch_size: int, seed: int, step: int) -> dict[str, list[TrainingExample]]:
    """The batch of each task at a step from 0: `batch_size` examples of every task, whatever the sizes of its data.

    A pure function of its arguments, so training resumes from the step's number alone. The data sets of a task are
    concatenated, so that each has a share by its size (equation 2), and reshuffled every epoch; each example comes
    once an epoch. A task's epochs are its own: a small task's examples come again sooner, of a large one some never
    come. So 12,500 steps of 32 are the paper's 400K samples of every task (appendix B.2).
    """
    tasks = {task: [part for part in sets if part.task == task] for task in TASKS}
    positions = range(step * batch_size, (step + 1) * batch_size)
    return {task: taken(parts, positions, seed=seed) for task, parts in tasks.items() if parts}


def taken(parts: Sequence[ExampleSet], positions: Sequence[int], *, seed: int) -> list[TrainingExample]:
    """The examples at these positions of a task's endless shuffled order, groups as a whole."""
    count, size, task = sum(map(len, parts)), parts[0].group_size, parts[0].task
    # Tasks have their own orders, or those of one data set ran in step; where they share groups, one order.
    order = len(TASKS) if size > 1 else list(TASKS).index(task)
    return [
        _at(
            parts,
            int(_shuffled(count // size, seed, order, at // count)[at % count // size]) * size + at % size,
        )
        for at in positions
    ]


def _at(parts: Sequence[ExampleSet], row: int) -> TrainingExample:
    """The example of a row of the concatenated sets."""
    for part in parts:
        if row < len(part):
            return part[row]
        row -= len(part)
    raise IndexError(row)


@lru_cache(maxsize=2 * len(TASKS))  # a batch may end one epoch and begin the next
def _shuffled(count: int, seed: int, order: int, epoch: int) -> np.ndarray:
    """(count,) int: the order of an epoch's groups."""
    return np.random.default_rng([seed, order, epoch]).permutation(count)
