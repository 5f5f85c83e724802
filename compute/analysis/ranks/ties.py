"""Two models side by side: their paired differences, task by task and overall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.intervals import Z95
from compute.analysis.ranks import ranking, variance
from compute.arrays import Floats
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class PairedDifferences:
    """a minus b, task by task and overall, in the unit of the scores."""

    difference: Floats  # [tasks]; NaN: one of the two has no score
    low: Floats  # [tasks]; NaN: one of the standard errors is unknown
    high: Floats
    mean: float  # by the rule of aggregation, over shared tasks; NaN: none, or they do not mix
    mean_low: float  # NaN: not known
    mean_high: float
    p: float  # two-sided; NaN: not known
    few: bool  # a category rests on so few tasks that the interval covers at least 95%
    fixed: tuple[int, ...]  # categories with one shared task: the interval is about that task alone
    reason: str  # why there is no mean, else empty
    unknown: str  # why the interval or p are not known, in words; empty where they are, or where there is no mean


def paired_differences(
    *,
    a: ArrayLike,
    b: ArrayLike,
    categories: ArrayLike,
    stderr_a: ArrayLike | None = None,
    stderr_b: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    aggregate: str = ranking.CATEGORY_MEAN,
    higher: ArrayLike | None = None,
    scales: ArrayLike | None = None,
    task_weights: ArrayLike | None = None,
    printed: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> PairedDifferences:
    """Two models side by side: a minus b on every task, and their mean difference, with intervals.

    a, b and their standard errors [tasks], NaN missing or unknown; printed bool [categories], whether the scores of one
    of the two stand for a printed mean; names a word for each category, for `unknown`; other arguments as in
    `ranking.aggregate`. A task's interval is Gaussian, from both standard errors, taken as independent. The mean is
    over the tasks both have (a category that shares none is left out), its interval and p those of a t test
    (`variance`). Tasks that do not mix leave only the mean undefined.
    """
    x = ranking.table(np.stack([np.asarray(a, float), np.asarray(b, float)]))
    tasks = x.shape[1]
    difference = x[0] - x[1]
    errors = np.stack([variance.check_stderr(s, shape=(tasks,)) for s in (stderr_a, stderr_b)])
    noise = np.hypot(*errors)
    half = Z95 * noise
    codes = np.asarray(categories)
    task_w = np.ones(tasks) if task_weights is None else np.asarray(task_weights, float)
    rule = {"categories": codes, "weights": weights, "aggregate": aggregate, "tasks": tasks}
    columns = np.sort(np.concatenate([block.columns for block in ranking.blocks(task_weights=task_w, **rule)]))
    shared = columns[~np.isnan(difference[columns])]
    reason = "" if len(shared) else "no shared task"
    try:
        ranking.shared_direction(columns=shared, higher=higher, scales=scales, tasks=tasks)
    except BadInput as error:
        reason = str(error)
    mean = low = high = p = math.nan
    few, fixed, unknown = False, (), ""
    if not reason:
        # A category that shares nothing drops out; of the others all tasks stay, so that one shared of several is told
        # from a category of one task.
        blocks = ranking.blocks(task_weights=np.where(np.isin(codes, codes[shared]), task_w, 0.0), **rule)
        mean = float(ranking.mean_of_blocks(difference[None], blocks)[0])
        n_categories = int(codes.max()) + 1
        stands_in = np.zeros(n_categories, bool) if printed is None else np.asarray(printed, bool)
        words = names if names is not None else [f"category {code}" for code in range(n_categories)]
        parts = variance.by_category(
            scores=np.where(np.isnan(difference), np.nan, x),
            stderr=np.where((errors > 0).all(axis=0), errors, np.nan),  # what one lacks, the difference lacks
            categories=codes,
            parts=blocks,
            printed=np.stack([stands_in, stands_in]),
        )
        unknown = variance.unknown_because(parts, names=words)[0]
        few = not unknown and bool(variance.fewest_tasks(parts)[0] <= variance.FEW)
        fixed = tuple(part.category for part in parts if part.tasks == 1)
        if not unknown:
            between, dof = (matrix[0, [1]] for matrix in variance.of_differences(parts))
            p = 2 * float(
                variance.one_sided(
                    difference=np.array([mean]), variance=between, dof=dof, tasks=np.array([len(shared)])
                )[0]
            )
            if between[0] > 0:
                width = float(variance.half_width(variance=between, dof=dof)[0])
                low, high = mean - width, mean + width
            else:
                unknown = variance.SAME
    return PairedDifferences(
        difference=difference,
        low=difference - half,
        high=difference + half,
        mean=mean,
        mean_low=low,
        mean_high=high,
        p=p,
        few=few,
        fixed=fixed,
        reason=reason,
        unknown=unknown,
    )
