"""How far two ways of sorting the same items into groups agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats
from compute.types import BadInput, Undefined


def nmi(*, labels: ArrayLike, clusters: ArrayLike) -> float:
    """Mutual information of two groupings, both (n,), over the arithmetic mean of their entropies; in 0..1.

    Values only name groups: numbers or strings. Raises BadInput for unlike lengths, Undefined where both sides put
    everything into one group. Source: MIEB section 3 (clustering); arithmetic mean as scikit-learn does by default.
    """
    joint, label, cluster = _surprises(labels, clusters)
    return min(max(2 * (1 - joint.mean() / (label.mean() + cluster.mean())), 0.0), 1.0)


def nmi_stderr(*, labels: ArrayLike, clusters: ArrayLike) -> float:
    """Standard error of `nmi` over items drawn anew, by the delta method: the spread of its influence values.

    With an item's surprises j, l and c in the joint and the two single groupings, NMI is 2 (1 - mean j / mean (l + c)),
    so an item's influence is -2 (j - (l + c) mean j / mean (l + c)) / mean (l + c). Errors as in `nmi`.
    """
    joint, label, cluster = _surprises(labels, clusters)
    single = label + cluster
    influence = -2 * (joint - single * joint.mean() / single.mean()) / single.mean()
    return float(influence.std() / np.sqrt(len(influence)))


def _surprises(labels: ArrayLike, clusters: ArrayLike) -> tuple[Floats, ...]:
    """-log share of each item's pair of groups, of its label, of its cluster, all (n,); their means are entropies."""
    labels, clusters = np.asarray(labels), np.asarray(clusters)
    if labels.ndim != 1 or labels.shape != clusters.shape:
        raise BadInput(f"Expected two lists of the same length, got shapes {labels.shape} and {clusters.shape}")
    _, label = np.unique(labels, return_inverse=True)
    _, cluster = np.unique(clusters, return_inverse=True)
    if len(labels) == 0 or (label.max() == 0 and cluster.max() == 0):
        raise Undefined(f"All {len(labels)} items are in one class and one cluster: no mutual information to speak of")
    _, pair = np.unique(label * (cluster.max() + 1) + cluster, return_inverse=True)
    return tuple(-np.log(np.bincount(group)[group] / len(group)) for group in (pair, label, cluster))
