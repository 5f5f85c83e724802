"""How metrics of generators agree with people, every value with an interval, and which metrics differ in that.

The sample is the generators, so with the 4 to 10 that studies have most intervals are wide, and chance easily gives a
high correlation. So each comes with how often a random order of the same scores correlates as strongly (permutation),
how far rank accuracy moves when other generators of this kind are drawn (bootstrap), and how far the correlation falls
without one of the generators. Where a value has no interval the reason is stated instead of a width of zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import ArrayLike

from compute import arrays
from compute.analysis.intervals import Z95, Estimate
from compute.analysis.ranks.variance import LEVEL
from compute.analysis.significance import holm
from compute.arrays import Floats
from compute.metrics.agreement import correlation, rank_accuracy
from compute.types import Undefined

EXACT = 8  # generators up to which every order is tried: 8! = 40,320
EXACT_EXCHANGES = 12  # generators up to which every exchange of two metrics is tried: 2^12
RANDOM = 20_000  # random orders or exchanges above that
DRAWS = 2000  # of the bootstrap
FEWEST = 6  # generators that a bootstrap and a verdict need
SIGNIFICANT, REVERSED = "significant", "significant, reversed"
NOT_SIGNIFICANT, TOO_FEW = "not significant", "too few generators"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """One metric against people on n generators. Correlations are signed; for a distance negative is right."""

    pearson: Estimate
    rho_squared: Estimate
    spearman: Estimate
    kendall: Estimate
    accuracy_by_ranks: Estimate  # share of generator pairs ranked as people rank them
    accuracy_by_scores: Estimate
    right_way: bool  # better scores go with preference
    p: float  # two-sided permutation p of the Pearson correlation
    weakest: float  # Pearson without the one generator that matters most; NaN below four generators
    generators: int


@dataclass(frozen=True, kw_only=True)
class MetricDifference:
    """Two metrics, by position: how much nearer to people the first is, as correlations turned so that 1 is best.

    `told_apart` is significant with Holm's correction over all pairs; `possible` is the smallest p that so few
    generators can give at all.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    told_apart: bool
    possible: float


def agree(
    *,
    scores: ArrayLike,
    human: ArrayLike,
    higher: bool,
    human_ranks: ArrayLike | None = None,
    ranks: ArrayLike | None = None,
    seed: int = 0,
) -> Agreement:
    """All values of one metric. Lists [generators]: `scores`, and people's `human`, higher is better; `ranks` and
    `human_ranks` as a table lists them, 1 best, else those of the scores. `higher`: more of the metric is better.

    Intervals: Pearson by Fisher's z, Spearman by Bonett and Wright (2000), Kendall by Fieller et al. (1957), rank
    accuracy by a bootstrap over generators. Raises BadInput for lists that are not finite, Undefined below three
    generators and for a constant list.
    """
    x, y = np.asarray(scores, float), np.asarray(human, float)
    r, n = correlation(scores=x, human=y), len(x)
    by_score, by_people = arrays.ranks(-x if higher else x), arrays.ranks(-y)
    rho = correlation(scores=arrays.ranks(x), human=arrays.ranks(y))
    first, second = (np.sign(np.subtract.outer(side, side)) for side in (x, y))
    tau = float((first * second).sum() / math.sqrt((first**2).sum() * (second**2).sum()))
    pearson = _fisher(r, n, variance=1.0, less=3)
    squared = Estimate(value=r**2, reason=pearson.reason)
    if not pearson.reason:
        low, high = sorted((pearson.low**2, pearson.high**2))
        squared = Estimate(value=r**2, low=0.0 if pearson.low < 0 < pearson.high else low, high=high)
    return Agreement(
        pearson=pearson,
        rho_squared=squared,
        spearman=_fisher(rho, n, variance=1 + rho**2 / 2, less=3),
        kendall=_fisher(tau, n, variance=0.437, less=4),
        accuracy_by_ranks=_accuracy(
            by_score if ranks is None else np.asarray(ranks, float),
            by_people if human_ranks is None else np.asarray(human_ranks, float),
            seed=seed,
        ),
        accuracy_by_scores=_accuracy(by_score, by_people, seed=seed),
        right_way=(r > 0) == higher,
        p=permutation_p(x=x, y=y, seed=seed),
        weakest=_weakest(x, y, sign=r),
        generators=n,
    )


def pair_agreement(*, distances: ArrayLike, human: ArrayLike) -> dict[str, float]:
    """Distances (n,) of generators, lower is better, against people's ratings (n,), higher is better.

    `rho_squared` is the squared Pearson correlation with its sign, turned so that above 0 is right, `spearman` that of
    ranks, turned likewise, and `accuracy` the rank accuracy. Raises as `agree`.
    """
    x, y = np.asarray(distances, float), np.asarray(human, float)
    pearson = -correlation(scores=x, human=y)
    by_rank, by_people = arrays.ranks(x), arrays.ranks(-y)
    return {
        "rho_squared": float(np.sign(pearson) * pearson**2),
        "spearman": correlation(scores=by_rank, human=by_people),
        "accuracy": rank_accuracy(ranks=by_rank, human_ranks=by_people),
    }


