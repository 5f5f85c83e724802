"""A small suite that ranks like the whole one, after MIEB section 6.3.

MIEB drops tasks whose mean correlation with the others is high, looks at clusters of the rest (`projection`),
and picks by hand across clusters and categories, without the costliest tasks. Here the pick is a rule: after
the same dropping, tasks are added one at a time, each category first, always the one that brings the order of
the models by mean closest to the order of the whole suite. Agreement is measured on the models that the tasks were
chosen on, so it is optimistic: `smaller.held_out` measures it on others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis import correlation as correlations
from compute.analysis.ranks import means
from compute.arrays import Floats, Ints, ranks
from compute.types import BadInput, Undefined


@dataclass(frozen=True, kw_only=True)
class Search:
    """A table to choose tasks from, and the means to agree with."""

    x: Floats  # [models, tasks], NaN missing
    target: Floats  # [models], mean over the whole suite
    codes: Ints  # [tasks], category
    weights: Floats  # [categories]
    by_category: bool  # mean of category means; else mean of tasks
    cost: Floats  # [tasks]

    def run(self, *, pool: Ints, size: int, budget: float, per_hour: bool) -> tuple[Ints, Floats]:
        """Add tasks of `pool` greedily, one of every category first: the path, and Spearman and Pearson [steps, 2]."""
        sums = _Sums(search=self)
        open_categories = set(self.codes[pool].tolist())
        path: list[int] = []
        reached: list[Floats] = []
        left, spent, now = np.sort(pool), 0.0, 0.0
        while len(path) < size:
            eligible = left[np.isin(self.codes[left], list(open_categories))] if open_categories else left
            reserve = {c: self.cost[left[self.codes[left] == c]].min() for c in open_categories}
            ahead = np.array([sum(v for c, v in reserve.items() if c != self.codes[t]) for t in eligible])
            eligible = eligible[spent + self.cost[eligible] + ahead <= budget + 1e-9]
            if not len(eligible):
                break
            value = agreement(sums.with_each(eligible), self.target)
            gain = value[0] - now
            hours = np.maximum(self.cost[eligible], 1e-9)
            first = np.where(gain > 0, gain / hours, gain * hours) if per_hour else value[0]
            best = int(np.lexsort((eligible, self.cost[eligible], -np.round(value[1], 9), -np.round(first, 9)))[0])
            task = int(eligible[best])
            sums.add(task)
            path.append(task)
            reached.append(value[:, best])
            now, spent = float(value[0, best]), spent + float(self.cost[task])
            open_categories.discard(int(self.codes[task]))
            left = left[left != task]
        return np.array(path, np.int64), np.array(reached).reshape(-1, 2)

    def along(self, path: Ints) -> Floats:
        """Spearman with the whole suite after each task of `path`: [steps]."""
        sums, columns = _Sums(search=self), []
        for task in path:
            columns.append(sums.with_each(np.array([task]))[:, 0])
            sums.add(task)
        return agreement(np.stack(columns, axis=1), self.target)[0]


class _Sums:
    """Sums by category of the tasks chosen so far: one more task is one step for all candidates."""

    def __init__(self, *, search: Search) -> None:
        self.there = (~np.isnan(search.x)).astype(float)
        self.x = np.nan_to_num(search.x, nan=0.0)
        self.codes, self.weights, self.by_category = search.codes, search.weights, search.by_category
        self.total = np.zeros((len(self.x), len(self.weights)))
        self.count = np.zeros_like(self.total)

    def add(self, task: int) -> None:
        self.total[:, self.codes[task]] += self.x[:, task]
        self.count[:, self.codes[task]] += self.there[:, task]

    def with_each(self, tasks: Ints) -> Floats:
        """Mean of every model with each of `tasks` added: [models, tasks]; over the categories it has."""
        codes, x, there, w = self.codes[tasks], self.x[:, tasks], self.there[:, tasks], self.weights
        if not self.by_category:
            top = (self.total @ w)[:, None] + x * w[codes]
            return _ratio(top, (self.count @ w)[:, None] + there * w[codes])
        has = self.count > 0
        mean = np.where(has, _ratio(self.total, self.count), 0.0)
        count = self.count[:, codes] + there
        new = np.where(count > 0, _ratio(self.total[:, codes] + x, count), 0.0)
        top = (mean @ w)[:, None] + w[codes] * (new - mean[:, codes])
        return _ratio(top, (has @ w)[:, None] + w[codes] * ((count > 0) * 1.0 - has[:, codes]))


def agreement(columns: Floats, target: Floats) -> Floats:
    """Spearman and Pearson of each column [models, candidates] with `target` [models]: [2, candidates].

    Over the models that have a value, times their share of all models, so that agreement
    does not rise by losing models. 0 where a column is constant or has fewer than 3 models.
    """
    gaps = np.isnan(columns)
    out = np.zeros((2, columns.shape[1]))
    patterns = np.unique(gaps, axis=1).T if gaps.any() else gaps[:, :1].T
    for pattern in patterns:
        where = (gaps == pattern[:, None]).all(axis=0)
        part, wanted = columns[np.ix_(~pattern, where)], target[~pattern]
        if len(wanted) < 3:
            continue
        rounded = np.round(part, 12), np.round(wanted, 12)
        out[:, where] = np.stack([_linear(*map(ranks, rounded)), _linear(part, wanted)]) * (len(wanted) / len(target))
    return out


def _linear(columns: Floats, target: Floats) -> Floats:
    c, t = columns - columns.mean(axis=0), target - target.mean()
    size = np.sqrt((c * c).sum(axis=0) * (t @ t))
    return np.divide(t @ c, size, out=np.zeros(c.shape[1]), where=size > 1e-15)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    return np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 1e-12)


THRESHOLDS = (0.5, 0.45)  # MIEB section 6.3


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A chosen subset: the first `size` tasks of `order`, which goes on to show what more tasks would add."""

    size: int
    fewest: int  # one task of every category
    order: Ints  # [steps], as added
    curve: Floats  # [steps], Spearman with the whole suite after each step
    dropped: Ints  # as redundant
    hours: float  # of the subset; NaN where hours are not given

    @property
    def chosen(self) -> Ints:
        """The subset, sorted."""
        return np.sort(self.path)

    @property
    def path(self) -> Ints:
        """The subset, as added."""
        return self.order[: self.size]

    @property
    def agreement(self) -> Floats:
        """Spearman with the whole suite after each task of `path`."""
        return self.curve[: self.size]


