"""Correlations between tasks over models, with missing scores and an interval for every cell."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from compute.analysis.intervals import Z95
from compute.arrays import Floats, Floats32, Ints
from compute.types import BadInput

METHODS = ("kendall", "spearman", "pearson")
ENOUGH = 10  # models that a pair needs to be named as an extreme
PAIRS_AT_ONCE = 4096  # of rows of the sign matrix, in units of one model against another


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Pairwise correlations of tasks. NaN if there are too few models, a constant column, or no interval at that n."""

    r: Floats  # [tasks, tasks], symmetric
    n: Ints  # [tasks, tasks], models with both scores
    low: Floats  # [tasks, tasks]
    high: Floats


def _signs(x: Floats, rows: slice) -> Floats32:
    """Returns sign(x_i - x_j) for i in `rows` and every j, 0 if either is missing: [rows, models, tasks]."""
    return np.nan_to_num(np.sign(x[rows, None, :] - x[None, :, :]), nan=0.0).astype(np.float32)


def _kendall(x: Floats) -> Floats:
    """Returns tau-b: concordant minus discordant pairs, over the root of pairs untied in x times pairs untied in y.

    Equals scipy.stats.kendalltau of every two columns, which takes a hundred times as long.
    """
    models, tasks = x.shape
    if not tasks:
        return np.empty((0, 0))
    packed, which = np.unique(np.packbits(~np.isnan(x), axis=0), axis=1, return_inverse=True)
    patterns = np.unpackbits(packed, axis=0, count=models).astype(np.float32)  # of gaps: usually few are distinct
    score = np.zeros((tasks, tasks))
    untied = np.zeros((tasks, patterns.shape[1]))
    step = max(1, PAIRS_AT_ONCE // max(models, 1))
    for start in range(0, models, step):
        rows = slice(start, start + step)
        signs = _signs(x, rows).reshape(-1, tasks)
        both = (patterns[rows, None, :] * patterns[None, :, :]).reshape(len(signs), -1)
        score += signs.T @ signs  # exact in float32: integers below 2^24
        untied += np.abs(signs).T @ both
    per_pair = untied[:, which.reshape(-1)]
    square = per_pair * per_pair.T
    return np.divide(score, np.sqrt(square), out=np.full(score.shape, np.nan), where=square > 0)


def interval(*, r: ArrayLike, n: ArrayLike, method: str, quantile: float = Z95) -> tuple[Floats, Floats]:
    """Returns the interval of a correlation by Fisher's z, 95% by default: two arrays shaped like `r`, NaN if
    undefined.

    `quantile` is the normal quantile of its upper end. Variance of z: 1 / (n - 3) for pearson (Fisher 1915), (1 + r^2 /
    2) / (n - 3) for spearman (Bonett and Wright 2000), 0.437 / (n - 4) for kendall (Fieller, Hartley and Pearson 1957).
    At |r| = 1 these formulas give zero width, although r is not known exactly, so the interval is NaN.
    """
    value, count = np.asarray(r, float), np.asarray(n, float)
    top, taken = {
        "pearson": (np.ones_like(value), 3),
        "spearman": (1 + value**2 / 2, 3),
        "kendall": (np.full_like(value, 0.437), 4),
    }[_known(method)]
    with np.errstate(divide="ignore", invalid="ignore"):
        half = quantile * np.sqrt(np.where(count > taken, top / (count - taken), np.nan))
        z = np.arctanh(np.where(np.abs(value) < 1, value, np.nan))
        return np.tanh(z - half), np.tanh(z + half)


def _known(method: str) -> str:
    if method not in METHODS:
        raise BadInput(f"No correlation {method!r}. Use one of {', '.join(METHODS)}.")
    return method


def correlate(*, scores: ArrayLike, method: str = "kendall", minimum: int = 4) -> Correlation:
    """Correlates every two columns over the rows that have both.

    scores [models, tasks], NaN if missing; negate lower-is-better columns first. `method`: kendall (tau-b, as in
    UniSim-Bench Figure 3), spearman (average ranks) or pearson. Ranks are recomputed among the models of each pair. A
    cell with fewer than `minimum` models, or with a column that is constant over them, is NaN. Raises BadInput for an
    unknown method.
    """
    x = np.asarray(scores, float)
    scored = (~np.isnan(x)).astype(float)
    n = (scored.T @ scored).astype(np.int64)
    r = _kendall(x) if _known(method) == "kendall" else pd.DataFrame(x).corr(method, min_periods=minimum).to_numpy()
    r = np.where(n >= minimum, np.clip((r + r.T) / 2, -1, 1), np.nan)
    on_diagonal = np.flatnonzero(~np.isnan(np.diagonal(r)))
    r[on_diagonal, on_diagonal] = 1.0
    low, high = interval(r=r, n=n, method=method)
    for end in (low, high):
        end[on_diagonal, on_diagonal] = 1.0  # a column with itself
    return Correlation(r=r, n=n, low=low, high=high)


@dataclass(frozen=True, kw_only=True)
class ExtremePairs:
    """The pairs of tasks (indices, the lower first) that are most certainly the most and the least similar."""

    most: tuple[int, int]
    least: tuple[int, int]
    pairs: int  # compared


def extreme_pairs(*, correlation: Correlation, method: str) -> ExtremePairs | None:
    """Returns the pair whose interval has the highest lower end, and the pair whose interval has the lowest upper end.

    A correlation over few models is extreme by chance more often than one over many, so ends of intervals are compared
    instead of correlations. The intervals hold for all pairs at once (Bonferroni, 95%). Pairs with fewer than ENOUGH
    models or without an interval are skipped. Returns None if fewer than two pairs remain.
    """
    first, second = np.triu_indices(len(correlation.r), 1)
    r, n = correlation.r[first, second], correlation.n[first, second]
    ready = np.flatnonzero((n >= ENOUGH) & ~np.isnan(r) & ~np.isnan(correlation.low[first, second]))
    if len(ready) < 2:
        return None
    quantile = NormalDist().inv_cdf(1 - 0.025 / len(ready))
    low, high = interval(r=r[ready], n=n[ready], method=method, quantile=quantile)
    most, least = ready[np.argmax(low)], ready[np.argmin(high)]
    return ExtremePairs(
        most=(int(first[most]), int(second[most])),
        least=(int(first[least]), int(second[least])),
        pairs=len(ready),
    )


def off_diagonal(matrix: ArrayLike) -> Floats:
    """Returns a copy of correlations [tasks, tasks] with NaN on the diagonal."""
    r = np.array(matrix, dtype=float)
    np.fill_diagonal(r, np.nan)
    return r


def order(*, matrix: ArrayLike) -> Ints:
    """Returns an order of the tasks that puts similar tasks next to each other: a permutation int [tasks].

    Uses average linkage on the distance 1 - r, then the leaf order with the smallest sum of neighbouring distances. An
    undefined cell counts as zero correlation, here only. Tasks without any defined cell off the diagonal come last.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering  # slow to import: not at start
    from scipy.spatial.distance import squareform

    r = off_diagonal(matrix)
    known = np.flatnonzero((~np.isnan(r)).any(axis=1))
    rest = np.setdiff1d(np.arange(len(r)), known)
    if len(known) < 3:
        return np.concatenate([known, rest])
    distance = 1 - np.nan_to_num(r[np.ix_(known, known)], nan=0.0)
    distance = np.clip((distance + distance.T) / 2, 0, 2)
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = optimal_leaf_ordering(linkage(condensed, method="average"), condensed)
    return np.concatenate([known[leaves_list(tree)], rest]).astype(np.int64)
