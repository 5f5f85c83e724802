"""Core and generalisation of a model in memory, by the procedures and metrics that `compute run` uses.

Training measures itself with this: `Evaluator` holds the items, and each call of `measure` takes the model as it is
then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from compute.analysis.item_difference import ItemDifference, paired_difference
from compute.content.items import Column
from compute.content.messages import Question, Reply
from compute.engine import scoring
from compute.engine.plan import defaults
from compute.features import encoding
from compute.metrics.figures import Figure
from compute.procedures import PROCEDURES
from compute.tasks.data import Data
from compute.types import WHOLE, BadInput, BadItem, CannotDo, LikenessError, Model, Task

if TYPE_CHECKING:
    from PIL import Image

    from compute.models.adapter import Encoder

    Embed = Callable[[Sequence[Image.Image]], np.ndarray] | Callable[[Sequence[str]], np.ndarray]

# The tasks that the multi-task metric is trained on, by the papers' names of the catalogue's categories (Table 2); the
# others measure generalisation (Table 3).
CORE = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")
SIDES = ("core", "ood")
BATCH = 64  # items embedded at once


@dataclass(frozen=True, kw_only=True)
class HeldOutTask:
    """A task of the catalogue with items of it, by subset, that nothing is trained on."""

    task: Task
    data: Mapping[str, Data]

    @property
    def side(self) -> str:
        """Of SIDES: whether the task is one that is trained on."""
        return "core" if self.task.category in CORE else "ood"


@dataclass(frozen=True, kw_only=True)
class TaskMeasurement:
    """One task's headline. `items`: a row an item with `item`, `subset` and the metric's column, where it has one."""

    task: Task
    side: str  # of SIDES
    figure: Figure
    items: pd.DataFrame | None

    @property
    def value(self) -> float:
        """The headline, a fraction."""
        return self.figure.value


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A model on all held-out tasks, by task key."""

    tasks: Mapping[str, TaskMeasurement]

    def of(self, side: str) -> dict[str, float]:
        """The headline of each task of a side, by key."""
        return {key: part.value for key, part in self.tasks.items() if part.side == side}

    @cached_property
    def core(self) -> float:
        """The mean of the core categories' means, as in Table 2; NaN without core tasks."""
        return self._average("core")

    @cached_property
    def ood(self) -> float:
        """The mean of the other categories' means, as in Table 3; NaN without such tasks."""
        return self._average("ood")

    def weights(self, side: str) -> dict[str, float]:
        """What each task counts in its side's average: a category counts once, whatever number of tasks it has."""
        categories = [part.task.category for part in self.tasks.values() if part.side == side]
        return {
            key: 1 / len(set(categories)) / categories.count(part.task.category)
            for key, part in self.tasks.items()
            if part.side == side
        }

    def record(self) -> dict[str, Any]:
        """The figures alone, to be written as JSON: {core, ood, tasks: {key: {side, metric, value, stderr, n}}}."""
        return {
            "core": _known(self.core),
            "ood": _known(self.ood),
            "tasks": {
                key: {
                    "side": part.side,
                    "metric": part.task.metrics[0],
                    "value": part.value,
                    "stderr": part.figure.stderr,
                    "n": part.figure.n,
                }
                for key, part in self.tasks.items()
            },
        }

    def line(self) -> str:
        """Both averages side by side, then each task, in percent."""
        sides = "  ".join(f"{side} {getattr(self, side):.1%}" for side in SIDES if self.of(side))
        each = ", ".join(f"{key.rpartition('/')[2]} {part.value:.1%}" for key, part in self.tasks.items())
        return f"{sides}  ({each})"

    def _average(self, side: str) -> float:
        weights = self.weights(side)
        return sum(weights[key] * value for key, value in self.of(side).items()) if weights else math.nan


class Evaluator:
    """Held-out items, and the text tower of the model that is trained.

    `row` is the base's row of the catalogue: its abilities decide how a procedure asks. `embed_texts` gives (n, d) of n
    texts, which are cached where `frozen_texts` says that they do not change. Raises BadInput where nothing is held
    out.
    """

    def __init__(
        self,
        held_out: Sequence[HeldOutTask],
        *,
        row: Model,
        embed_texts: Callable[[Sequence[str]], np.ndarray],
        frozen_texts: bool = False,
        batch: int = BATCH,
    ) -> None:
        if not held_out:
            raise BadInput("There is nothing to evaluate on: no task has held-out items")
        self.held_out, self.row, self.batch = tuple(held_out), row, batch
        self._embed_texts, self._frozen_texts = embed_texts, frozen_texts
        self._texts: dict[bytes, np.ndarray] = {}

    def measure(self, embed_images: Callable[[Sequence[Image.Image]], np.ndarray]) -> Measurement:
        """Every task's headline with the towers as they are now; `embed_images` gives (n, d) of n RGB images.

        Raises BadItem for an item that cannot be decoded or whose embedding is not finite.
        """
        subject = _InMemory(
            self.row,
            functions={"image": embed_images, "text": self._embed_texts},
            vectors={"image": {}, "text": self._texts if self._frozen_texts else {}},
            batch=self.batch,
        )
        return Measurement(tasks={part.task.key: _measured(part, subject) for part in self.held_out})


