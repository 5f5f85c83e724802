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
from compute.content.items import Column, content_key
from compute.progress import Progress
from compute.types import BadInput, LikenessError, suggestion

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


@dataclass(frozen=True, kw_only=True)
class Content:
    """One image or text, read or drawn only when it is used, from any thread or forked process. The same contract as a
    Column's row."""

    modality: str  # "image" or "text"
    read: Callable[[], Any]  # an image file's bytes, or a text
    name: Callable[[], str]  # for messages
    draw: Callable[[], Image.Image] | None = None  # of drawn images, which need not be encoded to be seen
    known_key: bytes | None = None  # the content key, where it has been computed already

    def text(self) -> str:
        """The text. Raises BadInput, naming it, where it is blank."""
        try:
            return decoding.checked(self.read())
        except BadInput as error:
            raise BadInput(f"{self.name()}: {error}") from error

    def image(self) -> Image.Image:
        """The image in RGB, not to be changed. Raises BadInput, naming it, where its file is damaged."""
        try:
            return decoding.picture(self.draw or self.read())
        except BadInput as error:
            raise BadInput(f"{self.name()}: {error}") from error

    def data(self) -> bytes:
        """The bytes of the image's file, or the text in UTF-8."""
        content = self.read()
        return content.encode() if isinstance(content, str) else content

    def key(self) -> bytes:
        """The content key, as evaluation items have it."""
        return self.known_key or content_key(self.read())


@dataclass(frozen=True, kw_only=True)
class TrainingExample:
    """One two-alternative question with its answer: a reference, two alternatives, and the preferred one's index."""

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

    A set may have `group_size`, how many rows in a row share contents, from row 0 on: they are trained on together, so
    that each content of theirs is embedded once. Without it each example stands alone. Sets that have `shuffled_alike`,
    true, and are the only one of their task each, are shuffled in the same way, so that rows of one place, which may
    share contents with the other tasks', come in the same step.

    A set may have `preferred`, (n,) of its examples' preferred alternatives, so that they need not be read one by one.

    A set may have `catalogue_key`, of its data set in the catalogue, where it is not `dataset`.

    A set that draws its contents has `recipe`, a text of all that decides them. It identifies the examples in place of
    their keys, as listing keys means drawing every image. Its images are compared with the evaluated ones when they are
    drawn, before they are trained on.
    """

    @property
    def task(self) -> str:
        """One of TASKS."""
        ...

    @property
    def dataset(self) -> str:
        """Its name."""
        ...

    def __len__(self) -> int:
        """How many examples there are."""
        ...

    def __getitem__(self, row: int) -> TrainingExample:
        """The example of a row from 0; always the same for the same row, from any thread or forked process."""
        ...

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives. Reads or draws every content if it must."""
        ...


