"""How sure a mean and a rank are: would they hold on other tasks of these kinds?

What is estimated is every model's mean over all tasks of each category's kind, of which the suite's tasks are a
sample. A category of one task is about that task alone, with other items. `variance` gives the variance of every mean
and of every difference of two, with their degrees of freedom.

The interval of a mean is the mean plus and minus the t quantile times the root of its variance. The interval of a rank
runs from one place below the models that are significantly better (`significance.decisions`) to one above those that
are significantly worse. Both ends hold together with at least 95 percent, however close the models are: `coverage`
simulates it. The exception is the best of nearly equal models where a category of two tasks decides beside one of
forty: its interval holds in 88 percent. The true rank is that of the true means, no two of which are equal. (Ranks of
resampled means would be narrower, and hold the true rank of the best of many close models in fewer than half of all
samples.)

A class is a run of the ranking in which no model is significantly better than another: it ends before the first model
that is significantly worse than any of its members, which begins the next. Two neighbours on either side of a border
need not differ from each other. A model whose interval is not known has no class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks import ranking, variance
from compute.analysis.ranks.ranking import UNRANKED
from compute.analysis.significance import decisions
from compute.arrays import Bools, Floats, Ints

ALONE = "only one model has a rank"


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Ranks and means with intervals; UNRANKED and NaN where there is no mean, or the interval is not known."""

    rank: Ints  # [models], 1 is best, ties 1, 2, 2, 4
    rank_low: Ints  # [models], best rank of the interval, which covers at least 95%
    rank_high: Ints  # [models], worst rank of the interval
    mean: Floats  # [models], unit of the scores
    mean_low: Floats
    mean_high: Floats
    dof: Floats  # [models], degrees of freedom of the mean's variance; inf: the noise of fixed tasks alone
    few: Bools  # [models], a category rests on so few tasks that the interval of the mean covers at least 95%
    unknown: tuple[
        str, ...
    ]  # [models], why the intervals, or that of the rank alone, are not known; empty where they are
    fixed: tuple[int, ...]  # categories that count and have one task: the intervals are about that task alone
    p: Floats  # [models, models], one-sided p of each difference, 0.5 if clearly above 5%; NaN unknown, or of itself
    better: Bools  # [models, models], the row is significantly better than the column

    @property
    def classes(self) -> tuple[str, ...]:
        """The letter of every model's class, best first A, B, ...; empty where it has none."""
        letters = [""] * len(self.rank)
        ranked = np.flatnonzero(self.rank_low != UNRANKED)
        # Equal ranks are ordered by what is theirs, not by their position in the table.
        keys = (self.mean_high, self.mean_low, self.rank_high, self.rank_low, self.rank)
        members, classes = [], 0
        for model in ranked[np.lexsort([key[ranked] for key in keys])].tolist():
            if self.better[members, model].any():
                members, classes = [], classes + 1
            members.append(model)
            letters[model] = letter(classes)
        return tuple(letters)


def rank_with_uncertainty(
    *,
    scores: ArrayLike,
    categories: ArrayLike,
    stderr: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    aggregate: str = ranking.CATEGORY_MEAN,
    higher: ArrayLike | None = None,
    scales: ArrayLike | None = None,
    task_weights: ArrayLike | None = None,
    printed: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Ranking:
    """Ranks by mean, with the intervals of this module.

    stderr [models, tasks] in the unit of the scores, NaN or 0 unknown, used only in a category of one task; printed
    bool [models, categories], whether the scores of a category stand for a printed mean, whose variance is not known;
    names a word for each category, for `unknown`; other arguments and errors as in `ranking.aggregate`. A model of
    unknown variance has a rank without an interval, and counts as neither better nor worse than any other. So has the
    only model with a mean, of which no comparison says anything; the interval of its mean is known.
    """
    x = ranking.table(scores)
    error = variance.check_stderr(stderr, shape=x.shape)
    codes = np.asarray(categories)
    rule = {"weights": weights, "aggregate": aggregate, "task_weights": task_weights}
    point = ranking.aggregate(scores=x, categories=codes, higher=higher, scales=scales, **rule)
    blocks = ranking.blocks(categories=codes, tasks=x.shape[1], **rule)
    n_categories = int(codes.max()) + 1
    stands_in = np.zeros((len(x), n_categories), bool) if printed is None else np.asarray(printed, bool)
    rows = np.flatnonzero(~np.isnan(point.mean))
    models, mean = len(x), point.mean[rows]
    rank = ranking.rank(point.mean, higher=point.higher_is_better)
    low, high = np.full(models, UNRANKED), np.full(models, UNRANKED)
    half, dof = np.full(models, np.nan), np.full(models, np.nan)
    few, unknown = np.zeros(models, bool), [""] * models
    p = np.full((models, models), np.nan)
    better = np.zeros((models, models), bool)
    parts = variance.by_category(
        scores=x[rows], stderr=error[rows], categories=codes, parts=blocks, printed=stands_in[rows]
    )
    if len(rows):
        own, dof[rows] = variance.of_means(parts)
        half[rows] = variance.half_width(variance=own, dof=dof[rows])
        few[rows] = variance.known_rows(parts) & (variance.fewest_tasks(parts) <= variance.FEW)
        better[np.ix_(rows, rows)], p[np.ix_(rows, rows)] = decisions(
            mean=mean, parts=parts, higher=point.higher_is_better
        )
        known = ~np.isnan(own) & (len(rows) > 1)
        low[rows] = np.where(known, 1 + better[:, rows].sum(axis=0), UNRANKED)
        high[rows] = np.where(known, len(rows) - better[rows].sum(axis=1), UNRANKED)
        words = names if names is not None else [f"category {code}" for code in range(n_categories)]
        because = variance.unknown_because(parts, names=words)
        for row, reason, spread in zip(rows, because, own, strict=True):
            unknown[row] = reason or (variance.ALIKE if np.isnan(spread) else "" if len(rows) > 1 else ALONE)
    return Ranking(
        rank=rank,
        rank_low=low,
        rank_high=high,
        mean=point.mean,
        mean_low=point.mean - half,
        mean_high=point.mean + half,
        dof=dof,
        few=few,
        unknown=tuple(unknown),
        fixed=tuple(part.category for part in parts if part.tasks == 1),
        p=p,
        better=better,
    )


def letter(index: int) -> str:
    """Name of a class by its number from 0: A, B, ..., Z, AA, AB, ..."""
    name = ""
    while index >= 0:
        index, digit = divmod(index, 26)
        name = chr(ord("A") + digit) + name
        index -= 1
    return name
