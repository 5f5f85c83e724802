"""Correlations between tasks over models, with gaps in the table and an interval on every cell."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compute.analysis.intervals import Z95
from compute.analysis.ranks import means
from compute.analysis.table import ScoreTable
from compute.arrays import Bools, Floats, Floats32, Ints
from compute.types import BadInput

METHODS = ("kendall", "spearman", "pearson")
ENOUGH = 10  # models a pair needs to be named as one of the extremes
PAIRS_AT_ONCE = 4096  # columns of the sign matrix computed at a time, in units of one model against another


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Pairwise correlations of tasks. NaN: too few models, a constant column, or no interval at that n."""

    r: Floats  # [tasks, tasks], symmetric
    n: Ints  # [tasks, tasks], models with both scores
    low: Floats  # [tasks, tasks]
    high: Floats


def _patterns(scored: Bools) -> tuple[Floats32, Ints]:
    """Distinct columns of the mask [models, patterns], and which one each task has: few, mostly."""
    packed, index = np.unique(np.packbits(scored, axis=0), axis=1, return_inverse=True)
    distinct = np.unpackbits(packed, axis=0, count=len(scored))
    return distinct.astype(np.float32), index.reshape(-1)


def _pearson(x: Floats, scored: Bools) -> Floats:
    mask = scored.astype(float)
    with np.errstate(invalid="ignore"):
        centred = x - np.where(mask.sum(axis=0) > 0, np.nansum(x, axis=0) / np.maximum(mask.sum(axis=0), 1), 0)
    z = np.where(scored, centred, 0.0)
    z /= np.maximum(np.abs(z).max(axis=0, initial=0.0), 1e-300)
    n = mask.T @ mask
    total, squares = z.T @ mask, (z * z).T @ mask  # [x, y]: of x over the models that have y
    safe = np.maximum(n, 1)
    variance = squares - total**2 / safe
    covariance = z.T @ z - total * total.T / safe
    r = _ratio(covariance, variance * variance.T)
    # A column that hardly varies over a pair's models leaves rounding in these sums: look again.
    doubtful = (variance < 1e-9 * squares) | (squares < 1e-18)
    for a, b in zip(*np.nonzero(np.triu(doubtful | doubtful.T)), strict=True):
        both = scored[:, a] & scored[:, b]
        r[a, b] = r[b, a] = _pearson_of_two(x[both, a], x[both, b])
    return r


def _pearson_of_two(x: Floats, y: Floats) -> float:
    if len(x) == 0 or x.min() == x.max() or y.min() == y.max():
        return np.nan
    left, right = ((v - v.mean()) / np.ptp(v) for v in (x, y))
    return float(np.clip(left @ right / np.sqrt((left @ left) * (right @ right)), -1, 1))


def _ratio(numerator: NDArray[np.floating], square: NDArray[np.floating]) -> Floats:
    square = np.asarray(square, float)
    out = np.full(square.shape, np.nan)
    np.divide(numerator, np.sqrt(np.maximum(square, 0)), out=out, where=square > 0)
    return np.clip(out, -1, 1)


def _signs(x: Floats, rows: slice) -> Floats32:
    """sign(x_i - x_j) for i in `rows` and every j, 0 where either is missing: [rows, models, tasks]."""
    difference = x[rows, None, :] - x[None, :, :]
    return np.nan_to_num(np.sign(difference), nan=0.0).astype(np.float32)


