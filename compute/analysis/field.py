"""Compares one model with the others: its distance from them on every task, and the most similar models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.arrays import Floats, Ints

FEWEST = 4  # other models with a score; with fewer, a spread is meaningless


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The place of one model on every task among the others with a score. Arrays [tasks]."""

    z: Floats  # own score minus the others' mean, in their standard deviations; positive is better
    percentile: Floats  # share of the others that are worse; ties count half
    place: Ints  # 1 is best, among the others and itself; -1 without a score
    others: Ints  # other models with a score


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Distances of all other models from one. Arrays [models]; NaN for itself and for too few shared tasks."""

    distance: Floats  # root mean square difference of standardised scores
    correlation: Floats  # Pearson of the same standardised scores
    shared: Ints  # tasks that both have


def standing(scores: Floats, *, row: int) -> Standing:
    """Places `row` of scores [models, tasks] (NaN if missing, higher is better) among the others on each task.

    A task is NaN if the model has no score, fewer than four others have one, or the others' scores are all equal.
    """
    own, field = scores[row], pd.DataFrame(np.delete(scores, row, axis=0))
    others, sd = field.count().to_numpy(), field.std().to_numpy()
    has = ~np.isnan(own)
    enough = has & (others >= FEWEST)
    z = np.divide(own - field.mean().to_numpy(), sd, out=np.full(len(own), np.nan), where=enough & (sd > 1e-12))
    worse, equal, better = (part.sum().to_numpy() for part in (field < own, field == own, field > own))
    share = np.divide(worse + 0.5 * equal, others, out=np.full(len(own), np.nan), where=enough)
    return Standing(z=z, percentile=share, place=np.where(has, better + 1, -1), others=others)


def neighbours(scores: Floats, *, row: int, minimum: int = 5) -> Neighbours:
    """Returns the distances of the other models from `row`, from scores [models, tasks] (NaN if missing).

    Each task is standardised over all models that have it (population standard deviation); a constant task is excluded.
    Models that share fewer than `minimum` tasks with it have no distance.
    """
    z = standardised(scores)
    both = ~np.isnan(z) & ~np.isnan(z[row])
    shared = both.sum(axis=1)
    distance, correlation = np.full(len(z), np.nan), np.full(len(z), np.nan)
    for other in np.flatnonzero((shared >= minimum) & (np.arange(len(z)) != row)):
        mine, theirs = z[row, both[other]], z[other, both[other]]
        distance[other] = np.sqrt(np.mean((mine - theirs) ** 2))
        if np.ptp(mine) > 1e-12 and np.ptp(theirs) > 1e-12:
            correlation[other] = np.corrcoef(mine, theirs)[0, 1]
    return Neighbours(distance=distance, correlation=correlation, shared=shared)


def standardised(scores: Floats) -> Floats:
    """Standardises scores [models, tasks] (NaN if missing) per task over the models that have it.

    Uses the population standard deviation. A task on which all scores are equal is NaN throughout.
    """
    frame = pd.DataFrame(scores)
    sd = frame.std(ddof=0)
    return ((frame - frame.mean()) / sd.where(sd > 1e-12)).to_numpy()
