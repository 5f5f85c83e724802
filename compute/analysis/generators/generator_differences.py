"""Tests which generators differ significantly by a metric, from its values without each block of prompts.

Two overlapping intervals do not show that two generators are equal, and errors on one set of prompts are not always
independent: generators that draw the same prompts rise and fall together. So the error of each difference comes from
the differences without each block (the grouped jackknife of `compute.metrics.distribution.intervals`), and Holm's
step-down method bounds the probability of any false claim over all pairs at 5%.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks.variance import UNCHANGED, half_width
from compute.analysis.significance import holm
from compute.arrays import Bools, Floats, Ints
from compute.metrics.distribution.intervals import jackknife_covariance


@dataclass(frozen=True, kw_only=True)
class GeneratorDifferences:
    """k generators by one metric. NaN if a generator has no value, or no values without each block."""

    low: Floats  # (k,) 95% interval of each value by itself
    high: Floats
    p: Floats  # (k, k) two-sided; NaN on the diagonal
    better: Bools  # (k, k): the row is significantly better than the column, over all pairs
    rank_low: Ints  # (k,) the best rank that is not ruled out; 0 without a value
    rank_high: Ints

    @property
    def pairs(self) -> int:
        """The number of pairs of generators that could be compared."""
        return int(np.isfinite(self.p).sum()) // 2

    @property
    def significant(self) -> int:
        """The number of pairs in which one generator is significantly better."""
        return int(self.better.sum())


def generator_differences(
    *,
    values: ArrayLike,
    left_out: ArrayLike,
    higher: bool,
    sizes: ArrayLike | None = None,
    paired: bool = True,
) -> GeneratorDifferences:
    """Tests every pair of generators by a metric's `values` (k,).

    `left_out` (k, blocks) are the values without each block of prompts, NaN rows if unknown; `sizes` (blocks,) are the
    numbers of prompts per block, equal by default. `paired`: row i of every set belongs to prompt i, and the blocks are
    the same; otherwise the errors are independent (Welch 1947 for the degrees of freedom). `higher`: higher is better.
    """
    value, without = np.asarray(values, float), np.asarray(left_out, float)
    blocks = without.shape[1]
    counts = np.ones(blocks) if sizes is None else np.asarray(sizes, float)
    known = np.isfinite(value) & np.isfinite(without).all(axis=1)
    covariance = np.full((len(value), len(value)), np.nan)
    if known.any():
        covariance[np.ix_(known, known)] = jackknife_covariance(value[known], without[known].T, sizes=counts)
    half = half_width(variance=np.diag(covariance), dof=blocks - 1)
    p = _p(value, covariance, freedom=blocks - 1, paired=paired)
    tested, proven = np.triu(np.isfinite(p), 1), np.zeros(p.shape, bool)
    if tested.any():
        proven[tested] = holm(p[tested])
    ahead = value[:, None] > value if higher else value[:, None] < value
    better = (proven | proven.T) & ahead
    valued = np.isfinite(value)
    return GeneratorDifferences(
        low=value - half,
        high=value + half,
        p=p,
        better=better,
        rank_low=np.where(valued, 1 + better.sum(axis=0), 0),
        rank_high=np.where(valued, valued.sum() - better.sum(axis=1), 0),
    )


def _p(value: Floats, covariance: Floats, *, freedom: int, paired: bool) -> Floats:
    """Returns two-sided p values (k, k) of Student's t; 1 if two values are equal, NaN if a
    difference has no spread.
    """
    from scipy.special import stdtr  # slow to import: not at start

    own = np.diag(covariance)
    total = own[:, None] + own
    variance = total - 2 * covariance if paired else total
    gap = np.abs(value[:, None] - value)
    # Rows that are all NaN have no largest value and are not compared.
    scale = float(np.abs(value[np.isfinite(value)]).max(initial=0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = np.full(total.shape, float(freedom)) if paired else freedom * total**2 / (own[:, None] ** 2 + own**2)
        p = 2 * stdtr(degrees, -gap / np.sqrt(np.where(variance > (UNCHANGED * scale) ** 2, variance, np.nan)))
    p[gap <= UNCHANGED * scale] = 1.0
    p[~np.isfinite(total)] = np.nan
    np.fill_diagonal(p, np.nan)
    return p