@dataclass(frozen=True, kw_only=True)
class Fidelity:
    """How well a subset represents the whole, over the models ranked by both."""

    spearman: float
    pearson: float
    n_models: int
    largest_rank_change: int
    largest_change_model: int  # the first model with that change


def drop_redundant(
    *,
    correlation: ArrayLike,
    thresholds: tuple[float, ...] = THRESHOLDS,
    protect: Callable[[Ints, int], bool] | None = None,
) -> tuple[Ints, Ints]:
    """The tasks that stay, and those dropped in their order: always the one of highest mean correlation with the rest.

    correlation [tasks, tasks], NaN (undefined) ignored in the means. Tasks are dropped while that mean is above a
    threshold; thresholds in turn, MIEB's by default. Ties go to the first task; `protect(remaining, task)` may veto.
    Source: MIEB section 6.3.
    """
    r = correlations.off_diagonal(correlation)
    known = (~np.isnan(r)).astype(float)
    r = np.nan_to_num(r, nan=0.0)
    remaining = np.ones(len(r), bool)
    dropped: list[int] = []
    for threshold in thresholds:
        protected = np.zeros(len(r), bool)
        while True:
            count = known @ remaining
            mean = np.divide(r @ remaining, count, out=np.full(len(r), -np.inf), where=count > 0)
            mean[~remaining | protected] = -np.inf
            task = int(np.argmax(np.round(mean, 12))) if len(mean) else 0
            if not len(mean) or not mean[task] > threshold:
                break
            if protect is not None and protect(np.flatnonzero(remaining), task):
                protected[task] = True
                continue
            remaining[task] = False
            dropped.append(task)
    return np.flatnonzero(remaining), np.array(dropped, np.int64)


