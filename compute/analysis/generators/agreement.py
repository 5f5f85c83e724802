"""Agreement of generator metrics with people, every value with an interval.

The sample is the generators. With the 4 to 10 of most studies, intervals are wide and high correlations easily arise by
chance. Each correlation therefore comes with the frequency of one as strong under random orders of the same scores
(permutation), the interval of rank accuracy over resampled generators (bootstrap), and the weakest correlation without
one of the generators. If a value has no interval, the reason is stated instead of a width of zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from compute import arrays
from compute.analysis.correlation import interval
from compute.analysis.intervals import Estimate
from compute.analysis.ranks.variance import LEVEL
from compute.analysis.significance import holm
from compute.arrays import Floats, Ints
from compute.metrics.agreement import correlation, rank_accuracy
from compute.types import Undefined

EXACT = 8  # generators up to which all orders are tried: 8! = 40,320
RANDOM = 20_000  # random orders above that
DRAWS = 2000  # of the bootstrap
FEWEST = 6  # generators that a bootstrap and a verdict need
SIGNIFICANT, REVERSED = "significant", "significant, reversed"
NOT_SIGNIFICANT, TOO_FEW = "not significant", "too few generators"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of one metric with people on n generators. Correlations are signed; for a
    distance, negative is right.
    """

    pearson: Estimate
    rho_squared: Estimate
    spearman: Estimate
    accuracy: Estimate  # share of generator pairs ranked as people rank them
    right_way: bool  # better scores go with preference
    p: float  # two-sided permutation p of the Pearson correlation
    weakest: float  # Pearson without the most influential generator; NaN below four generators
    generators: int


def agree(
    *,
    scores: ArrayLike,
    human: ArrayLike,
    higher: bool,
    human_ranks: ArrayLike | None = None,
    ranks: ArrayLike | None = None,
    seed: int = 0,
) -> Agreement:
    """Returns the agreement of one metric with people.

    Lists [generators]: `scores` of the metric, and people's `human`, higher is better. `ranks` and `human_ranks` are as
    a table lists them, 1 best, else computed from the scores. `higher`: higher values of the metric are better.
    Intervals: Fisher's z for correlations (`correlation.interval`), a bootstrap over generators for rank accuracy.
    Raises BadInput for lists that are not finite, Undefined below three generators and for a constant list.
    """
    x, y = np.asarray(scores, float), np.asarray(human, float)
    r, n = correlation(scores=x, human=y), len(x)
    pearson = _estimate(r, n, method="pearson")
    squared = Estimate(value=r**2, reason=pearson.reason)
    if pearson.known:
        low, high = sorted((pearson.low**2, pearson.high**2))
        squared = Estimate(value=r**2, low=0.0 if pearson.low < 0 < pearson.high else low, high=high)
    return Agreement(
        pearson=pearson,
        rho_squared=squared,
        spearman=_estimate(correlation(scores=arrays.ranks(x), human=arrays.ranks(y)), n, method="spearman"),
        accuracy=_accuracy(
            arrays.ranks(-x if higher else x) if ranks is None else np.asarray(ranks, float),
            arrays.ranks(-y) if human_ranks is None else np.asarray(human_ranks, float),
            seed=seed,
        ),
        right_way=(r > 0) == higher,
        p=permutation_p(x=x, y=y, seed=seed),
        weakest=_weakest(x, y, sign=r),
        generators=n,
    )


def verdicts(agreements: Sequence[Agreement]) -> tuple[str, ...]:
    """Returns the verdict on each metric of one set of generators: SIGNIFICANT, REVERSED, NOT_SIGNIFICANT or TOO_FEW.

    Significant means a permutation p below ALPHA after Holm's correction over all the metrics. Below FEWEST generators
    no metric is significant.
    """
    sure = holm([agreement.p for agreement in agreements]) if agreements else []
    return tuple(
        TOO_FEW
        if agreement.generators < FEWEST
        else NOT_SIGNIFICANT
        if not significant
        else SIGNIFICANT
        if agreement.right_way
        else REVERSED
        for agreement, significant in zip(agreements, sure, strict=True)
    )


def permutation_p(*, x: ArrayLike, y: ArrayLike, seed: int) -> float:
    """Returns the share of orders of x [n] whose |Pearson correlation| with y [n] is at least that of the present
    order: of all orders up to EXACT generators, else of random ones including the present order.
    """
    left, right = (np.asarray(v, float) - np.mean(v) for v in (x, y))
    if len(left) <= EXACT:
        sums = left[_orders(len(left))] @ right
    else:
        draw = np.random.default_rng(seed)
        sums = np.append(draw.permuted(np.tile(left, (RANDOM, 1)), axis=1) @ right, left @ right)
    return float(np.mean(np.abs(sums) >= abs(left @ right) * (1 - 1e-9)))


@cache
def _orders(n: int) -> Ints:
    """Returns every order of n rows (n!, n); cached because a grid of backbones uses them a thousand times."""
    return np.array(list(permutations(range(n))))


def _estimate(value: float, n: int, *, method: str) -> Estimate:
    """Returns a correlation with its interval, or why it has none."""
    perfect = abs(value) >= 1 - 1e-12
    if n < 4 or perfect:
        reason = "perfect agreement shows no spread, which is not to have none" if n > 3 else _too_few(n, least=4)
        return Estimate(value=value, reason=reason)
    low, high = map(float, interval(r=value, n=n, method=method))
    return Estimate(value=value, low=low, high=high)


def _accuracy(ranks: Floats, people: Floats, *, seed: int) -> Estimate:
    """Returns rank accuracy with its percentile interval over resampled generators.

    Draws in which people order no pair are skipped. A generator drawn twice makes a pair of equals, which does not
    count.
    """
    try:
        value = rank_accuracy(ranks=ranks, human_ranks=people)
    except Undefined as error:
        return Estimate(value=math.nan, reason=str(error))
    n = len(ranks)
    if n < FEWEST:
        return Estimate(value=value, reason=_too_few(n))
    order = np.sign(np.subtract.outer(people, people))
    right = np.where(order != 0, (1 + order * np.sign(np.subtract.outer(ranks, ranks))) / 2, 0.0)
    count = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    pairs = np.einsum("di,ij,dj->d", count, (order != 0).astype(float), count)
    hits = np.einsum("di,ij,dj->d", count, right, count)
    shares = hits[pairs > 0] / pairs[pairs > 0]
    if np.ptp(shares) == 0:
        return Estimate(value=value, reason="all pairs are ordered the same way, which shows no spread")
    return of_draws(value, shares)


def of_draws(value: float, draws: Floats) -> Estimate:
    """Returns a value with the interval of its draws; NaN draws are ignored."""
    low, high = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=value, low=float(low), high=float(high))


def _too_few(n: int, *, least: int = FEWEST) -> str:
    return f"an interval needs {least} generators, got {n}"


def _weakest(x: Floats, y: Floats, *, sign: float) -> float:
    """Returns the weakest correlation without one generator; NaN below four generators."""
    if len(x) < 4:
        return math.nan
    try:
        rest = [correlation(scores=np.delete(x, out), human=np.delete(y, out)) for out in range(len(x))]
    except Undefined:
        return math.nan
    return min(rest) if sign > 0 else max(rest)


def correlations(x: Floats, y: Floats) -> Floats:
    """Returns Pearson correlations along the last axis; NaN if one side is constant, which happens in few draws."""
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    lengths = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(lengths > 1e-12, (x * y).sum(axis=-1) / lengths, np.nan)
