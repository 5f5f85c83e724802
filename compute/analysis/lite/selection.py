"""Selects a small suite that ranks like the whole one, after MIEB section 6.3.

MIEB drops tasks whose mean correlation with the others is high, looks at clusters of the rest (`maps`), and picks by
hand across clusters and categories, avoiding the costliest tasks. Here a rule replaces the manual choice: after the
same dropping, tasks are added one at a time, one per category first, always the task that brings the order of models by
mean closest to that of the whole suite. Agreement is measured on the models that the tasks were chosen on, so it is
optimistic; `smaller.held_out` measures it on other models.

Tables here have no missing scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis import correlation as correlations
from compute.analysis.ranks.means import CATEGORY_MEAN
from compute.analysis.table import ScoreTable
from compute.arrays import Floats, Ints, ranks
from compute.types import BadInput

THRESHOLDS = (0.5, 0.45)  # MIEB section 6.3


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A chosen subset: the first `size` tasks of `order`, which continues to show the effect of more tasks."""

    size: int
    fewest: int  # tasks: one per category
    order: Ints  # [steps], as added
    curve: Floats  # [steps], Spearman with the whole suite after each step
    dropped: Ints  # as redundant
    hours: float  # of the subset; NaN if unknown

    @property
    def chosen(self) -> Ints:
        """The subset, sorted by index."""
        return np.sort(self.path)

    @property
    def path(self) -> Ints:
        """The subset, in the order of choice."""
        return self.order[: self.size]

    @property
    def agreement(self) -> Floats:
        """Spearman with the whole suite after each task of `path`."""
        return self.curve[: self.size]


class _Sums:
    """Sums by category of the tasks chosen so far, so that the mean with one more task takes a single step."""

    def __init__(self, table: ScoreTable) -> None:
        self.x, self.codes, self.weights = table.values, table.codes, table.category_weights
        self.by_category, self.target = table.aggregate == CATEGORY_MEAN, table.mean
        self.total = np.zeros((len(self.x), len(self.weights)))  # [models, categories]
        self.count = np.zeros(len(self.weights))

    def add(self, task: int) -> None:
        self.total[:, self.codes[task]] += self.x[:, task]
        self.count[self.codes[task]] += 1

    def agreement_with_each(self, tasks: Ints) -> Floats:
        """Returns Spearman and Pearson with the whole suite after adding each of `tasks`: [2, tasks].

        Without categories, sums replace means because their divisors are the same for all models.
        """
        codes, x, w = self.codes[tasks], self.x[:, tasks], self.weights
        if not self.by_category:
            return agreement((self.total @ w)[:, None] + x * w[codes], self.target)
        mean = self.total / np.maximum(self.count, 1)
        new = (self.total[:, codes] + x) / (self.count[codes] + 1)
        return agreement((mean @ w)[:, None] + w[codes] * (new - mean[:, codes]), self.target)


def agreement(columns: Floats, target: Floats) -> Floats:
    """Returns Spearman and Pearson of each column [models, candidates] with `target` [models]: [2, candidates].

    0 if a column is constant.
    """
    of_ranks = ranks(np.round(columns, 12)), ranks(np.round(target, 12))
    return np.stack([_linear(*of_ranks), _linear(columns, target)])


def _linear(columns: Floats, target: Floats) -> Floats:
    c, t = columns - columns.mean(axis=0), target - target.mean()
    size = np.sqrt((c * c).sum(axis=0) * (t @ t))
    return np.divide(t @ c, size, out=np.zeros(c.shape[1]), where=size > 1e-15)


def drop_redundant(correlation: ArrayLike, *, codes: Ints, thresholds: Sequence[float]) -> tuple[Ints, Ints]:
    """Returns the remaining tasks, and the dropped ones in order: the task with the highest mean correlation goes
    first.

    correlation [tasks, tasks]; NaN (undefined) is ignored in the means. Tasks are dropped while that mean with the
    remaining tasks exceeds a threshold, for each of the thresholds in turn. Ties go to the first task. The last task of
    a category, codes [tasks], stays. Source: MIEB section 6.3.
    """
    r = correlations.off_diagonal(correlation)
    known = (~np.isnan(r)).astype(float)
    r = np.nan_to_num(r, nan=0.0)
    remaining = np.ones(len(r), bool)
    dropped: list[int] = []
    for threshold in thresholds:
        while True:
            droppable = remaining & (np.bincount(codes[remaining], minlength=codes.max() + 1)[codes] > 1)
            count = known @ remaining
            mean = np.divide(r @ remaining, count, out=np.full(len(r), -np.inf), where=droppable & (count > 0))
            task = int(np.argmax(np.round(mean, 12)))
            if not mean[task] > threshold:
                break
            remaining[task] = False
            dropped.append(task)
    return np.flatnonzero(remaining), np.array(dropped, np.int64)


