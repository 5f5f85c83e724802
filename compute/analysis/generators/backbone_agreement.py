"""How well cFreD under each pair of backbones agrees with people, or with an order that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import ranks
from compute.metrics.agreement import correlation, rank_accuracy


@dataclass(frozen=True, kw_only=True)
class PairAgreement:
    """One pair of backbones against people; signs are turned so that above 0 is the right way.

    `rho_squared` is the squared Pearson correlation with its sign, `spearman` that of ranks, `accuracy` the share of
    pairs of generators that are ordered as people order them.
    """

    rho_squared: float
    spearman: float
    accuracy: float


def pair_agreement(*, distances: ArrayLike, human: ArrayLike) -> PairAgreement:
    """Distances (n,) of generators, lower is better, against people's ratings (n,), higher is better.

    Raises as `compute.metrics.agreement.correlation` and `rank_accuracy`.
    """
    x, y = np.asarray(distances, float), np.asarray(human, float)
    pearson = -correlation(scores=x, human=y)
    by_rank, by_people = ranks(x), ranks(-y)
    return PairAgreement(
        rho_squared=float(np.sign(pearson) * pearson**2),
        spearman=correlation(scores=by_rank, human=by_people),
        accuracy=rank_accuracy(ranks=by_rank, human_ranks=by_people),
    )