def verdicts(agreements: Sequence[Agreement]) -> tuple[str, ...]:
    """The verdict on each metric of one set of generators: SIGNIFICANT, REVERSED, NOT_SIGNIFICANT or TOO_FEW.

    Significant is a permutation p below ALPHA with Holm's correction over all the metrics; below FEWEST generators
    nothing is, whatever p says.
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


def permutation_p(*, x: ArrayLike, y: ArrayLike, seed: int = 0) -> float:
    """Share of orders of x [n] whose |Pearson correlation| with y [n] is at least the present order's: of all orders up
    to EXACT generators, else of random ones with the present order counted in."""
    left, right = (np.asarray(v, float) - np.mean(v) for v in (x, y))
    if len(left) <= EXACT:
        sums = np.array(list(permutations(left))) @ right
    else:
        draw = np.random.default_rng(seed)
        sums = np.append(draw.permuted(np.tile(left, (RANDOM, 1)), axis=1) @ right, left @ right)
    return float(np.mean(np.abs(sums) >= abs(left @ right) * (1 - 1e-9)))


def differences(
    *, scores: Sequence[ArrayLike], higher: Sequence[bool], human: ArrayLike
) -> tuple[MetricDifference, ...]:
    """Every pair of metrics, in order. `scores` [metrics][generators]; `human` [generators].

    The interval resamples generators, the same for both metrics. The p exchanges the two metrics' standardised scores
    generator by generator, which would change nothing if they were equal: with n generators it is at least 2 / 2^n, so
    4 of them show nothing. Raises as `agree`.
    """
    y, n = np.asarray(human, float), len(np.asarray(human))
    turned = []
    for values, up in zip(scores, higher, strict=True):
        correlation(scores=values, human=y)  # raises where there is none
        x = np.asarray(values, float)
        turned.append((x - x.mean()) / x.std() * (1 if up else -1))
    pairs = list(combinations(range(len(turned)), 2))
    if n <= EXACT_EXCHANGES:  # (e, n): which generators' scores are exchanged, the present arrangement among them
        exchanges = np.array(list(product((False, True), repeat=n)))
    else:
        exchanges = np.vstack([np.random.default_rng(0).random((RANDOM, n)) < 0.5, np.zeros((1, n), bool)])
    rows = np.random.default_rng(0).integers(0, n, (DRAWS, n))
    drawn = [correlations(values[rows], y[rows]) for values in turned] if n >= FEWEST and pairs else []
    tested = []
    for a, b in pairs:
        gap = float(correlations(turned[a], y) - correlations(turned[b], y))
        mixed = np.where(exchanges, turned[b], turned[a]), np.where(exchanges, turned[a], turned[b])
        gaps = np.abs(correlations(mixed[0], y) - correlations(mixed[1], y))
        estimate = of_draws(gap, drawn[a] - drawn[b]) if drawn else Estimate(value=gap, reason=_too_few(n))
        p = float(np.mean(gaps >= abs(gap) * (1 - 1e-9) - 1e-12))
        tested.append({"first": a, "second": b, "difference": estimate, "p": p})
    sure = holm([each["p"] for each in tested]) & (n >= FEWEST) if tested else ()
    return tuple(
        MetricDifference(**each, told_apart=bool(significant), possible=2 / 2**n)
        for each, significant in zip(tested, sure, strict=True)
    )


def _fisher(value: float, n: int, *, variance: float, less: int) -> Estimate:
    """The interval by Fisher's z with a variance of `variance` / (n - less)."""
    if math.isnan(value):
        return Estimate(value=value, reason="undefined: every pair is tied")
    if n <= less:
        return Estimate(value=value, reason=f"an interval needs {less + 1} generators, here are {n}")
    if abs(value) >= 1 - 1e-12:
        return Estimate(value=value, reason="perfect agreement shows no spread, which is not to have none")
    middle, half = math.atanh(value), Z95 * math.sqrt(variance / (n - less))
    return Estimate(value=value, low=math.tanh(middle - half), high=math.tanh(middle + half))


def _accuracy(ranks: Floats, people: Floats, *, seed: int) -> Estimate:
    """Rank accuracy with its percentile interval over generators drawn again; draws where people order no pair are left
    out. A generator drawn twice makes a pair of equals, which people do not order and which so does not count."""
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
    """A value with the interval of its draws, without those that are NaN."""
    low, high = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=value, low=float(low), high=float(high))


def _too_few(n: int) -> str:
    return f"an interval needs {FEWEST} generators, here are {n}"


def _weakest(x: Floats, y: Floats, *, sign: float) -> float:
    """r without one generator, where it supports the sign of the whole least; NaN below four generators."""
    if len(x) < 4:
        return math.nan
    try:
        rest = [correlation(scores=np.delete(x, out), human=np.delete(y, out)) for out in range(len(x))]
    except Undefined:
        return math.nan
    return min(rest) if sign > 0 else max(rest)


def correlations(x: Floats, y: Floats) -> Floats:
    """Pearson correlations along the last axis; NaN where one side is constant, as in few draws."""
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    lengths = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(lengths > 1e-12, (x * y).sum(axis=-1) / lengths, np.nan)