def knee(curve: ArrayLike, *, fewest: int, models: int) -> int:
    """Returns the fewest tasks whose agreement is within the 95% interval of the highest on the curve.

    curve [steps], Spearman with the whole suite after each task, over `models`; the first `fewest` tasks are always
    needed. The interval is `correlation.interval`. A highest value of exactly 1 has no interval and must be reached.
    """
    reached = np.asarray(curve, float)[fewest - 1 :]
    best = float(reached.max())
    low = float(correlations.interval(r=best, n=models, method="spearman")[0])
    return fewest + int(np.argmax(reached >= (best if np.isnan(low) else low)))


def select(
    table: ScoreTable,
    *,
    size: int | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    method: str = "spearman",
    exclude: Ints | Sequence[int] = (),
) -> Selection:
    """Chooses `size` tasks that order models like the whole table; by default as many as the `knee`.

    exclude: task indices never to choose. `method`: the correlation used for dropping. Redundant tasks are dropped
    first (`drop_redundant`; the last dropped return if fewer than `size` remain). Then tasks are added greedily by
    Spearman with the full mean; ties go to Pearson, then fewer hours, then the lower index. Every category with an
    available task gets one first. The order continues to half of the tasks, as far as they were not dropped, and the
    knee is computed on this curve. Deterministic. Raises BadInput if the request cannot be met.
    """
    codes = table.codes
    allowed = np.setdiff1d(np.flatnonzero(table.counted), np.asarray(exclude, int))
    if not len(allowed):
        raise BadInput("No task to choose from: all are excluded or have weight 0.")
    r = correlations.correlate(scores=table.values[:, allowed], method=method).r
    stay, dropped = drop_redundant(r, codes=codes[allowed], thresholds=thresholds)
    split = max(len(dropped) - max(0, (size or 0) - len(stay)), 0)
    pool = np.sort(allowed[np.concatenate([stay, dropped[split:]])])
    needed = len(np.unique(codes[pool]))
    if size is not None and not needed <= size <= len(pool):
        raise BadInput(
            f"Cannot choose {size} tasks: there are {len(pool)} to choose from, {needed} categories to keep."
        )
    order, curve = _greedy(table, pool, size=max(size or 0, needed, min(len(pool), len(table.tasks) // 2)))
    size = size or knee(curve, fewest=needed, models=len(table.models))
    return Selection(
        size=size,
        fewest=needed,
        order=order,
        curve=curve,
        dropped=allowed[dropped[:split]],
        hours=float(table.hours[order[:size]].sum()),
    )


def trace(table: ScoreTable, path: Ints) -> Floats:
    """Returns Spearman with the whole table after each task of `path`: [steps]."""
    sums, curve = _Sums(table), []
    for task in path:
        curve.append(sums.agreement_with_each(np.array([task]))[0, 0])
        sums.add(task)
    return np.array(curve)


def _greedy(table: ScoreTable, pool: Ints, *, size: int) -> tuple[Ints, Floats]:
    """Adds `size` tasks of `pool` one by one, one of every category first; returns the path and Spearman after each."""
    sums, codes, cost = _Sums(table), table.codes, np.nan_to_num(table.hours)
    open_categories = set(codes[pool].tolist())
    path: list[int] = []
    reached: list[float] = []
    left = np.sort(pool)
    while len(path) < size:
        eligible = left[np.isin(codes[left], list(open_categories))] if open_categories else left
        spearman, pearson = sums.agreement_with_each(eligible)
        best = int(np.lexsort((eligible, cost[eligible], -np.round(pearson, 9), -np.round(spearman, 9)))[0])
        task = int(eligible[best])
        sums.add(task)
        path.append(task)
        reached.append(spearman[best])
        open_categories.discard(int(codes[task]))
        left = left[left != task]
    return np.array(path, np.int64), np.array(reached)
