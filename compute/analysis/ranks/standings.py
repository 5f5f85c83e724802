"""Who stands where in a table of scores: what a ranking takes besides the scores, and what is read off it.

A model that lacks more tasks than the rule allows is not ranked, since a mean over the tasks it has may be one over the
easy ones. No interval of a mean goes beyond the bounds of its metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks import ranking
from compute.analysis.ranks.ranking import UNRANKED
from compute.analysis.ranks.uncertainty import Ranking, rank_with_uncertainty
from compute.arrays import Bools, Floats, Ints

SLACK = 1e-9  # of a share of tasks, which is a quotient
NO_INTERVAL = "Borda points depend on the other models, so they have no interval"


@dataclass(frozen=True, kw_only=True)
class Standings:
    """The ranking of the models that have enough of the tasks, with their classes, and why others have no rank."""

    ranking: Ranking  # its intervals of means lie within the bounds
    ties: tuple[str, ...]  # [models], letter of the tie class, empty where the interval is not known
    covered: Floats  # [models], share of the counting tasks that have a score: what the minimum is compared with
    why: tuple[str, ...]  # [models], why a model has no rank; empty where it has


def counting(*, categories: Ints, weights: Floats, task_weights: Floats) -> Bools:
    """Which tasks count in the mean: bool [tasks]. weights [categories], task_weights [tasks], both >= 0."""
    return task_weights * weights[categories] > 0


def standings(
    *,
    scores: Floats,
    categories: Ints,
    weights: Floats,
    task_weights: Floats,
    aggregate: str,
    least: float,
    stderr: ArrayLike | None = None,
    higher: ArrayLike | None = None,
    scales: ArrayLike | None = None,
    printed: Bools | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    names: Sequence[str] | None = None,
) -> Standings:
    """Ranks the models that have a score on a share of at least `least` of the tasks that count.

    scores [models, tasks], NaN missing; weights [categories]; task_weights [tasks]; bounds of a mean, in the unit of
    the scores; other arguments and errors as in `uncertainty.rank_with_uncertainty`.
    """
    used = counting(categories=categories, weights=weights, task_weights=task_weights)
    enough = covered(scores, used) >= least - SLACK
    result = rank_with_uncertainty(
        scores=np.where(enough[:, None], scores, np.nan),
        categories=categories,
        stderr=stderr,
        weights=weights,
        aggregate=aggregate,
        higher=higher,
        scales=scales,
        task_weights=task_weights,
        printed=printed,
        names=names,
    )
    within = replace(result, mean_low=np.clip(result.mean_low, *bounds), mean_high=np.clip(result.mean_high, *bounds))
    stand_in = " or a printed mean" if printed is not None and printed.any() else ""
    return Standings(
        ranking=within,
        ties=result.classes,
        covered=covered(scores, used),
        why=_why(result.mean, scores[:, used], enough, least=least, stand_in=stand_in),
    )


def borda_standings(*, scores: Floats, higher: Bools, least: float) -> Standings:
    """The same by Borda points (`ranking.borda`), whose sum stands for the mean; they have no interval and no class."""
    every = np.ones(scores.shape[1], bool)
    enough = covered(scores, every) >= least - SLACK
    points = ranking.borda(scores=np.where(enough[:, None], scores, np.nan), higher=higher)
    models = len(scores)
    nothing, unranked = np.full(models, np.nan), np.full(models, UNRANKED)
    return Standings(
        ranking=Ranking(
            rank=points.rank,
            rank_low=unranked,
            rank_high=unranked,
            mean=points.total,
            mean_low=nothing,
            mean_high=nothing,
            dof=nothing,
            few=np.zeros(models, bool),
            unknown=tuple("" if rank == UNRANKED else NO_INTERVAL for rank in points.rank),
            fixed=(),
            p=np.full((models, models), np.nan),
            better=np.zeros((models, models), bool),
        ),
        ties=("",) * models,
        covered=covered(scores, every),
        why=_why(points.total, scores, enough, least=least, stand_in=""),
    )


def covered(scores: Floats, used: Bools) -> Floats:
    """The share of the tasks in `used` [tasks] that every model has a score on: [models]."""
    return (~np.isnan(scores[:, used])).sum(axis=1) / max(int(used.sum()), 1)


def _why(means: Floats, scores: Floats, enough: Bools, *, least: float, stand_in: str) -> tuple[str, ...]:
    """Why each model has no rank. scores: of the tasks that count."""
    need = scores.shape[1]
    sentences = []
    for mean, ok, have in zip(means, enough, (~np.isnan(scores)).sum(axis=1), strict=True):
        known = f"{have} have a figure{stand_in}"
        if not np.isnan(mean):
            sentences.append("")
        elif not ok:
            sentences.append(f"Not ranked: needs {'all' if least >= 1 else f'{least:.0%} of'} {need} tasks; {known}")
        else:
            sentences.append(f"Not ranked: no score in one of the categories that count; of {need} tasks {known}")
    return tuple(sentences)
