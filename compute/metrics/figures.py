"""Metrics of a run that are functions of several columns of its evidence, each with its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats, Ints
from compute.metrics import resampling
from compute.types import BadInput, Undefined


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A score: `n` is the number of items behind it, and `stderr` is set if there is a formula for it.

    `answered`: their share of the items asked. `lower_bound`: the value if all missing answers were wrong. `low`,
    `high`: the 95% interval of a metric that defines one; others are value ± 1.96 stderr. `bias`: how far the expected
    value exceeds that for infinitely many items; the interval is for the value minus the bias. None if no bias of the
    metric is known.
    """

    value: float
    n: int
    stderr: float | None = None
    answered: float = 1.0
    lower_bound: float | None = None
    low: float | None = None
    high: float | None = None
    bias: float | None = None


def cosine_spearman(human: ArrayLike, value: ArrayLike) -> Figure:
    """Computes the Spearman correlation of human scores and similarities, both (n,); pairs with a missing value are
    skipped.

    Standard error (1 - r²) sqrt((1 + r² / 2) / (n - 3)): Fisher's z with the variance of Bonett and Wright 2000,
    transformed back to r. Raises Undefined for fewer than three pairs or if one side is constant. Source: MIEB section
    3 (visual STS).
    """
    human, value = np.asarray(human, float), np.asarray(value, float)
    both = np.isfinite(human) & np.isfinite(value)
    human, value, n = human[both], value[both], int(both.sum())
    if n < 3:
        raise Undefined(f"A rank correlation needs three pairs, got {n}")
    for name, side in (("human scores", human), ("similarities", value)):
        if np.ptp(side) == 0:
            raise Undefined(f"All {n} {name} are {side[0]:g}, so there is no correlation")
    from scipy.stats import spearmanr

    r = float(spearmanr(human, value).statistic)
    return Figure(value=r, n=n, stderr=float((1 - r**2) * np.sqrt((1 + r**2 / 2) / (n - 3))) if n > 3 else None)


def nmi(labels: ArrayLike, clusters: ArrayLike) -> Figure:
    """Computes the mutual information of two groupings, both (n,), over the arithmetic mean of their entropies; in
    0..1.

    Values are only names of groups: numbers or strings. The standard error is over resampled items, by the delta
    method: with an item's surprisals j, l and c in the joint and the two single groupings, NMI is 2 (1 - mean j / mean
    (l + c)), so an item's influence is -2 (j - (l + c) mean j / mean (l + c)) / mean (l + c). Groups unrelated to the
    labels agree with them by chance, and smaller groups agree more: the bias is that of `finite_bias`. Raises BadInput
    for different lengths, Undefined if both sides put everything into one group. Source: MIEB section 3 (clustering);
    arithmetic mean as scikit-learn does by default.
    """
    labels, clusters = (np.asarray(side).astype(str) for side in (labels, clusters))
    if labels.ndim != 1 or labels.shape != clusters.shape:
        raise BadInput(f"Expected two lists of the same length, got shapes {labels.shape} and {clusters.shape}")
    _, label = np.unique(labels, return_inverse=True)
    _, cluster = np.unique(clusters, return_inverse=True)
    if len(labels) == 0 or (label.max() == 0 and cluster.max() == 0):
        raise Undefined(f"All {len(labels)} items are in one class and one cluster: no mutual information is defined")
    width = cluster.max() + 1
    _, pair = np.unique(label * width + cluster, return_inverse=True)
    joint, of_label, of_cluster = (_surprise(group) for group in (pair, label, cluster))
    single = of_label + of_cluster
    influence = -2 * (joint - single * joint.mean() / single.mean()) / single.mean()
    value = float(np.clip(2 * (1 - joint.mean() / single.mean()), 0.0, 1.0))
    stderr = float(influence.std() / np.sqrt(len(labels)))
    unrelated = [
        2 * (1 - _surprise(moved * width + cluster).mean() / single.mean())
        for moved in resampling.shuffled(label, source=np.arange(len(label)), times=200)
    ]
    bias = resampling.finite_bias(value, unrelated=unrelated, left_out=_without_each(pair, label, cluster))
    if stderr <= 1e-12:  # no item differs from another, so the certainty is unknown
        return Figure(value=value, n=len(labels), stderr=stderr, bias=bias)
    low, high = np.clip(value - bias + 1.96 * stderr * np.array([-1.0, 1.0]), 0.0, 1.0).tolist()
    return Figure(value=value, n=len(labels), stderr=stderr, bias=bias, low=low, high=high)


def _surprise(group: Ints) -> Floats:
    """Returns -log of the share of each item's group; its mean is the entropy."""
    return -np.log(np.bincount(group)[group] / len(group))


def _without_each(pair: Ints, label: Ints, cluster: Ints) -> Floats:
    """Returns NMI (n,) without each item in turn; NaN if both sides are then one group."""
    joint, of_label, of_cluster = (_entropies_without(group) for group in (pair, label, cluster))
    both = of_label + of_cluster
    return np.where(both > 1e-12, 2 * (1 - joint / np.where(both > 1e-12, both, 1.0)), np.nan)


def _entropies_without(group: Ints) -> Floats:
    """Returns the entropy (n,) of a grouping without each item in turn."""
    from scipy.special import xlogy

    counts, n = np.bincount(group).astype(float), max(len(group) - 1, 1)
    least = np.maximum(counts - 1, 0)
    change = xlogy(least, least) - xlogy(counts, counts)
    return np.log(n) - (xlogy(counts, counts).sum() + change[group]) / n
