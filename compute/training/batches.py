"""The batches of the steps, made ready for the towers by torch's DataLoader while a step runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compute.training.examples import Content, ExampleSet, batches
from compute.types import LikenessError

if TYPE_CHECKING:
    import torch

    from compute.training.plan import TuningPlan
    from compute.training.towers import DualEncoder

WORKERS = 8  # processes that prepare for a device, at most; a CPU, whose cores the model needs, gets one


@dataclass(frozen=True)
class TrainingBatch:
    """A step's batch. A content that examples share comes once."""

    images: dict[str, torch.Tensor]  # (m, ...) of m images, as the image tower takes them
    texts: list[str]  # k
    rows: dict[str, torch.Tensor]  # task -> (n, 3) int: which of the m + k contents are reference and alternatives
    preferred: dict[str, torch.Tensor]  # task -> (n,) of 0 and 1


@dataclass(frozen=True)
class StepBatches:
    """The batch of every step of a plan, by its number. `compare` is called with every image and may refuse it."""

    base: DualEncoder
    sets: Sequence[ExampleSet]
    plan: TuningPlan
    compare: Callable[[Content], None] | None = None

    def __getitem__(self, step: int) -> TrainingBatch | LikenessError:
        """An error is returned, as the loader would wrap it in its own words."""
        try:
            return self._made(step)
        except LikenessError as error:
            return error

    def _made(self, step: int) -> TrainingBatch:
        import torch

        tasks = batches(self.sets, batch_size=self.plan.batch_size, seed=self.plan.seed, step=step)
        distinct = dict.fromkeys(each for part in tasks.values() for example in part for each in example.contents)
        shown = [content for content in distinct if content.modality == "image"]
        text_of = {content: content.text() for content in distinct if content.modality == "text"}
        texts = list(dict.fromkeys(text_of.values()))
        place = {content: at for at, content in enumerate(shown)}
        place |= {content: len(shown) + texts.index(text) for content, text in text_of.items()}
        images = [self._prepared(content) for content in shown]
        return TrainingBatch(
            images={name: torch.stack([image[name] for image in images]) for name in images[0]},
            texts=texts,
            rows={
                task: torch.tensor([[place[content] for content in example.contents] for example in part])
                for task, part in tasks.items()
            },
            preferred={task: torch.tensor([example.preferred for example in part]) for task, part in tasks.items()},
        )

    def _prepared(self, image: Content) -> dict[str, torch.Tensor]:
        if self.compare is not None:
            self.compare(image)
        return self.base.towers.prepare("image", image.image())


def prepared(source: StepBatches, *, start: int) -> Iterator[TrainingBatch]:
    """The batches of the steps from `start` on, made in other processes. Raises LikenessError for contents that cannot
    be read or are refused."""
    from torch.utils.data import DataLoader

    workers = min(WORKERS, max(1, (os.cpu_count() or 1) - 1)) if source.base.hardware.device != "cpu" else 1
    loader = DataLoader(
        source,
        batch_size=None,
        sampler=range(start, source.plan.steps),
        num_workers=workers if sys.platform == "linux" else 0,
        multiprocessing_context="fork" if sys.platform == "linux" else None,  # what reads a data set cannot be sent
    )
    for batch in loader:
        if isinstance(batch, LikenessError):
            raise batch
        yield batch
