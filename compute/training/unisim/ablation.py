"""Table 4's ablation on drawn data: how many image-text data sets the image-for-text task is trained on.

The paper adds HPDv2 and ImageReward to one data set; their images cannot be drawn. Three domains of the drawn scenes
stand in: they differ in what the background is, as real data sets differ in what their images show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from compute.progress import Progress
from compute.tasks.drawing.variants import Shown
from compute.training.unisim import mini
from compute.training.unisim.examples import ExampleSet, TrainingExample
from compute.training.unisim.mini import DrawnExamples, random_of
from compute.training.unisim.question_groups import QUESTION_GROUPS, QUESTIONS
from compute.types import LikenessError, UnknownKey

DOMAINS = ("photographs", "plain", "textures")  # of backgrounds, in the order in which they are added
TASK = "image-for-text"
COUNT = 8192  # examples of each domain


@dataclass(frozen=True)
class DomainExamples:
    """The groups of `drawn` of which every scene has a background of `domain`, the first `count` examples of them.

    Raises LikenessError when it is read where `drawn` holds fewer.
    """

    group_size: ClassVar[int] = QUESTIONS

    drawn: DrawnExamples
    domain: str
    count: int = COUNT

    @property
    def task(self) -> str:
        """That of the drawn examples."""
        return self.drawn.task

    @property
    def dataset(self) -> str:
        """The drawn scenes, and the domain."""
        return f"{self.drawn.dataset}, {self.domain}"

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: int) -> TrainingExample:
        return self.drawn[int(self._rows[row])]

    def keys(self, progress: Progress | None = None) -> np.ndarray:
        """(n, 3) S32: the content keys of reference and alternatives, stored where those of `drawn` are."""
        return self.drawn.stored_keys(self._rows, of=self.domain, progress=progress)

    @cached_property
    def _rows(self) -> np.ndarray:
        rows: list[int] = []
        for number in range(len(self.drawn) // QUESTIONS):
            group = QUESTION_GROUPS[self.task](random_of(self.task, self.drawn.seed, number), number)
            if all(domain_of(image) == self.domain for image in group.contents if isinstance(image, Shown)):
                rows += range(number * QUESTIONS, (number + 1) * QUESTIONS)
                if len(rows) >= self.count:
                    return np.array(rows[: self.count], dtype=np.int64)
        raise LikenessError(f"{self.dataset}: {len(rows)} examples among {len(self.drawn)} drawn, not {self.count}")


def domain_of(image: Shown) -> str:
    """Of DOMAINS: what the image's background is."""
    background = image.scene.background
    if background.photograph:
        return "photographs"
    return "plain" if background.texture == "plain" else "textures"


def examples(
    domains: Sequence[str], *, seed: int, count: int = COUNT, others: int = mini.COUNT, cache: Path | None = None
) -> list[ExampleSet]:
    """All core tasks' examples; of the image-for-text task those of these domains alone, `count` each.

    `others`: how many of each other task. Both are rounded up to whole groups. `cache`: where content keys are stored.
    Raises UnknownKey for a domain that is not in DOMAINS.
    """
    for domain in domains:
        if domain not in DOMAINS:
            raise UnknownKey("domain", domain, DOMAINS)
    count = mini.whole_groups(count)
    pool = DrawnExamples(task=TASK, seed=seed, count=count * 20, cache=cache)
    rest = [part for part in mini.training(seed=seed, count=others, cache=cache) if part.task != TASK]
    return [*rest, *(DomainExamples(pool, domain, count) for domain in domains)]
