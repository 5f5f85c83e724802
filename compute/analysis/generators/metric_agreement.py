"""How metrics of generators agree with people, every figure with an interval, and which metrics differ in that.

The sample is the generators, so with the 4 to 10 that studies have most intervals are wide and most pairs of metrics
do not differ significantly. Where a figure has no interval the reason is stated instead of a width of zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, rankdata

from compute.analysis.generators.preference import ALPHA, DRAWS, FEWEST, accuracy_interval, permutation_p
from compute.analysis.intervals import Z95
from compute.analysis.ranks.variance import LEVEL
from compute.analysis.significance import holm
from compute.arrays import Floats
from compute.metrics.agreement import correlation, rank_accuracy
from compute.types import Undefined

EXACT = 12  # generators up to which every exchange of two metrics is tried: 2^12
EXCHANGES = 20_000  # random ones above that


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure and its 95% interval; without one, `reason` says why. NaN where the figure itself is undefined."""

    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PeopleAgreement:
    """One metric against people on n generators. Correlations are signed; for a distance negative is right."""

    pearson: Estimate
    rho_squared: Estimate
    spearman: Estimate
    kendall: Estimate
    accuracy_by_ranks: Estimate
    accuracy_by_scores: Estimate
    right_way: bool  # better scores go with preference
    p: float  # two-sided permutation p of the Pearson correlation
    generators: int


@dataclass(frozen=True, kw_only=True)
class MetricDifference:
    """Two metrics, by position: how much nearer to people the first is, as correlations turned so that 1 is best.

    `told_apart` is proven with Holm's correction over all pairs; `possible` is the smallest p that so few generators
    can give at all.
    """

    first: int
    second: int
    difference: Estimate
    p: float
    told_apart: bool
    possible: float


def agreement(
    *,
    scores: ArrayLike,
    human: ArrayLike,
    higher: bool,
    human_ranks: ArrayLike | None = None,
    ranks: ArrayLike | None = None,
) -> PeopleAgreement:
    """All figures of one metric. Lists [generators]: `scores`, and people's `human`, higher is better; `ranks` and
    `human_ranks` as a table lists them, 1 best, else those of the scores.

    Intervals: Pearson by Fisher's z, Spearman by Bonett and Wright (2000), Kendall by Fieller et al. (1957), rank
    accuracy by a bootstrap over generators. Raises as `compute.metrics.agreement.correlation`.
    """
    x, y = np.asarray(scores, float), np.asarray(human, float)
    r = correlation(scores=x, human=y)
    by_score = rankdata(-x if higher else x)
    people = rankdata(-y) if human_ranks is None else np.asarray(human_ranks, float)
    listed = by_score if ranks is None else np.asarray(ranks, float)
    n = len(x)
    pearson = _fisher(r, n, variance=1 / (n - 3) if n > 3 else math.nan, least=4)
    rho = correlation(scores=rankdata(x), human=rankdata(y))
    tau = float(kendalltau(x, y).statistic)
    return PeopleAgreement(
        pearson=pearson,
        rho_squared=_squared(pearson),
        spearman=_fisher(rho, n, variance=(1 + rho**2 / 2) / (n - 3) if n > 3 else math.nan, least=4),
        kendall=_fisher(tau, n, variance=0.437 / (n - 4) if n > 4 else math.nan, least=5),
        accuracy_by_ranks=_accuracy(listed, people),
        accuracy_by_scores=_accuracy(by_score, rankdata(-y)),
        right_way=(r > 0) == higher,
        p=permutation_p(x=x, y=y),
        generators=n,
    )


