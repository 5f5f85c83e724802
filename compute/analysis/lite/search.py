"""The search behind `lite`: which task, added to a subset, brings its means closest to the whole suite's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.arrays import Floats, Ints, ranks


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
        sums, means = _Sums(search=self), []
        for task in path:
            means.append(sums.with_each(np.array([task]))[:, 0])
            sums.add(task)
        return agreement(np.stack(means, axis=1), self.target)[0]


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
