"""How far two ways of sorting the same items into groups agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compute.types import BadInput, Undefined


def nmi(*, labels: ArrayLike, clusters: ArrayLike) -> float:
    """Mutual information of two groupings, both (n,), over the arithmetic mean of their entropies; in 0..1.

    Values only name groups: numbers or strings. Raises BadInput for unlike lengths, Undefined where both sides put
    everything into one group. Source: MIEB section 3 (clustering); arithmetic mean as scikit-learn does by default.
    """
    labels, clusters = np.asarray(labels), np.asarray(clusters)
    if labels.ndim != 1 or labels.shape != clusters.shape:
        raise BadInput(f"Expected two lists of the same length, got shapes {labels.shape} and {clusters.shape}")
    _, label = np.unique(labels, return_inverse=True)
    _, cluster = np.unique(clusters, return_inverse=True)
    if len(labels) == 0 or (label.max() == 0 and cluster.max() == 0):
        raise Undefined(f"All {len(labels)} items are in one class and one cluster: no mutual information to speak of")
    pairs, joint = np.unique(label * (cluster.max() + 1) + cluster, return_counts=True)
    by_label, by_cluster = np.bincount(label), np.bincount(cluster)
    expected = by_label[pairs // (cluster.max() + 1)] * by_cluster[pairs % (cluster.max() + 1)] / len(labels)
    shared = float(np.sum(joint / len(labels) * np.log(joint / expected)))
    return min(max(shared / ((_entropy(by_label) + _entropy(by_cluster)) / 2), 0.0), 1.0)


def _entropy(counts: NDArray[np.int64]) -> float:
    share = counts / counts.sum()
    return float(-np.sum(share * np.log(share)))