def differences(
    *, scores: Sequence[ArrayLike], higher: Sequence[bool], human: ArrayLike
) -> tuple[MetricDifference, ...]:
    """Every pair of metrics, in order. `scores` [metrics][generators]; `human` [generators].

    The interval resamples generators, the same for both metrics. The p exchanges the two metrics' standardised scores
    generator by generator, as would change nothing were they alike: with n generators it is at least 2 / 2^n, so 4 of
    them prove nothing. Raises as `compute.metrics.agreement.correlation`.
    """
    y = np.asarray(human, float)
    for values in scores:
        correlation(scores=values, human=y)  # raises where there is none
    turned = np.array([_standard(values) * (1 if up else -1) for values, up in zip(scores, higher, strict=True)])
    n, pairs = len(y), list(combinations(range(len(turned)), 2))
    exchanges = _exchanges(n)
    counts = np.random.default_rng(0).integers(0, n, (DRAWS, n))
    drawn = np.stack([_correlations(values[counts], y[counts]) for values in turned]) if n >= FEWEST and pairs else None
    tested = []
    for a, b in pairs:
        gap = float(_correlations(turned[a], y) - _correlations(turned[b], y))
        mixed = np.where(exchanges, turned[b], turned[a]), np.where(exchanges, turned[a], turned[b])
        gaps = np.abs(_correlations(mixed[0], y) - _correlations(mixed[1], y))
        p = float(np.mean(gaps >= abs(gap) * (1 - 1e-9) - 1e-12))
        tested.append((a, b, _difference(gap, None if drawn is None else drawn[a] - drawn[b], n), p))
    proven = holm([p for *_, p in tested], alpha=ALPHA) if tested else []
    return tuple(
        MetricDifference(
            first=a,
            second=b,
            difference=estimate,
            p=p,
            told_apart=bool(sure) and n >= FEWEST,
            possible=2 / 2**n,
        )
        for (a, b, estimate, p), sure in zip(tested, proven, strict=True)
    )


def _fisher(value: float, n: int, *, variance: float, least: int) -> Estimate:
    if math.isnan(value):
        return Estimate(value=value, reason="undefined: every pair is tied")
    if n < least:
        return Estimate(value=value, reason=f"an interval needs {least} generators, here are {n}")
    if abs(value) >= 1 - 1e-12:
        return Estimate(value=value, reason="perfect agreement shows no spread, which is not to have none")
    middle, half = math.atanh(value), Z95 * math.sqrt(variance)
    return Estimate(value=value, low=math.tanh(middle - half), high=math.tanh(middle + half))


def _squared(pearson: Estimate) -> Estimate:
    if pearson.reason:
        return Estimate(value=pearson.value**2, reason=pearson.reason)
    low, high = sorted((abs(pearson.low), abs(pearson.high)))
    return Estimate(value=pearson.value**2, low=0.0 if pearson.low < 0 < pearson.high else low**2, high=high**2)


def _accuracy(ranks: Floats, people: Floats) -> Estimate:
    try:
        value = rank_accuracy(ranks=ranks, human_ranks=people)
    except Undefined as error:
        return Estimate(value=math.nan, reason=str(error))
    low, high = accuracy_interval(ranks, people, seed=0)
    if math.isnan(low):
        few = f"an interval needs {FEWEST} generators, here are {len(ranks)}"
        reason = few if len(ranks) < FEWEST else "all pairs are ordered alike, which shows no spread"
        return Estimate(value=value, reason=reason)
    return Estimate(value=value, low=low, high=high)


def _difference(gap: float, drawn: Floats | None, n: int) -> Estimate:
    if drawn is None:
        return Estimate(value=gap, reason=f"an interval needs {FEWEST} generators, here are {n}")
    low, high = np.nanquantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value=gap, low=float(low), high=float(high))


def _exchanges(n: int) -> np.ndarray:
    """(e, n) bool: which generators' scores are exchanged; the present arrangement is among them."""
    if n <= EXACT:
        return np.array(list(product((False, True), repeat=n)))
    drawn = np.random.default_rng(0).random((EXCHANGES, n)) < 0.5
    return np.vstack([drawn, np.zeros((1, n), bool)])


def _standard(values: ArrayLike) -> Floats:
    values = np.asarray(values, float)
    return (values - values.mean()) / values.std()


def _correlations(x: Floats, y: Floats) -> Floats:
    """Pearson correlations along the last axis; NaN where one side is constant, as in few draws."""
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    lengths = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(lengths > 1e-12, (x * y).sum(axis=-1) / lengths, np.nan)
