"""Agreement of automatic scores of generators with people: squared correlation and rank accuracy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats
from compute.types import BadInput, Undefined


def correlation(*, scores: ArrayLike, human: ArrayLike) -> float:
    """Returns the Pearson correlation of one score per generator with human rate or Elo, both (n,), in -1..1.

    A negative value is good for a distance, because lower distances are better. Raises BadInput if lengths differ or a
    value is not finite, Undefined below three generators (two points are always on a line) or when one side is
    constant.
    """
    scores, human = _paired(scores, human)
    if len(scores) < 3:
        raise Undefined(f"A correlation needs three generators, got {len(scores)}: add generators")
    for name, values in (("scores", scores), ("human preferences", human)):
        if np.ptp(values) == 0:
            raise Undefined(f"All {name} are {values[0]:g}, so there is no correlation: check the inputs")
    x, y = scores - scores.mean(), human - human.mean()
    return float(np.clip((x / np.linalg.norm(x)) @ (y / np.linalg.norm(y)), -1, 1))


def squared_correlation(*, scores: ArrayLike, human: ArrayLike) -> float:
    """Returns cFreD's ρ² of scores and human preference, both (n,), in 0..1. The sign of the correlation is lost.

    Errors as in `correlation`. Source: cFreD, the row ρ² of Tables 1 to 3.
    """
    return correlation(scores=scores, human=human) ** 2


def rank_accuracy(*, ranks: ArrayLike, human_ranks: ArrayLike) -> float:
    """Returns the share of generator pairs that `ranks` orders as `human_ranks` does, both (n,), rank 1 best; in 0..1.

    Ties: a pair tied in `human_ranks` is skipped; a pair tied only in `ranks` counts one half, as a coin toss would.
    Raises BadInput if inputs differ in length or are not finite, Undefined if people order no pair. Source: cFreD,
    section 4.1.
    """
    ranks, human_ranks = _paired(ranks, human_ranks)
    first, second = np.triu_indices(len(ranks), k=1)
    people = np.sign(human_ranks[first] - human_ranks[second])
    metric = np.sign(ranks[first] - ranks[second])
    ordered = people != 0
    if not ordered.any():
        raise Undefined(f"People rank no pair of these {len(ranks)} generators: no rank accuracy")
    return float(np.mean((1 + people[ordered] * metric[ordered]) / 2))


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if first.ndim != 1 or first.shape != second.shape:
        raise BadInput(f"Expected two lists of the same length, got shapes {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise BadInput("A score or rank is not a finite number: drop that generator from both lists")
    return first, second
