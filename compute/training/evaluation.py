"""Core and generalisation of a model in memory, by the procedures and metrics that `compute run` uses.

Which items training is measured on, and which choose the best checkpoint. None of them is trained on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from compute import tasks
from compute.catalog import shipped
from compute.engine import run_folders, scoring
from compute.engine.plan import defaults
from compute.features.memory import MemoryStore
from compute.features.subject import Subject
from compute.models.adapter import Encoder
from compute.procedures import procedure
from compute.tasks import mini
from compute.tasks.data import Data
from compute.tasks.source import Source
from compute.training import splits
from compute.training.examples import Examples
from compute.types import WHOLE, BadInput, LikenessError, Model, Task

# The tasks that the multi-task metric is trained on, by the papers' names of the catalogue's categories (Table 2); the
# others measure generalisation (Table 3).
CORE = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")
SIDES = ("core", "ood")
# Drawn tasks of the categories that UniSim calls out of distribution (sections 3.1 and 3.2): attributes, odd one out,
# image retrieval. Nothing of Table 5 measures them.
OOD = ("mini/sharpness", "mini/odd-one-out", "mini/instances")
DRAWN_OOD = (
    "While training, out-of-distribution averages are of drawn items, synthetic, for the training splits have none: "
    "what holds on them need not hold on photographs. The final table has the suite's own"
)


# A task of the catalogue with items of it, by subset, that nothing is trained on.
HeldOut = tuple[Task, Mapping[str, Data]]


def measured(held_out: Sequence[HeldOut], *, row: Model, encoder: Encoder) -> pd.DataFrame:
    """The headlines of a model as it is now, a row a task.

    `task`, `title`, `side` (of SIDES), `metric`, `value`, `stderr`, `n`, and `weight`: what the task counts in its
    side's average, where a category counts once, whatever number of tasks it has. `items` has a row an item with
    `item`, `subset` and the metric's column, and is None where the metric is no mean over items. `row` is of the
    catalogue: its abilities decide how a procedure asks. Raises BadItem for an item that cannot be decoded or whose
    embedding is not finite.
    """
    subject = Subject(row, MemoryStore(), load=lambda row, hardware: encoder)
    frame = pd.DataFrame([_measured(task, data, subject) for task, data in held_out])
    categories = frame.groupby("side")["category"].transform("nunique")
    return frame.assign(weight=1 / categories / frame.groupby("category")["task"].transform("size"))


def average(measured: pd.DataFrame, side: str) -> float:
    """The mean of the side's categories' means, as in Tables 2 and 3; NaN without such tasks."""
    own = measured[measured["side"] == side]
    return float((own["weight"] * own["value"]).sum(min_count=1))


def record(measured: pd.DataFrame) -> dict[str, Any]:
    """The scores alone, to be written as JSON: {core, ood, tasks: {key: {side, metric, value, stderr, n}}}."""
    sides = {side: average(measured, side) for side in SIDES}
    scores = measured.set_index("task")[["side", "metric", "value", "stderr", "n"]].astype(object)
    return {side: None if math.isnan(value) else value for side, value in sides.items()} | {
        "tasks": scores.where(scores.notna(), None).to_dict("index")
    }


def _measured(task: Task, data: Mapping[str, Data], subject: Subject) -> dict[str, Any]:
    asked, metric = procedure(task.procedure), task.metrics[0]
    options = defaults(subject.row, asked.options)
    frames = {subset: asked.run(subject, part, options).items for subset, part in data.items()}
    figures = {subset: figure for name, subset, figure in scoring.scored(task, frames).rows if name == metric}
    figure = figures.get(WHOLE) or next(iter(figures.values()))
    over_items = all(metric in frame for frame in frames.values())
    return {
        "task": task.key,
        "title": task.title,
        "category": task.category,
        "side": "core" if task.category in CORE else "ood",
        "metric": metric,
        "value": figure.value,
        "stderr": figure.stderr,
        "n": figure.n,
        "items": run_folders.table(frames)[["item", "subset", metric]] if over_items else None,
    }


def suite_items(*, source: Source) -> tuple[list[HeldOut], dict[str, str]]:
    """UniSim's own items, for the final table only; and the tasks that cannot be read here, each with the reason."""
    present: list[HeldOut] = []
    missing: dict[str, str] = {}
    for task in shipped().tasks:
        if not {"unisim-core", "unisim-ood"} & set(task.suites):
            continue
        options = {name: values[0] for name, values in tasks.options_of(task).items()}
        try:
            present.append((task, tasks.load(task, source=source, options=options)))
        except LikenessError as error:
            missing[task.key] = str(error)
    return present, missing


def validation_items(parts: Sequence[Examples]) -> list[HeldOut]:
    """Items that the best checkpoint is chosen by, `parts` of the training splits that are not trained on
    (`splits.divided`); and drawn ones out of distribution, DRAWN_OOD. Raises BadInput without `parts`."""
    if not parts:
        raise BadInput(
            "No example of the training splits can be held out to choose the stored step by: they are too few, or "
            "all of a data set have images in common. Train on more data sets"
        )
    catalog, alike = shipped(), {(row.task, row.dataset): row.evaluated for row in splits.SPLITS}
    core = [(catalog.task(alike[part.task, part.dataset]), {"default": part.data}) for part in parts]
    return core + [(catalog.task(key), mini.load(catalog.task(key))) for key in OOD]
