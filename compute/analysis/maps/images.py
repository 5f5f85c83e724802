"""One task's items on a map: near each other where the model finds them similar (MIEB Figure 2).

UMAP keeps neighbours, not distances: how near two far groups lie says nothing. `trustworthiness` says how far even
the neighbours can be believed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.maps.layout import layout, scaled, versions
from compute.arrays import Floats, Floats32, Ints, unit
from compute.types import BadInput, Undefined

FEWEST = 5  # items; a map of fewer has no neighbourhoods
TRUST_NEIGHBORS = 15


def sampled(count: int, *, most: int, seed: int) -> Ints:
    """Which of `count` items are on a map of at most `most`: all of them, or as many at random, in rising order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, size=most, replace=False))


def project_items(
    *, vectors: ArrayLike, seed: int = 0, n_neighbors: int = 15, min_dist: float = 0.1
) -> tuple[Floats, dict[str, Any]]:
    """UMAP of embeddings [items, d] by cosine, begun from their first two principal components: where each item lies
    [items, 2], without unit, and what it takes to make the map again, with its trustworthiness.

    The same seed, settings and library versions give the same map. Raises Undefined for fewer than 5 items or
    embeddings without spread, BadInput for settings that make no map.
    Source: MIEB Figure 2, whose settings are not stated; these defaults are UMAP's own.
    """
    x = np.asarray(vectors, dtype=np.float64)
    if n_neighbors < 2 or not 0 <= min_dist <= 1:
        raise BadInput(f"A map needs n_neighbors >= 2 and min_dist in [0, 1]: {n_neighbors}, {min_dist:g}")
    if len(x) < FEWEST:
        raise Undefined(f"Only {len(x)} items; a map needs {FEWEST}")
    directions = unit(x)
    start = _start(directions)
    near, trust = min(n_neighbors, len(x) - 1), min(TRUST_NEIGHBORS, (len(x) - 1) // 2)
    from sklearn.manifold import trustworthiness

    # Of vectors of length 1 the Euclidean distance orders as the cosine does, and is what both libraries do fastest.
    flat = _turned(
        layout(
            directions.astype(np.float32),
            metric="euclidean",
            start=start,
            n_neighbors=near,
            min_dist=min_dist,
            seed=seed,
        )
    )
    return flat, {
        "seed": seed,
        "n_neighbors": near,
        "min_dist": min_dist,
        "trust_neighbors": trust,
        "trustworthiness": round(float(trustworthiness(directions, flat, n_neighbors=trust)), 4),
        "distance": "euclidean of vectors of length 1",
        "start": "principal components",
        **versions(),
    }


def _turned(xy: Floats) -> Floats:
    """The same map [items, 2] about its centre, its longest extent lying across: pages are wider than high."""
    centred = xy - xy.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    return turned * np.where(turned[np.abs(turned).argmax(axis=0), [0, 1]] < 0, -1, 1)


def _start(directions: Floats) -> Floats32:
    """The first two principal components [items, 2], each axis from 0 to 10; signs are fixed, so nothing is random."""
    centred = directions - directions.mean(axis=0)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    if spread[0] <= 1e-9 * np.sqrt(len(directions)):
        raise Undefined("The model gives every item the same embedding: there is nothing to lay out")
    xy = np.zeros((len(directions), 2))
    axes = min(2, len(spread))
    xy[:, :axes] = left[:, :axes] * spread[:axes]
    xy *= np.where(xy[np.abs(xy).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return scaled(xy)
