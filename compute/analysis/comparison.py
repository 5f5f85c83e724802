"""Two models side by side: the mean difference over the tasks that both have, and whether it is significant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import pandas as pd

from compute.analysis.intervals import Z95, Difference
from compute.analysis.ranks import means
from compute.analysis.ranks.variance import PRINTED_MEANS, listed
from compute.analysis.significance import (
    ALPHA,
    FEWEST_SETS,
    SAME,
    TOO_FEW,
    item_error,
    of_pair,
    set_parts,
)
from compute.analysis.table import ScoreTable
from compute.arrays import Bools
from compute.pages.shown import Cell, ShownTable, ShowsItself
from compute.rounding import decimals, rounded
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(ShowsItself):
    """The mean difference of two models, a minus b, in the unit of the scores, and whether it is significant.

    An interval or p that is not known is NaN, and `reason` says why.
    """

    a: str
    b: str
    over: Literal["tasks", "items"]  # what the two were measured on together
    n: int  # shared tasks or items
    of: int  # tasks that count, whether both have them or not
    difference: float  # a minus b; NaN: nothing is shared, or the tasks do not mix
    low: float  # of the 95% interval
    high: float
    p: float  # two-sided, of this pair by itself
    about: Literal["tasks", "items"] = "tasks"  # interval and p: other tasks of these kinds, or other items of these
    better: str  # the model that is significantly better at 5% by itself, empty where neither is
    higher_is_better: bool
    reason: str  # why the difference or its interval is not known; empty where both are
    notes: tuple[str, ...] = ()  # what to know of the scores, in sentences
    parts: pd.DataFrame  # a row a task or item: what, a, b, difference

    def frame(self) -> pd.DataFrame:
        """A row a task or item: `parts`."""
        return self.parts

    def shown_table(self) -> ShownTable:
        """The verdict, then the parts as dumbbells with the interval of each difference."""
        parts, several = self.parts, self.parts["category"].nunique() > 1
        known = bool(parts["low"].notna().any())
        digits = decimals(parts[["a", "b"]].to_numpy(float).ravel())

        def text(value: float, *, sign: bool = False) -> str:
            return "-" if math.isnan(value) else rounded(value, digits, sign=sign)

        def interval(row: Any) -> str:
            return "-" if math.isnan(row.low) else f"{text(row.low, sign=True)} to {text(row.high, sign=True)}"

        return ShownTable(
            heads=("task", *["category"] * several, self.a, self.b, "difference", *["95% interval"] * known),
            rows=[
                (
                    row.task,
                    *[row.category] * several,
                    text(row.a),
                    Cell(text=text(row.b), marks=[(math.nan, value, math.nan) for value in (row.a, row.b)]),
                    text(row.difference, sign=True),
                    *[Cell(text=interval(row), marks=[(row.low, row.difference, row.high)])] * known,
                )
                for row in parts.itertuples()
            ],
            above=[self._verdict()],
            below=self.notes,
            key=(self.a, self.b),
        )

    def plot(self) -> Any:
        """The dumbbells of plotly: a line a part, from one model's value to the other's."""
        from compute.analysis.figures.ranked import strip

        parts = self.parts[self.parts["difference"].notna()]
        unknown, count = np.full(2 * len(parts), math.nan), len(parts)
        return strip(
            names=parts["task"].tolist(),
            value=parts[["a", "b"]].to_numpy(float).ravel(order="F"),
            low=unknown,
            high=unknown,
            groups=[self.a] * count + [self.b] * count,
            x="Score",
            notes=[f"{row.a:.4g} and {row.b:.4g}: {row.difference:+.4g}" for row in parts.itertuples()] * 2,
        )

    def _verdict(self) -> str:
        if math.isnan(self.difference):
            return f"{self.a} and {self.b} cannot be compared: {self.reason}."
        way = "" if self.higher_is_better else ", where lower is better"
        many = self.over if self.n != 1 else self.over.removesuffix("s")
        if self.over == "tasks" and self.n < self.of:
            many = f"of {self.of:,} tasks (coverage {self.n / self.of:.0%}; the others lack a score)"
        size = f"{self.a} minus {self.b}: {self.difference:+.4g} over {self.n:,} {many}{way}"
        if math.isnan(self.p):
            return f"{size}; whether by chance is not known, because {self.reason}."
        interval = "" if math.isnan(self.low) else f"95% interval {self.low:+.4g} to {self.high:+.4g}, "
        p = "p < 0.001" if self.p < 0.0005 else f"p = {self.p:.3f}"
        verdict = f"{self.better} is significantly better" if self.better else "no significant difference"
        items = " on items of these tasks; other tasks were not tried" if self.over != self.about else ""
        return f"{size} ({interval}{p}): by itself, {verdict}{items}."


def compared(table: ScoreTable, a: int, b: int, *, stands_in: Bools | None = None) -> Comparison:
    """Row `a` of a table minus row `b`, over the tasks that count and that both have, by the table's rule.

    A category that shares no task is skipped. The interval and p are those of `significance.of_pair`; of tasks from
    fewer than FEWEST_SETS data sets, those of a normal test about other items of these tasks, by the standard errors,
    where these are known. stands_in bool [categories]: whether the scores of one of the two stand for a printed mean.
    `parts` has a row a task: task, category, a, b, difference, low, high; its interval is Gaussian, from both standard
    errors, taken as independent. Tasks that do not mix leave only the mean undefined. Differences are of scores less
    the bias that both are known to have (`ScoreTable.excess`).
    """
    x, errors = table.values[[a, b]] - table.excess([a, b]), table.stderr[[a, b]]
    names, blocks = (*table.categories, ""), table.blocks
    gap = x[0] - x[1]
    half = Z95 * np.hypot(*errors)
    columns = np.flatnonzero(table.counted)
    shared = columns[~np.isnan(gap[columns])]
    reason = "" if len(shared) else "no shared task"
    try:
        means.shared_direction(columns=shared, higher=table.higher, scales=table.scales, tasks=len(table.tasks))
    except BadInput as error:
        reason = str(error)
    difference, test, about = math.nan, Difference(value=math.nan), "tasks"
    if not reason:
        parts, weights = set_parts(gap, blocks, table.clusters)
        difference = float(parts.sum())
        printed = [names[code] for code in np.unique(table.codes[shared]) if stands_in is not None and stands_in[code]]
        if printed:
            reason = PRINTED_MEANS.format(listed(printed))
        elif len(parts) >= FEWEST_SETS:
            test = of_pair(parts, weights)
            reason = "" if test.known else SAME
        elif math.isfinite(
            error := math.hypot(*(item_error(own, ~np.isnan(gap), blocks, table.clusters) for own in errors))
        ):
            test, about = of_error(difference, error), "items"
        else:
            reason = TOO_FEW.format(len(parts), FEWEST_SETS)
    higher = bool(table.higher[columns].all())
    return Comparison(
        a=table.models[a],
        b=table.models[b],
        over="tasks",
        n=len(shared),
        of=len(columns),
        difference=difference,
        low=test.low,
        high=test.high,
        p=test.p,
        about=about,
        better=table.models[a if (difference > 0) == higher else b] if test.p <= ALPHA else "",  # not of NaN
        higher_is_better=higher,
        reason=reason,
        parts=pd.DataFrame(
            {
                "task": table.tasks,
                "category": [names[code] for code in table.codes],
                "a": table.values[a],
                "b": table.values[b],
                "difference": gap,
                "low": gap - half,
                "high": gap + half,
            }
        ),
    )


def of_error(difference: float, error: float) -> Difference:
    """Tests a difference by its standard error, with the normal distribution."""
    normal = NormalDist()
    low, high = difference - Z95 * error, difference + Z95 * error
    return Difference(value=difference, low=low, high=high, p=2 * normal.cdf(-abs(difference) / error))
