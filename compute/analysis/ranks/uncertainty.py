"""How sure a mean and a rank are: would they hold on other tasks of these kinds?

What is estimated is every model's mean over all tasks of each category's kind, of which the suite's tasks are a
sample. A category of one task is about that task alone, with other items. `variance` gives the variance of every mean
and of every difference of two, with their degrees of freedom.

The interval of a mean is the mean plus and minus the t quantile times the root of its variance. The interval of a rank
comes from the model's differences to all others, each with its own one-sided t test. Holm's step-down method at 5
percent over a model's comparisons says which others are better and which are worse. The interval runs from one place
below those that are better to one above those that are worse. Both ends hold together with at least 95 percent,
however close the models are: `coverage` simulates it. The exception is the best of nearly equal models where a
category of two tasks decides beside one of forty: its interval holds in 88 percent. The true rank is that of the true
means, no two of which are equal. (Ranks of resampled means would be narrower, and hold the true rank of the best of
many close models in fewer than half of all samples.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks import ranking, variance
from compute.analysis.ranks.ranking import UNRANKED
from compute.arrays import Bools, Floats, Ints

ALONE = "only one model has a rank"
NOT_SIGNIFICANT = 1.6  # of t: below the one-sided quantile of 95 percent, 1.645 or more


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
    better: Bools  # [models, models], the second is proved better than the first: what `rank_low` counts
    worse: Bools  # [models, models], the second is proved worse than the first: what `rank_high` leaves out


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
    better, worse = np.zeros((models, models), bool), np.zeros((models, models), bool)
    parts = variance.by_category(
        scores=x[rows], stderr=error[rows], categories=codes, parts=blocks, printed=stands_in[rows]
    )
    if len(rows):
        own, dof[rows] = variance.of_means(parts)
        half[rows] = variance.half_width(variance=own, dof=dof[rows])
        few[rows] = variance.known_rows(parts) & (variance.fewest_tasks(parts) <= variance.FEW)
        between, pair_dof = variance.of_differences(parts)
        p[np.ix_(rows, rows)] = inner = _pairs(mean, between, pair_dof, scored=sum(part.scored for part in parts))
        claimed, known = holm_by_row(inner), ~np.isnan(own) & (len(rows) > 1)
        better[np.ix_(rows, rows)] = ahead = (rank[rows][:, None] > rank[rows]) & claimed
        worse[np.ix_(rows, rows)] = behind = (rank[rows][:, None] < rank[rows]) & claimed
        low[rows] = np.where(known, 1 + ahead.sum(axis=1), UNRANKED)
        high[rows] = np.where(known, len(rows) - behind.sum(axis=1), UNRANKED)
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
        worse=worse,
    )


def _pairs(mean: Floats, between: Floats, dof: Floats, *, scored: Ints) -> Floats:
    """One-sided p of every two means: [rows, rows], symmetric. scored [rows]: scores behind a mean."""
    p = np.where(np.isnan(between), np.nan, 0.5)
    np.fill_diagonal(p, np.nan)
    gap = np.subtract.outer(mean, mean)
    # The distribution function is slow, and what no number of degrees of freedom makes significant is not asked for.
    at = np.nonzero(np.triu(gap**2 > NOT_SIGNIFICANT**2 * between, 1))
    p[at] = p.T[at] = variance.one_sided(
        difference=gap[at], variance=between[at], dof=dof[at], tasks=np.minimum(scored[at[0]], scored[at[1]])
    )
    return p


def holm_by_row(p: Floats, *, alpha: float = 1 - variance.LEVEL) -> Bools:
    """Which comparisons of each row Holm's step-down method claims: bool [rows, rows].

    p [rows, rows] one-sided, NaN unknown or with itself: counted among the row's comparisons and never claimed. A claim
    is of a direction. No two true means being equal, the wrong direction of a pair is claimed by at most one of its two
    one-sided tests, so that these need no halving of alpha.
    """
    others = p.shape[1] - 1
    if others < 1:
        return np.zeros(p.shape, bool)
    known = np.where(np.isnan(p), np.inf, p)
    ordered = np.sort(known, axis=1)[:, :others]
    passes = ordered <= alpha / (others - np.arange(others))
    count = np.where(passes.all(axis=1), others, passes.argmin(axis=1))
    last = np.where(count > 0, ordered[np.arange(len(p)), count - 1], -np.inf)
    return known <= last[:, None]
