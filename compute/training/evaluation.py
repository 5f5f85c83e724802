"""Core and generalisation of a model in memory, by the procedures and metrics that `compute run` uses.

Which items training is measured on, and which choose the best checkpoint. None of them is trained on. The paper's own
finding is that tuning on several tasks costs accuracy on others (UniSim, Tables 2 and 3), so that neither side is ever
shown without the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from compute import tasks
from compute.analysis.comparison import paired_difference
from compute.catalog import shipped
from compute.engine import run_folders, scoring
from compute.engine.plan import defaults
from compute.features.subject import MemoryStore, Subject
from compute.models.adapter import Encoder
from compute.procedures import procedure
from compute.rounding import rounded
from compute.tasks import mini
from compute.tasks.data import Data
from compute.tasks.source import Source
from compute.training import splits
from compute.training.examples import Examples
from compute.types import WHOLE, BadInput, LikenessError, Model, Task

# The tasks that the multi-task metric is trained on, by the papers' names of the catalogue's categories (Table 2); the
# others measure generalisation (Table 3).
CORE = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")
TITLES = {"core": "Core", "ood": "Out of distribution"}
SIDES = tuple(TITLES)
HEADINGS = ("", "before", "after", "difference", "95% interval")
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
    """Returns the headlines of a model as it is now, a row per task.

    `task`, `title`, `side` (of SIDES), `metric`, `value`, `stderr`, `n`, and `weight`: what the task counts in its
    side's average, where a category counts once, whatever number of tasks it has. `items` has a row per item with
    `item`, `subset` and the metric's column, and is None if the metric is not a mean over items. `row` is of the
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
    """Returns the scores alone, to be written as JSON: {core, ood, tasks: {key: {side, metric, value, stderr, n}}}."""
    sides = {side: average(measured, side) for side in SIDES}
    scores = measured.set_index("task")[["side", "metric", "value", "stderr", "n"]].astype(object)
    return {side: None if math.isnan(value) else value for side, value in sides.items()} | {
        "tasks": scores.where(scores.notna(), None).to_dict("index")
    }


def _measured(task: Task, data: Mapping[str, Data], subject: Subject) -> dict[str, Any]:
    asked, metric = procedure(task.procedure), task.metrics[0]
    options = defaults(subject.row, asked.options)
    frames = {subset: asked.run(subject, part, options).items for subset, part in data.items()}
    figures = {subset: figure for name, subset, figure in scoring.scored(task, frames)[0] if name == metric}
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


def suite_items(*, source: Source, report: Callable[[str], None]) -> list[HeldOut]:
    """UniSim's own items, for the final table only; a line is reported on tasks that cannot be read here."""
    present: list[HeldOut] = []
    missing: list[str] = []
    for task in shipped().tasks:
        if {"unisim-core", "unisim-ood"} & set(task.suites):
            try:
                present.append((task, tasks.load(task, source=source)))
            except LikenessError as error:
                missing.append(f"{task.key}: {error}")
    if missing:
        report(f"{len(missing)} tasks of unisim are not measured, such as {missing[0]}")
    return present


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


@dataclass(frozen=True, kw_only=True)
class TaskChange:
    """One task, or the average of a side, before and after training. Fractions; NaN ends: the interval is not known."""

    key: str  # of the task; of an average that of its side
    title: str
    side: str  # of SIDES
    before: float
    after: float
    low: float  # of the 95% interval of after - before, over items
    high: float

    @property
    def difference(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def is_average(self) -> bool:
        """Whether this is a side's average."""
        return self.key == self.side


def changes(*, before: pd.DataFrame, after: pd.DataFrame) -> list[TaskChange]:
    """Returns the average of each side, followed by its tasks. Both are as `measured` gives them, of the same items.

    A task's interval inverts the test of its items' flipped signs. An average's joins those of its tasks, which show
    different items, as independent: the half width is the root of the sum of squares of theirs, each times its weight.
    A task without a change on any item adds nothing to it; another without an interval, or no change at all, leaves
    none.
    """
    out: list[TaskChange] = []
    for side in SIDES:
        tasks, squares = [], 0.0
        for first, now in zip(before.itertuples(), after.itertuples(), strict=True):
            if first.side != side:
                continue
            low = high = half = math.nan
            if first.items is not None and now.items is not None:
                paired = paired_difference(now.items, first.items, metric=first.metric)
                low, high = paired.low, paired.high
                half = 0.0 if first.items.equals(now.items) else (high - low) / 2
            ends = {"before": first.value, "after": now.value, "low": low, "high": high}
            tasks.append(TaskChange(key=first.task, title=first.title, side=side, **ends))
            squares += (first.weight * half) ** 2
        if tasks:
            first, now, half = average(before, side), average(after, side), math.sqrt(squares) or math.nan
            ends = {"low": now - first - half, "high": now - first + half}
            out += [TaskChange(key=side, title=TITLES[side], side=side, before=first, after=now, **ends), *tasks]
    return out


def numbers(row: TaskChange) -> tuple[str, str, str, str]:
    """Before and after in percent, their difference and its interval in points."""
    before, after = (rounded(value, 1, scale=100) for value in (row.before, row.after))
    gap, *ends = (
        "" if math.isnan(value) else rounded(value, 1, scale=100, sign=True)
        for value in (row.difference, row.low, row.high)
    )
    return before, after, gap, " to ".join(filter(None, ends))