def _rows_at_once(models: int) -> int:
    return max(1, PAIRS_AT_ONCE // max(models, 1))


def _kendall(x: Floats, scored: Bools) -> Floats:
    """tau-b: concordant minus discordant pairs, over the root of pairs untied in x times in y."""
    models, tasks = x.shape
    patterns, which = _patterns(scored)
    score = np.zeros((tasks, tasks))
    untied = np.zeros((tasks, patterns.shape[1]))
    step = _rows_at_once(models)
    for start in range(0, models, step):
        rows = slice(start, start + step)
        signs = _signs(x, rows).reshape(-1, tasks)
        both = (patterns[rows, None, :] * patterns[None, :, :]).reshape(len(signs), -1)
        score += signs.T @ signs  # exact in float32: integers below 2^24
        untied += np.abs(signs).T @ both
    per_pair = untied[:, which]
    return _ratio(score, per_pair * per_pair.T)


def _spearman(x: Floats, scored: Bools) -> Floats:
    """Pearson on ranks taken again among the models of each pair.

    Twice a centred average rank is the sum of sign(x_i - x_j) over the pair's models, so ranks within every
    pattern of gaps come from one product.
    """
    models, tasks = x.shape
    patterns, which = _patterns(scored)
    mask = scored.astype(np.float64)
    ranks = np.empty((models, tasks, patterns.shape[1]))
    step = _rows_at_once(models)
    for start in range(0, models, step):
        rows = slice(start, start + step)
        ranks[rows] = np.einsum("ijt,jp->itp", _signs(x, rows), patterns, optimize=True)
    ranks *= mask[:, :, None]
    squares = np.einsum("itp,itp,ip->tp", ranks, ranks, patterns.astype(float), optimize=True)[:, which]
    if patterns.shape[1] == 1:
        flat = ranks[:, :, 0]
        return _ratio(flat.T @ flat, squares * squares.T)
    product = np.empty((tasks, tasks))
    for task in range(tasks):
        product[task] = np.einsum("iy,iy->y", ranks[:, task, which], ranks[:, :, which[task]] * mask[:, [task]])
    return _ratio(product, squares * squares.T)


def interval(*, r: ArrayLike, n: ArrayLike, method: str, quantile: float = Z95) -> tuple[Floats, Floats]:
    """Interval of a correlation through Fisher's z, 95% unless told: two arrays shaped as `r`, NaN where undefined.

    `quantile` is the normal quantile of its upper end.

    Variance of z: 1 / (n - 3) for pearson (Fisher 1915), (1 + r^2 / 2) / (n - 3) for spearman (Bonett and
    Wright 2000), 0.437 / (n - 4) for kendall (Fieller, Hartley and Pearson 1957). At |r| = 1 these
    formulas have no width, which is not to know r exactly: there it is NaN.
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
    """Correlation of every two columns over the rows that have both.

    scores [models, tasks], NaN missing; turn lower-is-better columns first. `method` kendall (tau-b, as
    UniSim-Bench Figure 3), spearman (average ranks) or pearson. Ranks are taken again among the models of
    each pair. A cell with fewer than `minimum` models, or with a column constant over them, is NaN. Raises
    BadInput for an unknown method.
    """
    _known(method)
    x = means.table(scores)
    scored = ~np.isnan(x)
    n = (scored.astype(np.float64).T @ scored.astype(np.float64)).astype(np.int64)
    compute = {"kendall": _kendall, "spearman": _spearman, "pearson": _pearson}[method]
    r = compute(x, scored) if x.size else np.full(n.shape, np.nan)
    r = np.where(n >= minimum, (r + r.T) / 2, np.nan)
    on_diagonal = np.flatnonzero(~np.isnan(np.diagonal(r)))
    r[on_diagonal, on_diagonal] = 1.0
    low, high = interval(r=r, n=n, method=method)
    for end in (low, high):
        end[on_diagonal, on_diagonal] = 1.0  # a column with itself
    return Correlation(r=r, n=n, low=low, high=high)


@dataclass(frozen=True, kw_only=True)
class ExtremePairs:
    """The pairs of tasks (indices, the lower first) of which it is surest that they are most and least similar."""

    most: tuple[int, int]
    least: tuple[int, int]
    pairs: int  # that were compared
    models: int  # that each of them has at least


def extreme_pairs(*, correlation: Correlation, method: str, models: int = ENOUGH) -> ExtremePairs | None:
    """The pair with the highest lower end of its interval, and that with the lowest upper end.

    A correlation over few models is extreme by chance more often than one over many, so ends of intervals are compared,
    not correlations; the intervals are wide enough to hold for all pairs at once (Bonferroni, 95%). Pairs with fewer
    than `models` models or without an interval take no part. None where fewer than two pairs are left.
    """
    first, second = np.triu_indices(len(correlation.r), 1)
    r, n = correlation.r[first, second], correlation.n[first, second]
    ready = np.flatnonzero((n >= models) & ~np.isnan(r) & ~np.isnan(correlation.low[first, second]))
    if len(ready) < 2:
        return None
    quantile = NormalDist().inv_cdf(1 - 0.025 / len(ready))
    low, high = interval(r=r[ready], n=n[ready], method=method, quantile=quantile)
    most, least = ready[np.argmax(low)], ready[np.argmin(high)]
    return ExtremePairs(
        most=(int(first[most]), int(second[most])),
        least=(int(first[least]), int(second[least])),
        pairs=len(ready),
        models=models,
    )


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """How tasks of a category correlate over models, once every model's and task's mean is taken off."""

    models: int  # with every score
    apart: float  # mean over pairs of tasks that count as independent; NaN without any
    low: float  # 95% interval of it, over models
    high: float
    together: float  # mean over pairs that share a cluster; NaN without any


def leftover(table: ScoreTable) -> Leftover | None:
    """Mean residual correlations of a table's tasks, in categories of three or more; None for fewer than four models.

    Independent tasks of equal variance give -1 / (tasks - 1), as residuals sum to 0; a value above 0 is dependence. The
    correlation of a pair is the sum of models' products of standardised residuals, so the interval follows from models.
    """
    x = table.turned[:, table.counted]
    codes = table.codes[table.counted]
    clusters = np.arange(len(codes)) if table.clusters is None else table.clusters[table.counted]
    x = x[~np.isnan(x).any(axis=1)]
    if len(x) < 4:
        return None
    products, pairs = np.zeros((2, len(x))), np.zeros(2)  # apart and together
    for code in np.flatnonzero(np.bincount(codes) > 2):
        y = x[:, codes == code]
        z = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
        z /= np.maximum(np.sqrt((z**2).sum(axis=0)), 1e-300)
        member = (clusters[codes == code][:, None] == np.unique(clusters)).astype(float)
        for sums, whole in ((products, z), (pairs, np.ones((1, z.shape[1])))):
            squares = [whole.sum(axis=1) ** 2, ((whole @ member) ** 2).sum(axis=1), (whole**2).sum(axis=1)]
            sums += np.squeeze(-np.diff(squares, axis=0) / 2)
    apart, together = np.divide(products.sum(axis=1), pairs, out=np.full(2, np.nan), where=pairs > 0)
    half = Z95 * np.sqrt(len(x)) * products[0].std(ddof=1) / pairs[0] if pairs[0] else np.nan
    return Leftover(models=len(x), apart=apart, low=apart - half, high=apart + half, together=together)


def off_diagonal(matrix: ArrayLike) -> Floats:
    """A copy of correlations [tasks, tasks] with NaN on the diagonal."""
    r = np.array(matrix, dtype=float)
    np.fill_diagonal(r, np.nan)
    return r


def order(*, matrix: ArrayLike) -> Ints:
    """An order of the tasks that puts similar tasks next to each other: a permutation int [tasks].

    Average linkage on the distance 1 - r, then the leaf order with the smallest sum of neighbouring
    distances. An undefined cell counts as a zero correlation, here only; tasks without any defined cell beside
    their own come last.
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