def knee(curve: ArrayLike, *, fewest: int, models: int) -> int:
    """The fewest tasks whose agreement is within the 95% interval of the highest on the curve.

    curve [steps], Spearman with the whole suite after each task, over `models`; the first `fewest` tasks are always
    needed. The interval is `correlation.interval`; a highest of exactly 1 has none and must be reached.
    """
    reached = np.asarray(curve, float)[fewest - 1 :]
    best = float(reached.max())
    low = float(correlations.interval(r=best, n=models, method="spearman")[0])
    return fewest + int(np.argmax(reached >= (best if np.isnan(low) else low)))


def select(
    *,
    scores: ArrayLike,
    categories: ArrayLike,
    size: int | None = None,
    hours_budget: float | None = None,
    hours: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    aggregate: str = means.CATEGORY_MEAN,
    higher: ArrayLike | None = None,
    thresholds: tuple[float, ...] = THRESHOLDS,
    method: str = "spearman",
    exclude: ArrayLike = (),
) -> Selection:
    """Choose `size` tasks, or tasks within `hours_budget`, that order models like the whole suite; else the `knee`.

    scores [models, tasks], NaN missing; hours [tasks], per model; exclude: task indices never to choose;
    weights, aggregate and higher as in `means.aggregate`. `method` is the correlation used for dropping.
    First redundant tasks go (`drop_redundant`; the last dropped come back if fewer than `size` remain), then
    tasks are added greedily by Spearman with the full mean, ties by Pearson, then fewer hours, then the lower
    index; every category with a task to choose gets one first, and its last task is never dropped. The order goes on to
    half of the tasks, as far as they were not dropped; the knee is one of this curve. Within a budget, a second pass
    weighs gain by hours, and the best stretch of the better pass is chosen. Deterministic. Raises BadInput where the
    request cannot be met.
    """
    x = means.table(scores)
    tasks = x.shape[1]
    if size is not None and hours_budget is not None:
        raise BadInput("Give either size or hours_budget, not both: the number of tasks, or the running time.")
    full = means.aggregate(scores=x, categories=categories, weights=weights, aggregate=aggregate, higher=higher)
    models = ~np.isnan(full.mean)
    if models.sum() < 3:
        raise BadInput(f"Only {int(models.sum())} models have a mean on the whole suite; choosing needs 3 or more.")
    codes = np.asarray(categories)
    w = np.ones(int(codes.max()) + 1) if weights is None else np.asarray(weights, float)
    allowed = np.setdiff1d(np.flatnonzero(w[codes] > 0), np.asarray(exclude, int))
    cost = _hours(hours, tasks=tasks, needed=allowed if hours_budget is not None else allowed[:0])

    def last_of_category(remaining: Ints, task: int) -> bool:
        return int((codes[allowed[remaining]] == codes[allowed[task]]).sum()) == 1

    r = correlations.correlate(scores=x[:, allowed], method=method).r
    stay, dropped = drop_redundant(correlation=r, thresholds=thresholds, protect=last_of_category)
    back = 0 if size is None else max(0, size - len(stay))
    split = len(dropped) - back
    pool = np.sort(allowed[np.concatenate([stay, dropped[max(split, 0) :]])])
    if not len(pool):
        raise BadInput("No task to choose from: all are excluded or have weight 0.")
    needed = len(np.unique(codes[pool]))
    if size is not None and not needed <= size <= len(pool):
        raise BadInput(
            f"Cannot choose {size} tasks: there are {len(pool)} to choose from, {needed} categories to keep."
        )
    search = Search(
        x=x[models],
        target=full.mean[models],
        codes=codes,
        weights=w,
        by_category=aggregate == means.CATEGORY_MEAN,
        cost=np.nan_to_num(cost, nan=0.0),
    )
    if hours_budget is None:
        steps = max(size or 0, needed, min(len(pool), tasks // 2))
        order, reached = search.run(pool=pool, size=steps, budget=np.inf, per_hour=False)
        size = size or knee(reached[:, 0], fewest=needed, models=int(models.sum()))
    else:
        order, reached = _within(search, pool=pool, budget=float(hours_budget))
        size = len(order)
    return Selection(
        size=size,
        fewest=needed,
        order=order,
        curve=reached[:, 0],
        dropped=allowed[dropped[: max(split, 0)]],
        hours=float(cost[order[:size]].sum()),
    )


def trace(
    *,
    scores: ArrayLike,
    categories: ArrayLike,
    path: Ints,
    weights: ArrayLike | None = None,
    aggregate: str = means.CATEGORY_MEAN,
    higher: ArrayLike | None = None,
) -> Floats:
    """Spearman with the whole suite after each task of `path`, [steps]; scores without gaps, others as in `select`."""
    codes = np.asarray(categories)
    full = means.aggregate(scores=scores, categories=codes, weights=weights, aggregate=aggregate, higher=higher)
    return Search(
        x=means.table(scores),
        target=full.mean,
        codes=codes,
        weights=np.ones(int(codes.max()) + 1) if weights is None else np.asarray(weights, float),
        by_category=aggregate == means.CATEGORY_MEAN,
        cost=np.zeros(len(codes)),
    ).along(path)


def _within(search: Search, *, pool: Ints, budget: float) -> tuple[Ints, Floats]:
    least = sum(search.cost[pool[search.codes[pool] == c]].min() for c in np.unique(search.codes[pool]))
    if not least <= budget:
        raise BadInput(f"{budget:g} hours do not suffice: the cheapest choice takes {least:g}.")
    candidates = []
    for per_hour in (False, True):
        path, reached = search.run(pool=pool, size=len(pool), budget=budget, per_hour=per_hour)
        first = len(np.unique(search.codes[path])) - 1
        rounded = np.round(reached, 9)
        best = max(range(first, len(path)), key=lambda i: (rounded[i, 0], rounded[i, 1], -i))
        candidates.append((tuple(rounded[best]), path[: best + 1], reached[: best + 1]))
    winner = max(candidates, key=lambda item: item[0])
    return winner[1], winner[2]


def _hours(hours: ArrayLike | None, *, tasks: int, needed: ArrayLike = ()) -> Floats:
    cost = np.full(tasks, np.nan) if hours is None else np.asarray(hours, float)
    unknown = int(np.isnan(cost[np.asarray(needed, int)]).sum())
    if unknown:
        raise BadInput(f"A budget needs the hours of every task; {unknown} are unknown. Exclude these tasks.")
    return cost


def fidelity(
    *,
    scores: ArrayLike,
    categories: ArrayLike,
    chosen: ArrayLike,
    weights: ArrayLike | None = None,
    aggregate: str = means.CATEGORY_MEAN,
    higher: ArrayLike | None = None,
) -> Fidelity:
    """How well the tasks `chosen` represent the whole suite, by the measures of MIEB section 6.3.

    scores [models, tasks], chosen: task indices, others as in `means.aggregate`; a category without a
    chosen task drops out of the lite mean. Correlations and ranks are over the models with both means. Raises
    Undefined for fewer than 3 such models or constant means.
    """
    x = means.table(scores)
    pick = np.unique(np.asarray(chosen, int))
    codes = np.asarray(categories)
    up = means.directions(higher=higher, tasks=x.shape[1])
    full, lite = (
        means.aggregate(
            scores=x[:, columns],
            categories=codes[columns],
            weights=weights,
            aggregate=aggregate,
            higher=up[columns],
        )
        for columns in (np.arange(x.shape[1]), pick)
    )
    return means_agreement(full=full.mean, lite=lite.mean, higher=full.higher_is_better)


def means_agreement(*, full: Floats, lite: Floats, higher: bool = True) -> Fidelity:
    """How well the means `lite` follow the means `full`, both [models], NaN missing. Raises Undefined as `fidelity`."""
    both = np.flatnonzero(~np.isnan(full) & ~np.isnan(lite))
    pair = np.stack([full[both], lite[both]], axis=1)
    if len(both) < 3 or (np.ptp(pair, axis=0) == 0).any():
        raise Undefined(f"No agreement to measure: {len(both)} models have both means, and they must differ.")
    change = np.abs(means.rank(pair[:, 0], higher=higher) - means.rank(pair[:, 1], higher=higher))
    spearman, pearson = (
        float(correlations.correlate(scores=pair, method=method, minimum=3).r[0, 1])
        for method in ("spearman", "pearson")
    )
    return Fidelity(
        spearman=spearman,
        pearson=pearson,
        n_models=len(both),
        largest_rank_change=int(change.max()),
        largest_change_model=int(both[change.argmax()]),
    )
