"""Who stands where in a table of scores: what a ranking takes besides the scores, and what is read off it.

A model that lacks more tasks than the rule allows is not ranked, since a mean over the tasks it has may be one over the
easy ones. No interval of a mean goes beyond the bounds of its metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ties import tie_classes
from compute.analysis.uncertainty import Ranking, rank_with_uncertainty
from compute.arrays import Bools, Floats, Ints

SLACK = 1e-9  # of a share of tasks, which is a quotient


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
    have, need = (~np.isnan(scores[:, used])).sum(axis=1), int(used.sum())
    covered = have / max(need, 1)
    enough = covered >= least - SLACK
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
    stand_in = " or a printed mean" if printed is not None and printed.any() else ""
    return Standings(
        ranking=replace(
            result, mean_low=np.clip(result.mean_low, *bounds), mean_high=np.clip(result.mean_high, *bounds)
        ),
        ties=tie_classes(ranking=result),
        covered=covered,
        why=tuple(
            _why(mean, ok, f"{count} have a figure{stand_in}", need, least)
            for mean, ok, count in zip(result.mean, enough, have, strict=True)
        ),
    )


def _why(mean: float, enough: bool, have: str, need: int, least: float) -> str:
    if not np.isnan(mean):
        return ""
    if not enough:
        return f"Not ranked: needs {'all' if least >= 1 else f'{least:.0%} of'} {need} tasks; {have}"
    return f"Not ranked: no score in one of the categories that count; of {need} tasks {have}"
