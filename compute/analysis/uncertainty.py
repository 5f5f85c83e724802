"""How sure a rank is: every model's mean drawn again, over other tasks and with the noise of its scores.

A draw does two things at once. Within each category the tasks are drawn with replacement, as many as there
are: would the order hold on other tasks of these kinds? And every score moves by its own standard error,
where one is known: would it hold on other items of these tasks? All models meet the same draw of tasks, so
what a hard draw takes from all of them cancels between them.

A category with one task has nothing to draw: only the noise of its score varies, and where no standard error
is known it adds no uncertainty. With few tasks a category the spread is too small rather than too large (by a
factor of sqrt((n - 1) / n) for n tasks), as always with the bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis import bootstrap, ranking
from compute.analysis.ranking import UNRANKED
from compute.arrays import Floats, Floats32, Ints


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Ranks and means with intervals; UNRANKED and NaN where there is no mean, or nothing could vary."""

    rank: Ints  # [models], 1 is best, ties 1, 2, 2, 4
    rank_low: Ints  # [models], best rank of the interval
    rank_high: Ints  # [models], worst rank of the interval
    mean: Floats  # [models], unit of the scores
    mean_low: Floats
    mean_high: Floats
    resampled: bool  # some category that counts has two tasks or more
    position: Floats  # [models], the mean on the inner scale of `draws`
    draws: Floats32  # [models, draws], on 0 to 1 for the scores' range, higher better


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
    draws: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Ranks by mean, with percentile intervals of rank and mean from the bootstrap of this module.

    stderr [models, tasks] in the unit of the scores, NaN unknown, taken as 0; other arguments and errors as
    in `ranking.aggregate`. Missing scores: in each draw a model's means are over the drawn tasks it has; a
    draw with none of them in a category takes the model's own category mean. Rank intervals are widened to
    hold the rank itself. Deterministic for a seed, whatever the order of the models. Where no category has
    two tasks and no standard error is known, nothing can vary: the intervals are UNRANKED and NaN, not
    points.
    """
    bootstrap.check_draws(draws=draws, seed=seed)
    x = ranking.table(scores)
    error = np.where(np.isnan(x), 0.0, bootstrap.check_stderr(stderr, shape=x.shape))
    codes = np.asarray(categories)
    point = ranking.aggregate(
        scores=x,
        categories=codes,
        weights=weights,
        aggregate=aggregate,
        higher=higher,
        scales=scales,
        task_weights=task_weights,
    )
    parts = ranking.blocks(
        categories=codes, weights=weights, aggregate=aggregate, task_weights=task_weights, tasks=x.shape[1]
    )
    used = np.sort(np.concatenate([block.columns for block in parts]))
    rows = np.flatnonzero(~np.isnan(point.mean))
    models = len(x)
    rank = ranking.rank(point.mean, higher=point.higher_is_better)
    low, high = np.full(models, UNRANKED), np.full(models, UNRANKED)
    mean_low, mean_high = np.full(models, np.nan), np.full(models, np.nan)
    position = np.full(models, np.nan)
    sample = np.full((models, draws), np.nan, np.float32)
    resampled = bool((np.unique(codes[used], return_counts=True)[1] > 1).any())
    if len(rows):
        # One range for all scores keeps float32 exact enough for any unit; means commute with it.
        seen = x[np.ix_(rows, used)]
        floor, span = np.nanmin(seen), (np.nanmax(seen) - np.nanmin(seen)) or 1.0
        sign = 1.0 if point.higher_is_better else -1.0
        position[rows] = sign * (point.mean[rows] - floor) / span
        varies = error[np.ix_(rows, used)].any(axis=1) | resampled
        sample[rows] = bootstrap.redraw(
            scores=sign * (x[rows] - floor) / span,
            stderr=error[rows] / span,
            categories=codes,
            parts=parts,
            keys=bootstrap.row_keys(seen, error[np.ix_(rows, used)], seed=seed),
            draws=draws,
            seed=seed,
        )
        if varies.any():
            first, last = bootstrap.rank_interval(sample[rows])
            low[rows], high[rows] = np.minimum(first, rank[rows]), np.maximum(last, rank[rows])
            ends = np.sort(np.stack(bootstrap.mean_interval(sample[rows])) * sign, axis=0) * span + floor
            mean_low[rows], mean_high[rows] = np.where(varies, ends, np.nan)
    return Ranking(
        rank=rank,
        rank_low=low,
        rank_high=high,
        mean=point.mean,
        mean_low=mean_low,
        mean_high=mean_high,
        resampled=resampled,
        position=position,
        draws=sample,
    )
