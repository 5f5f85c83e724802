"""`compute.compare`: two models side by side, over the tasks of any table of scores, or as they were evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from compute.analysis.ranks.ranking import CATEGORY_MEAN, TASK_MEAN
from compute.analysis.ranks.ties import paired_differences
from compute.interface.score_reading import ScoreReading
from compute.interface.score_table import category_and_task_weights, position, unlike_scales
from compute.types import BadInput, shortened

ALPHA = 0.05  # below which a difference counts as proved


@dataclass(frozen=True, kw_only=True)
class ModelComparison:
    """The mean difference of two models, a minus b, in the unit of the scores, and whether it is proved.

    An interval or p that is not known is NaN, and `reason` says why.
    """

    a: str
    b: str
    over: Literal["tasks", "items"]  # what the two were measured on together, and what the interval is about
    n: int  # shared tasks or items
    difference: float  # a minus b; NaN: nothing is shared, or the tasks do not mix
    low: float  # of the 95% interval
    high: float
    p: float  # two-sided
    better: str  # the model that is proved better at 5%, empty where neither is
    higher_is_better: bool
    reason: str  # why the difference or its interval is not known; empty where both are
    few: bool  # the interval rests on few tasks of a category, and covers at least 95%
    notes: tuple[str, ...] = ()  # what to know of the scores, in sentences
    parts: pd.DataFrame  # a row a task or item: what, a, b, difference

    def __str__(self) -> str:
        return "\n".join((self._verdict(), *self.notes))

    def _verdict(self) -> str:
        if math.isnan(self.difference):
            return f"{self.a} and {self.b} cannot be compared: {self.reason}."
        way = "" if self.higher_is_better else ", where lower is better"
        size = f"{self.a} minus {self.b}: {self.difference:+.4g} over {self.n:,} {_many(self.over, self.n)}{way}"
        if math.isnan(self.p):
            return f"{size}; whether by chance is not known, because {self.reason}."
        level = "at least 95%" if self.few else "95%"
        interval = "" if math.isnan(self.low) else f"{level} interval {self.low:+.4g} to {self.high:+.4g}, "
        p = "p < 0.001" if self.p < 0.0005 else f"p = {self.p:.3f}"
        verdict = f"{self.better} is significantly better" if self.better else "no significant difference"
        return f"{size} ({interval}{p}): {verdict}."


class Evaluated(Protocol):
    """A model as `compute.evaluate` returns it."""

    def compare(self, other: Any) -> ModelComparison:
        """This model minus another one."""
        ...


def compare(
    a: str | Evaluated,
    b: str | Evaluated,
    *,
    scores: pd.DataFrame | str | Path | None = None,
    model: str = "",
    only: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Mapping[str, Sequence[str]] | None = None,
    weights: Mapping[str, float] | None = None,
    lower_is_better: Sequence[str] = (),
    aggregate: str = CATEGORY_MEAN,
    shares: bool = False,
) -> ModelComparison:
    """Two models side by side: the paired difference, its interval and p, and whether it is proved.

    Without `scores`, a is what `compute.evaluate` returns, and b the same or the key of a model (`Evaluation.compare`).
    With `scores`, a and b are models of that table, compared over the tasks that both have by a t test; other
    arguments as in `compute.rank`. The interval is about other tasks of these kinds,
    of which these count as a sample. One comparison is tested: whoever looks at many pairs takes `compute.rank`, which
    corrects for that. Source: `compute.analysis.ranks.ties.paired_differences`. Raises BadInput.
    """
    if scores is None:
        if isinstance(a, str):
            raise BadInput(f"{shortened(a)!r} is the name of a model: give the table that holds both (scores)")
        return a.compare(b)
    if not (isinstance(a, str) and isinstance(b, str)):
        raise BadInput(
            "With a table of scores, a and b are names of its models. Leave scores out to compare evaluations"
        )
    if aggregate not in (CATEGORY_MEAN, TASK_MEAN):
        raise BadInput(f"No rule {aggregate!r} for a comparison. Use {CATEGORY_MEAN} or {TASK_MEAN}")
    reading = ScoreReading(
        model=model,
        only=only,
        ignore=ignore,
        categories=categories,
        weights=weights,
        lower_is_better=lower_is_better,
        shares=shares,
    )
    table = reading.table(scores)
    first, second = (position(name, table.models, noun="model") for name in (a, b))
    if first == second:
        raise BadInput(f"{a!r} is compared with itself. Name two models")
    by_category, by_task = category_and_task_weights(table, weights)
    result = paired_differences(
        a=table.values[first],
        b=table.values[second],
        stderr_a=table.stderr[first],
        stderr_b=table.stderr[second],
        categories=table.codes,
        weights=by_category,
        task_weights=by_task,
        aggregate=aggregate,
        higher=table.higher,
        names=table.categories,
    )
    counted = by_task * by_category[table.codes] > 0
    higher = bool(table.higher[counted].all())
    proved = result.p <= ALPHA  # not of NaN
    winner = a if (result.mean > 0) == higher else b
    parts = pd.DataFrame(
        {
            "task": table.tasks,
            "category": [table.categories[code] for code in table.codes],
            "a": table.values[first],
            "b": table.values[second],
            "difference": result.difference,
            "low": result.low,
            "high": result.high,
        }
    )
    return ModelComparison(
        a=a,
        b=b,
        over="tasks",
        n=int((~np.isnan(result.difference) & counted).sum()),
        difference=result.mean,
        low=result.mean_low,
        high=result.mean_high,
        p=result.p,
        better=winner if proved else "",
        higher_is_better=higher,
        reason=result.reason or result.unknown,
        few=result.few,
        notes=(*table.notes, *unlike_scales(table, counted)),
        parts=parts,
    )


def _many(noun: str, count: int) -> str:
    return noun if count != 1 else noun.removesuffix("s")
