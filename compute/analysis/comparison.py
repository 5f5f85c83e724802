"""Compares two models: the mean difference over the tasks that both have, and whether it is significant."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import pandas as pd

from compute.analysis.intervals import Z95, Difference
from compute.analysis.ranking import Ranking
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

Reading = Literal["better", "worse", "same", "unknown", "none"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(ShowsItself):
    """The mean difference of two models, a minus b, in the unit of the scores, and whether it is significant.

    An interval or p that is not known is NaN, and `reason` says why.
    """

    a: str
    b: str
    over: Literal["tasks", "items"]  # what both were measured on
    n: int  # shared tasks or items
    of: int  # tasks that count, whether or not both have them
    difference: float  # a minus b; NaN if nothing is shared or the tasks have no common mean
    low: float  # of the 95% interval
    high: float
    p: float  # two-sided, for this pair by itself
    about: Literal["tasks", "items"] = "tasks"  # interval and p refer to other tasks, or to other items
    higher_is_better: bool
    reason: str  # why the difference or its interval is unknown; empty if both are known
    notes: tuple[str, ...] = ()  # about the scores, in sentences
    only: tuple[str, ...] = ()  # the categories in which both have scores, if the mean has others too
    decided: Reading | None = None  # the verdict on this pair if several pairs were tested together
    parts: pd.DataFrame  # one row per task or item: what, a, b, difference

    @property
    def reading(self) -> Reading:
        """What holds of a at 5%: significantly better or worse than b, the same (no significant difference), unknown,
        or none if the difference is undefined. For the pair by itself unless several pairs were tested together.
        """
        if math.isnan(self.difference):
            return "none"
        if self.decided or not self.better:
            return self.decided or ("unknown" if math.isnan(self.p) else "same")
        return "better" if self.better == self.a else "worse"

    @property
    def better(self) -> str:
        """The model that is significantly better at 5% for this pair by itself; empty if neither is."""
        return (self.a if (self.difference > 0) == self.higher_is_better else self.b) if self.p <= ALPHA else ""

    def on_board(self, board: Ranking, a: int, b: int) -> Comparison:
        """Returns the comparison with the verdict of a ranking of all models, if it tested rows a and b; else
        unchanged.
        """
        if not board.decided[a, b]:
            return self
        return replace(self, decided="better" if board.better[a, b] else "worse" if board.better[b, a] else "same")

    def frame(self) -> pd.DataFrame:
        """Returns `parts`: one row per task or item."""
        return self.parts

    def shown_table(self) -> ShownTable:
        """Returns the verdict, then the parts as dumbbells with the interval of each difference."""
        parts, several = self.parts, self.parts["category"].nunique() > 1
        known = bool(parts["low"].notna().any())
        digits = decimals(parts[["a", "b"]].to_numpy(float).ravel())

        def text(*values: float, sign: bool = False) -> str:
            return "-" if math.isnan(values[0]) else " to ".join(rounded(value, digits, sign=sign) for value in values)

        return ShownTable(
            heads=("task", *["category"] * several, self.a, self.b, "difference", *["95% interval"] * known),
            rows=[
                (
                    row.task,
                    *[row.category] * several,
                    text(row.a),
                    Cell(text=text(row.b), marks=[(math.nan, value, math.nan) for value in (row.a, row.b)]),
                    text(row.difference, sign=True),
                    *[Cell(text=text(row.low, row.high, sign=True), marks=[(row.low, row.difference, row.high)])]
                    * known,
                )
                for row in parts.itertuples()
            ],
            above=[self.sentence()],
            below=self.notes,
            key=(self.a, self.b),
        )

    def plot(self) -> Any:
        """Returns a plotly dumbbell chart with a row per part, from one model's value to the other's."""
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

    @property
    def p_text(self) -> str:
        """The p value with three digits; empty if unknown."""
        return "" if math.isnan(self.p) else "< 0.001" if self.p < 0.001 else rounded(self.p, 3)

    def sentence(
        self, where: str = "", *, text: Callable[[float], str] = "{:+.4g}".format, unit: str = "", counts: bool = True
    ) -> str:
        """Returns a sentence that says which model is better, by how much, and how certain this is.

        where: what they are compared on; text: formats a signed difference; unit: appended to it; counts: whether to
        state how many tasks or items they share.
        """
        where = f"the mean over {listed(self.only)}, all that both have" if self.only else where
        where = f" in {where}" * bool(where)
        if self.reading == "none":
            return f"{self.a} and {self.b} cannot be compared{where}: {self.reason}."
        gap = f"{text(abs(self.difference)).lstrip('+')}{unit} {'higher' if self.difference > 0 else 'lower'}"
        where += ", where lower is better" * (not self.higher_is_better and not self.only)
        pair = (
            f"{self.a} is {gap} than {self.b}{where}" if self.difference else f"{self.a} and {self.b} are equal{where}"
        )
        if self.reading == "unknown":
            return f"{pair}; significance unknown: {self.reason}."
        noun = f"shared {self.over}" if self.n != 1 else self.over.removesuffix("s")
        known = [] if math.isnan(self.low) else [f"95% interval {text(self.low)} to {text(self.high)}"]
        known += [f"p {'' if self.p < 0.001 else '= '}{self.p_text}"] * bool(self.p_text)
        known += [f"{self.n:,} {noun}{f' of {self.of:,}' * (self.over == 'tasks' and self.n < self.of)}"] * counts
        known += ["on these items; other tasks were not tried"] * (self.over != self.about)
        certainty = f" ({', '.join(known)})" if known else ""
        if self.reading != "same":
            return f"{self.a} is significantly {self.reading} than {self.b}{where}: {gap}{certainty}."
        if self.p <= ALPHA:
            return f"{pair}{certainty}: significant for this pair by itself only."
        return f"{pair}{', not a significant difference' * bool(self.difference)}{certainty}."


def compared(table: ScoreTable, a: int, b: int, *, stands_in: Bools | None = None) -> Comparison:
    """Compares rows `a` and `b` of a table over the counted tasks that both have, by the table's aggregation rule.

    A category without a shared task is skipped. The interval and p come from `significance.of_pair`. If the tasks come
    from fewer than FEWEST_SETS data sets, they come from a normal test about other items of these tasks, if the
    standard errors are known. No interval exceeds the bounds of the scores. stands_in bool [categories]: whether scores
    of either model stand for a printed mean.

    `parts` has a row per task: task, category, a, b, difference, low, high. Its interval is Gaussian, from both
    standard errors, which are taken as independent. If tasks have no common mean, only the mean is undefined.
    Differences are of scores less the bias that both are known to have (`ScoreTable.excess`).
    """
    x, errors = table.values[[a, b]] - table.excess([a, b]), table.stderr[[a, b]]
    names, blocks = (*table.categories, ""), table.blocks
    gap = x[0] - x[1]
    half = Z95 * np.hypot(*errors)
    columns = np.flatnonzero(table.counted)
    shared = columns[~np.isnan(gap[columns])]
    every, both = ([names[code] for code in np.unique(table.codes[those])] for those in (columns, shared))
    reason = table.columns(shared).unlike_tasks if len(shared) else "no shared task"
    difference, test, about = math.nan, Difference(value=math.nan), "tasks"
    if not reason:
        parts, weights = set_parts(gap, blocks, table.clusters)
        difference = float(parts.sum())
        printed = [name for name in both if stands_in is not None and stands_in[names.index(name)]]
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
    higher, widest = bool(table.higher[columns].all()), float((table.upper - table.lower)[columns].max(initial=0.0))
    return Comparison(
        a=table.models[a],
        b=table.models[b],
        over="tasks",
        n=len(shared),
        of=len(columns),
        difference=difference,
        low=max(test.low, -widest),
        high=min(test.high, widest),
        p=test.p,
        about=about,
        higher_is_better=higher,
        reason=reason,
        only=() if len(both) == len(every) else tuple(both),
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


def paired_difference(first: pd.DataFrame, second: pd.DataFrame, *, metric: str) -> Difference:
    """Returns the mean of the first's values minus that of the second's, with interval and p by sign flips of items
    (`significance.of_pair`); `reason` says why the difference, the interval or p is missing.

    Frames are as `run_folders.table` makes them: `item` (prefixed by its subset if there are several), `subset`, and a
    column of the metric, which is a mean over items. Subsets are weighted equally. An item with the same name in
    several subsets flips its sign in all of them together.
    """
    columns = ["item", "subset", metric]
    joined = first[columns].merge(second[columns], on=["item", "subset"], suffixes=("_a", "_b")).dropna()
    if joined.empty:
        return Difference(value=math.nan, reason="they answered no item in common")
    gaps = joined[f"{metric}_a"].astype(float) - joined[f"{metric}_b"].astype(float)
    parts = gaps.groupby(joined["subset"])
    difference = float(parts.mean().mean())
    size = parts.transform("size") * parts.ngroups
    several = parts.ngroups > 1
    names = [
        item.removeprefix(f"{subset}/") if several else item
        for item, subset in zip(joined["item"], joined["subset"], strict=True)
    ]
    together = pd.DataFrame({"part": gaps / size, "weight": 1 / size}).groupby(names).sum()
    n = len(together)
    if n < FEWEST_SETS:
        return Difference(value=difference, n=n, reason=f"too few items: {n}, of which {FEWEST_SETS} are needed")
    test = of_pair(together["part"].to_numpy(), together["weight"].to_numpy())
    return replace(test, value=difference, n=n, reason="" if test.known else SAME)
