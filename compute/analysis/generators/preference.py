"""How far automatic metrics of generators follow people, when there are only a handful of generators.

A correlation over four to ten generators is easily had by chance, so three things stand beside it: how often a random
order of the same scores correlates as strongly (permutation), how far rank accuracy moves when other generators of
this kind are drawn (bootstrap), and how far the correlation falls when one generator is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks.variance import LEVEL
from compute.analysis.significance import holm
from compute.arrays import Floats
from compute.types import Undefined

EXACT = 8  # generators up to which every order is tried: 8! = 40,320
ORDERS = 20_000  # random orders above that
DRAWS = 2000  # of the bootstrap
FEWEST = 6  # generators below which a bootstrap over them is no interval, and nothing is claimed
FOLLOWS, AGAINST, UNPROVEN, TOO_FEW = "follows", "against", "unproven", "too few"
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """One metric against people on one set of generators. NaN where undefined or too few generators."""

    r: float  # Pearson correlation of scores with human preference, with its sign
    right_way: bool  # better scores go with preference
    rho_squared: float
    accuracy: float  # share of generator pairs ranked as people rank them
    accuracy_low: float  # 95% bootstrap interval over generators
    accuracy_high: float
    p: float  # two-sided permutation p of r
    weakest: float  # r with the one generator left out that matters most against it
    generators: int


def agree(
    *,
    scores: ArrayLike,
    human: ArrayLike,
    ranks: ArrayLike,
    human_ranks: ArrayLike,
    higher: bool,
    seed: int = 0,
) -> Agreement:
    """Agreement of one metric with people, all four lists [generators], finite; ranks with 1 best.

    `higher` says whether more of the metric is better. The permutation p counts orders whose |r| is at least the
    observed one: all orders up to eight generators, else 20,000 random ones with the observed order counted in.
    Deterministic for a seed. Raises BadInput for lists that are not finite, Undefined below three generators, for a
    constant list, or where people order no pair.
    """
    from compute.metrics.agreement import correlation, rank_accuracy

    r = correlation(scores=scores, human=human)
    accuracy = rank_accuracy(ranks=ranks, human_ranks=human_ranks)
    x, y = np.asarray(scores, float), np.asarray(human, float)
    low, high = accuracy_interval(np.asarray(ranks, float), np.asarray(human_ranks, float), seed=seed)
    return Agreement(
        r=r,
        right_way=(r > 0) == higher,
        rho_squared=r**2,
        accuracy=accuracy,
        accuracy_low=low,
        accuracy_high=high,
        p=permutation_p(x=x, y=y, seed=seed),
        weakest=_weakest(x, y, sign=r),
        generators=len(x),
    )


def verdicts(agreements: Sequence[Agreement]) -> tuple[str, ...]:
    """The verdict on each metric of one set of generators: FOLLOWS, AGAINST, UNPROVEN or TOO_FEW.

    Proven is a permutation p below ALPHA with Holm's correction over all the metrics; below FEWEST generators
    nothing is, whatever p says.
    """
    proven = holm([agreement.p for agreement in agreements], alpha=ALPHA)
    results = []
    for agreement, sure in zip(agreements, proven, strict=True):
        if agreement.generators < FEWEST:
            results.append(TOO_FEW)
        elif not sure:
            results.append(UNPROVEN)
        else:
            results.append(FOLLOWS if agreement.right_way else AGAINST)
    return tuple(results)


def permutation_p(*, x: ArrayLike, y: ArrayLike, seed: int = 0) -> float:
    """Share of orders of x [n] whose |Pearson correlation| with y [n] is at least the present order's."""
    left, right = (np.asarray(v, float) - np.mean(v) for v in (x, y))
    n = len(left)
    if n <= EXACT:
        sums = np.array(list(permutations(left))) @ right
    else:
        draw = np.random.default_rng(seed)
        sums = np.append(draw.permuted(np.tile(left, (ORDERS, 1)), axis=1) @ right, left @ right)
    return float(np.mean(np.abs(sums) >= abs(left @ right) * (1 - 1e-9)))


def accuracy_interval(ranks: Floats, human: Floats, *, seed: int) -> tuple[float, float]:
    """Percentile interval of rank accuracy over generators drawn again; draws where people order no pair are left out.

    NaN below FEWEST generators, or where the draws are all alike. A generator drawn twice makes a pair of equals, which
    people do not order and which so does not count.
    """
    if len(ranks) < FEWEST:
        return math.nan, math.nan
    people = np.sign(np.subtract.outer(human, human))
    right = np.where(people != 0, (1 + people * np.sign(np.subtract.outer(ranks, ranks))) / 2, 0.0)
    count = np.random.default_rng(seed).multinomial(len(ranks), np.full(len(ranks), 1 / len(ranks)), size=DRAWS)
    pairs = np.einsum("di,ij,dj->d", count, (people != 0).astype(float), count)
    hits = np.einsum("di,ij,dj->d", count, right, count)
    shares = hits[pairs > 0] / pairs[pairs > 0]
    if np.ptp(shares) == 0:
        return math.nan, math.nan  # all pairs are ordered alike: no draw can show how far that may be luck
    low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _weakest(x: Floats, y: Floats, *, sign: float) -> float:
    """r with one generator left out, where it speaks least for the sign of the whole; NaN below four generators."""
    from compute.metrics.agreement import correlation

    if len(x) < 4:
        return math.nan
    correlations = []
    for out in range(len(x)):
        keep = np.arange(len(x)) != out
        try:
            correlations.append(correlation(scores=x[keep], human=y[keep]))
        except Undefined:
            return math.nan
    return min(correlations) if sign > 0 else max(correlations)
