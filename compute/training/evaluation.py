"""Core and generalisation of a model in memory, by the procedures and metrics that `compute run` uses.

Which items training is measured on, and which choose the best checkpoint. None of them is trained on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from compute import tasks
from compute.catalog import shipped
from compute.content.items import Column
from compute.engine import scoring
from compute.engine.plan import defaults
from compute.features import encoding
from compute.metrics.figures import Figure
from compute.models.adapter import Encoder
from compute.procedures import procedure
from compute.tasks.data import Data
from compute.tasks.source import Source
from compute.training import drawn, splits
from compute.training.splits import FileExamples
from compute.types import WHOLE, BadInput, BadItem, LikenessError, Model, Task

# The tasks that the multi-task metric is trained on, by the papers' names of the catalogue's categories (Table 2); the
# others measure generalisation (Table 3).
CORE = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")
SIDES = ("core", "ood")
BATCH = 64  # items embedded at once
DRAWN_OOD = (
    "While training, out-of-distribution averages are of drawn items, synthetic, for the training splits have none: "
    "what holds on them need not hold on photographs. The final table has the suite's own"
)


@dataclass(frozen=True, kw_only=True)
class HeldOutTask:
    """A task of the catalogue with items of it, by subset, that nothing is trained on."""

    task: Task
    data: Mapping[str, Data]


@dataclass(frozen=True, kw_only=True)
class TaskMeasurement:
    """One task's headline. `items`: a row an item with `item`, `subset` and the metric's column, where it has one."""

    task: Task
    figure: Figure
    items: pd.DataFrame | None

    @property
    def side(self) -> str:
        """Of SIDES: whether the task is one that is trained on."""
        return "core" if self.task.category in CORE else "ood"


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A model on all held-out tasks, by task key."""

    tasks: Mapping[str, TaskMeasurement]

    def weights(self, side: str) -> dict[str, float]:
        """What each task counts in its side's average: a category counts once, whatever number of tasks it has."""
        own = {key: part.task.category for key, part in self.tasks.items() if part.side == side}
        categories = list(own.values())
        return {key: 1 / len(set(categories)) / categories.count(category) for key, category in own.items()}

    def average(self, side: str) -> float:
        """The mean of the side's categories' means, as in Tables 2 and 3; NaN without such tasks."""
        weights = self.weights(side)
        return sum(share * self.tasks[key].figure.value for key, share in weights.items()) if weights else math.nan

    def record(self) -> dict[str, Any]:
        """The scores alone, to be written as JSON: {core, ood, tasks: {key: {side, metric, value, stderr, n}}}."""
        sides = {side: float(self.average(side)) for side in SIDES}
        return {side: None if math.isnan(value) else value for side, value in sides.items()} | {
            "tasks": {
                key: {
                    "side": part.side,
                    "metric": part.task.metrics[0],
                    "value": float(part.figure.value),
                    "stderr": None if part.figure.stderr is None else float(part.figure.stderr),
                    "n": int(part.figure.n),
                }
                for key, part in self.tasks.items()
            },
        }


def measured(held_out: Sequence[HeldOutTask], *, row: Model, encoder: Encoder) -> Measurement:
    """Every task's headline of a model as it is now.

    `row`: its row of the catalogue, whose abilities decide how a procedure asks. Raises BadItem for an item that cannot
    be decoded or whose embedding is not finite.
    """
    subject = _InMemory(row, encoder)
    return Measurement(tasks={part.task.key: _measured(part, subject) for part in held_out})


