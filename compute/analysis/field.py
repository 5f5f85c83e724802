"""One model against the field: how far it stands from the others on every task, and which models are like it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks import means
from compute.arrays import Floats, Ints

FEWEST = 4  # other models with a score, below which a spread says nothing


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one model is on every task among the others that have a score there. Arrays [tasks]."""

    z: Floats  # own score minus the others' mean, in their standard deviations; positive is better
    percentile: Floats  # share of the others that are worse, ties count half
    place: Ints  # 1 is best, among the others and itself; -1 without a score
    others: Ints  # other models with a score


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """How far every other model is from one. Arrays [models]; NaN for itself and for too few shared tasks."""

    distance: Floats  # root mean square difference of standardised scores
    correlation: Floats  # Pearson of the same standardised scores
    shared: Ints  # tasks that both have


def standing(*, scores: ArrayLike, row: int, higher: ArrayLike | None = None) -> Standing:
    """Stands `row` of scores [models, tasks] (NaN missing) among the others, task by task.

    A task is NaN where the model has no score, fewer than four others have one, or their scores are all equal.
    """
    x = _oriented(scores, higher)
    own, field = x[row], np.delete(x, row, axis=0)
    known = ~np.isnan(field)
    others = known.sum(axis=0)
    has = ~np.isnan(own)
    enough = has & (others >= FEWEST)
    total = np.where(known, field, 0.0).sum(axis=0)
    mean = np.divide(total, others, out=np.full(len(own), np.nan), where=others > 0)
    squares = np.where(known, (field - mean) ** 2, 0.0).sum(axis=0)
    sd = np.sqrt(np.divide(squares, others - 1, out=np.zeros(len(own)), where=others > 1))
    z = np.divide(own - mean, sd, out=np.full(len(own), np.nan), where=enough & (sd > 1e-12))
    worse, equal = (field < own).sum(axis=0), (field == own).sum(axis=0)
    share = np.divide(worse + 0.5 * equal, others, out=np.full(len(own), np.nan), where=enough)
    rank = np.where(has, (field > own).sum(axis=0) + 1, -1)
    return Standing(z=z, percentile=share, place=rank.astype(np.int64), others=others.astype(np.int64))


def neighbours(*, scores: ArrayLike, row: int, higher: ArrayLike | None = None, minimum: int = 5) -> Neighbours:
    """How far the other models are from `row`: scores [models, tasks] (NaN missing) put on one scale task by task.

    Each task is standardised over all models that have it (population standard deviation); a constant task is left
    out. Models that share fewer than `minimum` tasks with it have no distance.
    """
    z = standardised(scores=scores, higher=higher)
    both = ~np.isnan(z) & ~np.isnan(z[row])
    shared = both.sum(axis=1)
    enough = shared >= minimum
    enough[row] = False
    distance, correlation = np.full(len(z), np.nan), np.full(len(z), np.nan)
    for other in np.flatnonzero(enough):
        mine, theirs = z[row, both[other]], z[other, both[other]]
        distance[other] = np.sqrt(np.mean((mine - theirs) ** 2))
        if np.ptp(mine) > 1e-12 and np.ptp(theirs) > 1e-12:
            correlation[other] = np.corrcoef(mine, theirs)[0, 1]
    return Neighbours(distance=distance, correlation=correlation, shared=shared.astype(np.int64))


def standardised(*, scores: ArrayLike, higher: ArrayLike | None = None) -> Floats:
    """Scores [models, tasks] (NaN missing) in standard deviations from each task's mean over the models that have it.

    Population standard deviation; positive is better. A task on which all scores are equal is NaN throughout.
    """
    x = _oriented(scores, higher)
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, x, 0.0).sum(axis=0) / count
    sd = np.sqrt(np.where(known, (x - mean) ** 2, 0.0).sum(axis=0) / count)
    return np.divide(x - mean, sd, out=np.full(x.shape, np.nan), where=sd > 1e-12)


def _oriented(scores: ArrayLike, higher: ArrayLike | None) -> Floats:
    x = means.table(scores)
    return np.where(means.directions(higher=higher, tasks=x.shape[1]), x, -x)
