"""What training gave and what it cost: core and generalisation before and after, and both on the way.

The paper's own finding is that tuning on several tasks costs accuracy on others (UniSim, Tables 2 and 3), so that
neither side is ever shown without the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from compute.analysis.item_difference import paired_difference
from compute.rounding import rounded
from compute.training.evaluation import SIDES, average

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


def changes(*, before: pd.DataFrame, after: pd.DataFrame) -> list[TaskChange]:
    """The average of each side, followed by its tasks. Both are as `evaluation.measured` gives them, of the same items.

    A task's interval inverts the test of its items' flipped signs. An average's joins those of its tasks, which show
    different items, as independent: the half width is the root of the sum of squares of theirs, each times its weight.
    A task without a change on any item adds nothing to it; another without an interval, or no change at all, leaves
    none.
    """
    out: list[TaskChange] = []
    for side in SIDES:
        pairs = [
            (first, now)
            for first, now in zip(before.itertuples(), after.itertuples(), strict=True)
            if first.side == side
        ]
        tasks = [_of_task(first, now) for first, now in pairs]
        if tasks:
            squares = sum(
                (first.weight * _half_width(change, first, now)) ** 2
                for change, (first, now) in zip(tasks, pairs, strict=True)
            )
            first, now, half = average(before, side), average(after, side), math.sqrt(squares) or math.nan
            ends = {"low": now - first - half, "high": now - first + half}
            out += [TaskChange(key=side, title=TITLES[side], side=side, before=first, after=now, **ends), *tasks]
    return out


def _of_task(first: Any, now: Any) -> TaskChange:
    low = high = math.nan
    if first.items is not None and now.items is not None:
        paired = paired_difference(now.items, first.items, metric=first.metric)
        low, high = paired.low, paired.high
    ends = {"before": first.value, "after": now.value, "low": low, "high": high}
    return TaskChange(key=first.task, title=first.title, side=first.side, **ends)


def _half_width(change: TaskChange, first: Any, now: Any) -> float:
    """NaN: not known. 0 where no item changed, which has no interval."""
    if first.items is not None and first.items.equals(now.items):
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
    before, after = (rounded(value, 1, scale=100) for value in (row.before, row.after))
    gap, *ends = (
        "" if math.isnan(value) else rounded(value, 1, scale=100, sign=True)
        for value in (row.difference, row.low, row.high)
    )
    return before, after, gap, " to ".join(filter(None, ends))