class _InMemory:
    """A procedure's Subject over an encoder in memory; each distinct content is embedded once."""

    def __init__(self, row: Model, encoder: Encoder) -> None:
        self.row, self._encoder = row, encoder
        self._vectors: dict[bytes, np.ndarray] = {}

    def can(self, ability: str) -> bool:
        return ability in ("embed_image", "embed_text")

    def embed(self, column: Column) -> np.ndarray:
        keys = column.keys.tolist()
        rows = [row for key, row in {key: row for row, key in enumerate(keys)}.items() if key not in self._vectors]
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            vectors = self._encoder.embed(column.modality, [self._prepared(column, row) for row in part])
            for row, vector in zip(part, vectors, strict=True):
                if not np.isfinite(vector).all():
                    raise BadItem(column.name(row), "its embedding is not finite", key=keys[row])
                self._vectors[keys[row]] = vector
        return np.stack([self._vectors[key] for key in keys])

    def _prepared(self, column: Column, row: int) -> Any:
        try:
            return encoding.ready(column.modality, column.content(row), self._encoder.prepare)
        except BadInput as error:
            raise BadItem(column.name(row), str(error), key=column.keys[row]) from error


def _measured(held_out: HeldOutTask, subject: _InMemory) -> TaskMeasurement:
    task, asked = held_out.task, procedure(held_out.task.procedure)
    options = defaults(subject.row, asked.options)
    frames = {subset: asked.run(subject, part, options).items for subset, part in held_out.data.items()}
    metric = task.metrics[0]
    figures = {subset: figure for name, subset, figure in scoring.scored(task, frames).rows if name == metric}
    items = None
    if all(metric in frame for frame in frames.values()):  # else it is not a mean over items
        parts = [
            pd.DataFrame(
                {
                    # As run_folders.table names items.
                    "item": [f"{subset}/{name}" if len(frames) > 1 else str(name) for name in frame["item"]],
                    "subset": subset,
                    metric: frame[metric].astype(float),
                }
            )
            for subset, frame in frames.items()
        ]
        items = pd.concat(parts, ignore_index=True)
    return TaskMeasurement(task=task, figure=figures.get(WHOLE) or next(iter(figures.values())), items=items)


def suite_tasks(suite: str) -> list[Task]:
    """The suite's tasks of UniSim's kind: what is trained, and what the paper calls generalisation."""
    catalog = shipped()
    if suite == "mini":
        return [catalog.task(key) for key in (*drawn.CORE, *drawn.OOD)]
    return [task for task in catalog.tasks if {"unisim-core", "unisim-ood"} & set(task.suites)]


def suite_items(suite: str, *, source: Source) -> tuple[list[HeldOutTask], dict[str, str]]:
    """The suite's own items, for the final table only; and the tasks that cannot be read here, each with the reason."""
    present: list[HeldOutTask] = []
    missing: dict[str, str] = {}
    for task in suite_tasks(suite):
        options = {name: values[0] for name, values in tasks.options_of(task).items()}
        try:
            present.append(HeldOutTask(task=task, data=tasks.load(task, source=source, options=options)))
        except LikenessError as error:
            missing[task.key] = str(error)
    return present, missing


def validation_items(suite: str, parts: Sequence[FileExamples] = ()) -> list[HeldOutTask]:
    """Items that the best checkpoint is chosen by: none is trained on, and none is the suite's own.

    Of `unisim` the core ones are `parts` of the training splits (`splits.divided`). Nothing of Table 5 measures
    generalisation, so the others are mini's, drawn: DRAWN_OOD. Raises BadInput where there are no `parts`.
    """
    core: list[HeldOutTask] = []
    if suite == "unisim":
        if not parts:
            raise BadInput(
                "No example of the training splits can be held out to choose the stored step by: they are too few, or "
                "all of a data set have images in common. Train on more data sets"
            )
        alike = {(row.task, row.dataset): row.evaluated for row in splits.SPLITS}
        core = [
            HeldOutTask(task=shipped().task(alike[part.task, part.dataset]), data={"default": splits.choices(part)})
            for part in parts
        ]
    data = drawn.validation(core=suite == "mini")
    return core + [HeldOutTask(task=task, data=data[task.key]) for task in suite_tasks("mini") if task.key in data]