def measured(held_out: Sequence[HeldOutTask], *, row: Model, encoder: Encoder) -> Measurement:
    """A loaded model on held-out items. Raises BadInput, BadItem as `Evaluator`."""
    embed_images, embed_texts = (partial(_embedded, encoder, modality) for modality in ("image", "text"))
    return Evaluator(held_out, row=row, embed_texts=embed_texts).measure(embed_images)


def _embedded(encoder: Encoder, modality: str, contents: Sequence[Any]) -> np.ndarray:
    return encoder.embed(modality, [encoder.prepare(modality, each) for each in contents])


class _InMemory:
    """A procedure's Subject over two functions; each distinct content is embedded once."""

    def __init__(
        self,
        row: Model,
        *,
        functions: Mapping[str, Embed],
        vectors: Mapping[str, dict[bytes, np.ndarray]],
        batch: int,
    ) -> None:
        self.row, self._functions, self._vectors, self._batch = row, functions, vectors, batch

    def can(self, ability: str) -> bool:
        return ability in ("embed_image", "embed_text")

    def embed(self, column: Column) -> np.ndarray:
        if column.modality not in self._functions:
            raise CannotDo(f"{self.row.key} embeds images and texts in training, no {column.modality}")
        known = self._vectors[column.modality]
        first = {key: at for at, key in reversed(list(enumerate(column.keys.tolist()))) if key not in known}
        missing = sorted(first.values())
        for start in range(0, len(missing), self._batch):
            rows = missing[start : start + self._batch]
            known.update(zip(column.keys[rows].tolist(), self._run(column, rows), strict=True))
        return np.stack([known[key] for key in column.keys.tolist()])

    def embed_many(self, column: Column) -> tuple[np.ndarray, np.ndarray]:
        raise CannotDo(f"{self.row.key} has one vector an item")

    def compare(self, first: Column | None, second: Column) -> np.ndarray:
        raise CannotDo(f"{self.row.key} is trained as an encoder and compares nothing")

    def choose(self, questions: Sequence[Question]) -> list[Reply]:
        raise CannotDo(f"{self.row.key} is trained as an encoder and answers no questions")

    def _run(self, column: Column, rows: list[int]) -> np.ndarray:
        contents = list(_decoded(column, rows))
        vectors = np.asarray(self._functions[column.modality](contents), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(rows):
            raise LikenessError(f"{self.row.key}: {vectors.shape} of {len(rows)} {column.modality}s, not one row each")
        if len(bad := np.flatnonzero(~np.isfinite(vectors).all(axis=1))):
            at = rows[bad[0]]
            raise BadItem(column.name(at), "its embedding is not finite", key=bytes(column.keys[at]))
        return vectors


def _decoded(column: Column, rows: Sequence[int]) -> Iterator[Any]:
    for at in rows:
        try:
            yield encoding.ready(column.modality, column.content(at), lambda _, item: item)
        except BadInput as error:
            raise BadItem(column.name(at), str(error), key=bytes(column.keys[at])) from error


def _measured(held_out: HeldOutTask, subject: _InMemory) -> TaskMeasurement:
    task = held_out.task
    procedure = next((each for each in PROCEDURES if each.key == task.procedure), None)
    if procedure is None or not task.metrics:
        raise BadInput(f"{task.key} has no procedure to measure it by")
    options = defaults(subject.row, procedure.options)
    frames = {subset: procedure.run(subject, part, options).items for subset, part in held_out.data.items()}
    metric = task.metrics[0]
    figures = {subset: figure for name, subset, figure in scoring.scored(task, frames).rows if name == metric}
    return TaskMeasurement(
        task=task,
        side=held_out.side,
        figure=figures.get(WHOLE) or next(iter(figures.values())),
        items=_item_values(frames, metric),
    )


def _item_values(frames: Mapping[str, pd.DataFrame], metric: str) -> pd.DataFrame | None:
    """`item`, `subset` and the metric of every item, as `run_folders.table` names them; None: no mean over items."""
    if any(metric not in frame for frame in frames.values()):
        return None
    parts = [
        pd.DataFrame(
            {
                "item": [f"{subset}/{name}" if len(frames) > 1 else str(name) for name in frame["item"]],
                "subset": subset,
                metric: frame[metric].astype(float),
            }
        )
        for subset, frame in frames.items()
    ]
    return pd.concat(parts, ignore_index=True)


def difference(after: Measurement, before: Measurement, task: str) -> ItemDifference | None:
    """A task's headline after less before, with the interval over items; None where it is no mean over items."""
    first, second = after.tasks[task], before.tasks[task]
    if first.items is None or second.items is None:
        return None
    return paired_difference(first.items, second.items, metric=first.task.metrics[0])


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
