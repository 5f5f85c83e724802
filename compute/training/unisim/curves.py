"""What training gave and what it cost: core and generalisation before and after, and both on the way.

The paper's own finding is that tuning on several tasks costs accuracy on others (UniSim, Tables 2 and 3), so that
neither side is ever shown without the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from compute.rounding import rounded
from compute.training.unisim.evaluation import SIDES, Measurement, difference

TITLES = {"core": "Core", "ood": "Out of distribution"}
HEADINGS = ("", "before", "after", "difference", "95% interval")


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


def changes(*, before: Measurement, after: Measurement) -> list[TaskChange]:
    """The average of each side, followed by its tasks. Both measurements are of the same items.

    A task's interval is that of a paired t test over its items. An average's joins those of its tasks, which show
    different items, as independent: the half width is the root of the sum of squares of theirs, each times its weight.
    A task without a change on any item adds nothing to it; another without an interval, or no change at all, leaves
    none.
    """
    out: list[TaskChange] = []
    for side in SIDES:
        weights = before.weights(side)
        tasks = [_of_task(before, after, key) for key in weights]
        if tasks:
            squares = sum((weights[each.key] * _half_width(each, before, after)) ** 2 for each in tasks)
            gap, half = getattr(after, side) - getattr(before, side), math.sqrt(squares) or math.nan
            out.append(
                TaskChange(
                    key=side,
                    title=TITLES[side],
                    side=side,
                    before=getattr(before, side),
                    after=getattr(after, side),
                    low=gap - half,
                    high=gap + half,
                )
            )
            out += tasks
    return out


def _of_task(before: Measurement, after: Measurement, key: str) -> TaskChange:
    paired = difference(after, before, key)
    return TaskChange(
        key=key,
        title=before.tasks[key].task.title,
        side=before.tasks[key].side,
        before=before.tasks[key].value,
        after=after.tasks[key].value,
        low=math.nan if paired is None else paired.low,
        high=math.nan if paired is None else paired.high,
    )


def _half_width(change: TaskChange, before: Measurement, after: Measurement) -> float:
    """NaN: not known. 0 where no item changed, which has no interval of its own."""
    first, second = (each.tasks[change.key] for each in (before, after))
    if first.items is not None and second.items is not None:
        metric = first.task.metrics[0]
        values = (part.items[metric].to_numpy(float) for part in (first, second))
        if np.array_equal(*values, equal_nan=True):
            return 0.0
    return (change.high - change.low) / 2


def lines(rows: Sequence[TaskChange], *, title: str) -> list[str]:
    """The table in percent and points, a line a row, averages first and their tasks below. `title`: of what."""
    table = [[title, *HEADINGS[1:]]]
    table += [[row.title if row.is_average else f"  {row.title}", *numbers(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join([titles.ljust(widths[0]), *map(str.rjust, figures, widths[1:])]).rstrip()
        for titles, *figures in table
    ]


def numbers(row: TaskChange) -> tuple[str, str, str, str]:
    """Before and after in percent, their difference and its interval in points."""
    interval = "" if math.isnan(row.low) else f"{_points(row.low)} to {_points(row.high)}"
    return _percent(row.before), _percent(row.after), _points(row.difference), interval


def _percent(value: float) -> str:
    return rounded(value, 1, scale=100)


def _points(value: float) -> str:
    return rounded(value, 1, scale=100, sign=True)


def record(rows: Sequence[TaskChange]) -> list[dict[str, Any]]:
    """The rows to be written as JSON; an interval that is not known is null."""
    return [
        {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in asdict(row).items()}
        for row in rows
    ]


def from_record(rows: Sequence[Mapping[str, Any]]) -> list[TaskChange]:
    """What `record` wrote."""
    return [TaskChange(**{name: math.nan if value is None else value for name, value in row.items()}) for row in rows]