@dataclass(frozen=True, kw_only=True)
class ColumnExamples:
    """Examples whose contents are columns, as a task's loader gives them."""

    task: str
    dataset: str
    reference: Column
    alternatives: tuple[Column, Column]
    preferred: np.ndarray  # (n,) int, 0 or 1

    def __post_init__(self) -> None:
        check_task(self.task)
        of_reference, of_alternatives = TASKS[self.task]
        modalities = (self.reference.modality, *(column.modality for column in self.alternatives))
        if modalities != (of_reference, of_alternatives, of_alternatives):
            raise BadInput(
                f"{self.dataset}: examples of {self.task} are {of_reference}, {of_alternatives}, {of_alternatives}, "
                f"not {', '.join(modalities)}"
            )
        lengths = {len(self.preferred), len(self.reference), *map(len, self.alternatives)}
        if len(lengths) > 1:
            raise BadInput(f"{self.dataset}: columns of unlike lengths, {sorted(lengths)}")
        if not np.isin(self.preferred, (0, 1)).all():
            raise BadInput(f"{self.dataset}: a preferred alternative is neither 0 nor 1")

    def __len__(self) -> int:
        return len(self.preferred)

    def __getitem__(self, row: int) -> TrainingExample:
        first, second = self.alternatives
        return TrainingExample(
            task=self.task,
            dataset=self.dataset,
            reference=_of_column(self.reference, row),
            alternatives=(_of_column(first, row), _of_column(second, row)),
            preferred=int(self.preferred[row]),
        )

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives."""
        return np.stack([self.reference.keys, *(column.keys for column in self.alternatives)], axis=1)


def _of_column(column: Column, row: int) -> Content:
    return Content(
        modality=column.modality,
        read=lambda: column.read(row),
        name=lambda: column.name(row),
        draw=None if column.image is None else lambda: column.image(row),
    )


def check_task(task: str) -> None:
    """Raises BadInput for a task that there are no training examples of."""
    if task not in TASKS:
        raise BadInput(f"No task {task!r} to train on.{suggestion(task, TASKS)} Choose from {', '.join(TASKS)}")


def by_task(sets: Sequence[ExampleSet]) -> dict[str, list[ExampleSet]]:
    """The sets of each task, tasks in the order of TASKS. Raises BadInput where there are no examples at all, or a task
    is unknown, or a set is empty."""
    for part in sets:
        check_task(part.task)
        if not len(part):
            raise BadInput(f"{part.dataset}: no example of {part.task}. Check the data, or leave the data set out")
    if not sets:
        raise BadInput(f"No training examples. Name at least one data set of {', '.join(TASKS)}")
    tasks = {task: [part for part in sets if part.task == task] for task in TASKS}
    return {task: parts for task, parts in tasks.items() if parts}


def is_drawn(part: ExampleSet) -> bool:
    """Whether the set draws its contents: it then has a `recipe`."""
    return hasattr(part, "recipe")


def batches(sets: Sequence[ExampleSet], *, batch_size: int, seed: int, step: int) -> dict[str, list[TrainingExample]]:
    """The batch of each task at a step from 0: `batch_size` examples of every task, whatever the sizes of its data.

    A pure function of its arguments, so training resumes from the step's number alone. The data sets of a task are
    concatenated, so that each has a share by its size (equation 2), and shuffled anew every epoch, groups as a whole;
    each example comes once an epoch. A task's epochs are its own: a small task's examples come again sooner, of a large
    one some never come. So 12,500 steps of 32 are the paper's 400K samples of every task (appendix B.2).
    """
    return {
        task: [
            example_at(parts, row)
            for row in rows(
                sum(map(len, parts)),
                batch_size,
                seed=seed,
                task=task,
                step=step,
                group_size=_group_size(parts),
                alike=len(parts) == 1 and getattr(parts[0], "shuffled_alike", False),
            )
        ]
        for task, parts in by_task(sets).items()
    }


def _group_size(parts: Sequence[ExampleSet]) -> int:
    """The groups' size where all sets of a task have the same and hold whole ones only, else 1."""
    sizes = {getattr(part, "group_size", 1) for part in parts}
    size = sizes.pop() if len(sizes) == 1 else 1
    return 1 if any(len(part) % size for part in parts) else size


def rows(
    count: int, batch_size: int, *, seed: int, task: str, step: int, group_size: int = 1, alike: bool = False
) -> list[int]:
    """Which of a task's `count` examples are in the batch at a step; epochs follow one another without a gap.

    `group_size`: how many rows stay together; it divides `count`. `alike`: shuffled as other tasks of that count are.
    """
    if batch_size < 1 or step < 0:
        raise LikenessError(
            f"A batch of {batch_size} at step {step}: batches have at least 1 example, steps start at 0"
        )
    first = step * batch_size
    shuffle = len(TASKS) if alike else list(TASKS).index(task)
    return [
        int(_shuffled(count // group_size, seed, shuffle, position // count)[position % count // group_size])
        * group_size
        + position % group_size
        for position in range(first, first + batch_size)
    ]


@lru_cache(maxsize=2 * len(TASKS))  # a batch may end one epoch and begin the next
def _shuffled(count: int, seed: int, shuffle: int, epoch: int) -> np.ndarray:
    """(count,) int: the order of an epoch's groups.

    Each task has its own `shuffle`, or tasks of one data set ran in step; those that share contents have the same.
    """
    return np.random.default_rng([seed, shuffle, epoch]).permutation(count)


def example_at(parts: Sequence[ExampleSet], row: int) -> TrainingExample:
    """The example of a row of the concatenated sets."""
    for part in parts:
        if row < len(part):
            return part[row]
        row -= len(part)
    raise IndexError(row)
