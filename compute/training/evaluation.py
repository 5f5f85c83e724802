"""Core and generalisation scores of a model in memory, by the procedures and metrics of `compute run`.

It defines the items that training is measured on and those that select the best checkpoint. None of them is in the
training data. The paper finds that tuning on several tasks costs accuracy on others (UniSim, Tables 2 and 3), so
neither side is shown without the other.
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

# The tasks that the multi-task metric is trained on, by the paper's names of the catalogue's categories (Table 2). The
# others measure generalisation (Table 3).
CORE = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")
TITLES = {"core": "Core", "ood": "Out of distribution"}
SIDES = tuple(TITLES)
HEADINGS = ("", "before", "after", "difference", "95% interval")
# Drawn tasks in the categories that UniSim calls out of distribution (sections 3.1 and 3.2): attributes, odd one out,
# image retrieval. No data set of Table 5 covers them.
OOD = ("mini/sharpness", "mini/odd-one-out", "mini/instances")
DRAWN_OOD = (
    "While training, out-of-distribution averages are of drawn items, synthetic, for the training splits have none: "
    "what holds on them need not hold on photographs. The final table has the suite's own"
)


# A task of the catalogue with held-out items, by subset.
HeldOut = tuple[Task, Mapping[str, Data]]


def measured(held_out: Sequence[HeldOut], *, row: Model, encoder: Encoder) -> pd.DataFrame:
    """Returns the main scores of a model in its current state, one row per task.

    `task`, `title`, `side` (of SIDES), `metric`, `value`, `stderr`, `n`, and `weight`: the task's weight in its side's
    average, in which every category has equal weight. `items` has a row per item with `item`, `subset` and the metric's
    column, and is None if the metric is not a mean over items. `row` is from the catalogue: its abilities determine how
    a procedure asks. Raises BadItem for an item that cannot be decoded or whose embedding is not finite.
    """
    subject = Subject(row, MemoryStore(), load=lambda row, hardware: encoder)
    frame = pd.DataFrame([_measured(task, data, subject) for task, data in held_out])
    categories = frame.groupby("side")["category"].transform("nunique")
    return frame.assign(weight=1 / categories / frame.groupby("category")["task"].transform("size"))


def average(measured: pd.DataFrame, side: str) -> float:
    """Returns the mean of the side's category means, as in Tables 2 and 3; NaN without such tasks."""
    own = measured[measured["side"] == side]
    return float((own["weight"] * own["value"]).sum(min_count=1))


def record(measured: pd.DataFrame) -> dict[str, Any]:
    """Returns only the scores, to be written as JSON: {core, ood, tasks: {key: {side, metric, value, stderr, n}}}."""
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
    """Returns UniSim's own items, for the final table only. Reports a line about tasks that cannot be read here."""
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
    """Returns the items that select the best checkpoint: `parts`, the held-out examples of the training splits
    (`splits.divided`), and drawn items out of distribution (DRAWN_OOD). Raises BadInput without `parts`.
    """
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
    """One task, or the average of a side, before and after training. Values are fractions; the interval is unknown if
    its ends are NaN.
    """

    key: str  # of the task; for an average, its side
    title: str
    side: str  # of SIDES
    before: float
    after: float
    low: float  # of the 95% interval of after - before, over items
    high: float

    @property
    def difference(self) -> float:
        """Returns the change: after minus before."""
        return self.after - self.before

    @property
    def is_average(self) -> bool:
        """Returns whether this is a side's average."""
        return self.key == self.side


def changes(*, before: pd.DataFrame, after: pd.DataFrame) -> list[TaskChange]:
    """Returns the average of each side, followed by its tasks. `before` and `after` are results of `measured` on the
    same items.

    A task's interval inverts the sign-flip test over its items. An average's interval combines those of its tasks as
    independent, because they have different items: its half width is the root of the sum of squared, weighted half
    widths. A task without a change on any item contributes nothing. If another task has no interval, or nothing changed
    at all, the average has none.
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
    """Formats before and after in percent, and their difference and its interval in percentage points."""
    before, after = (rounded(value, 1, scale=100) for value in (row.before, row.after))
    gap, *ends = (
        "" if math.isnan(value) else rounded(value, 1, scale=100, sign=True)
        for value in (row.difference, row.low, row.high)
    )
    return before, after, gap, " to ".join(filter(None, ends))
