"""Which models differ significantly: one matrix of decisions, from which rank ranges, classes and marks are read.

Each model is compared with every other by a t test of the difference of their means (`ranks.variance`), with Holm's
step-down method at 5 percent over its comparisons. One model is significantly better than another where the comparisons
of both models say so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks import variance
from compute.analysis.ranks.ranking import rank
from compute.arrays import Bools, Floats

ALPHA = 0.05
NOT_SIGNIFICANT = 1.6  # of t: below the one-sided quantile of 95 percent, 1.645 or more


def decisions(*, mean: Floats, parts: Sequence[variance.CategoryVariance], higher: bool) -> tuple[Bools, Floats]:
    """Which models are significantly better than which, on the board as a whole, and the p of each pair by itself.

    mean [models], none NaN; parts: what each category adds to their variance (`variance.by_category`); higher: whether
    a higher mean is better. Returns `better` bool [models, models], whether the row is significantly better than the
    column; and p [models, models], one-sided, 0.5 if clearly above 5 percent, NaN where unknown or of a model with
    itself. A model of unknown variance is neither better nor worse than any other.
    """
    p = _of_pairs(mean, parts)
    claimed = _holm_by_row(p)
    place = rank(mean, higher=higher)
    return claimed & claimed.T & (place[:, None] < place), p


def _of_pairs(mean: Floats, parts: Sequence[variance.CategoryVariance]) -> Floats:
    between, dof = variance.of_differences(parts)
    scored = sum(part.scored for part in parts)  # behind each mean
    p = np.where(np.isnan(between), np.nan, 0.5)
    np.fill_diagonal(p, np.nan)
    gap = np.subtract.outer(mean, mean)
    # The distribution function is slow, and what no number of degrees of freedom makes significant is not asked for.
    at = np.nonzero(np.triu(gap**2 > NOT_SIGNIFICANT**2 * between, 1))
    p[at] = p.T[at] = variance.one_sided(
        difference=gap[at], variance=between[at], dof=dof[at], tasks=np.minimum(scored[at[0]], scored[at[1]])
    )
    return p


def _holm_by_row(p: Floats) -> Bools:
    """Which comparisons of each row Holm's step-down method claims: bool [rows, rows].

    p as in `decisions`: NaN is counted among the row's comparisons and never claimed. A claim is of a direction. No two
    true means being equal, the wrong direction of a pair is claimed by at most one of its two one-sided tests, so that
    these need no halving of alpha.
    """
    others = p.shape[1] - 1
    if others < 1:
        return np.zeros(p.shape, bool)
    known = np.where(np.isnan(p), np.inf, p)
    ordered = np.sort(known, axis=1)[:, :others]
    passes = ordered <= ALPHA / (others - np.arange(others))
    count = np.where(passes.all(axis=1), others, passes.argmin(axis=1))
    last = np.where(count > 0, ordered[np.arange(len(p)), count - 1], -np.inf)
    return known <= last[:, None]


def holm(p: ArrayLike, *, alpha: float = ALPHA) -> Bools:
    """Which hypotheses Holm's step-down method rejects at family-wise error `alpha`: bool [n].

    In order of p, the k-th smallest (from 0) is rejected while it is at most alpha / (n - k). NaN is never
    rejected but counts in n. Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    values = np.nan_to_num(np.asarray(p, float), nan=1.0)
    order = np.argsort(values, kind="stable")
    passes = values[order] <= alpha / (len(values) - np.arange(len(values)))
    out = np.zeros(len(values), bool)
    out[order[: len(values) if passes.all() else int(passes.argmin())]] = True
    return out
