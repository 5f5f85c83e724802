"""The only file that calls UMAP. It and scikit-learn are imported when a map is made: importing UMAP takes seconds."""

from __future__ import annotations

import warnings

import numpy as np

from compute.arrays import Floats, Floats32


def layout(
    x: Floats | Floats32, *, metric: str, start: Floats32, n_neighbors: int, min_dist: float, seed: int
) -> Floats:
    """UMAP's map [rows, 2] of points [rows, d], or of distances [rows, rows] where `metric` is precomputed.

    `start` [rows, 2] is where the optimisation begins. Deterministic for a seed and the versions of `versions`.
    """
    import umap

    reducer = umap.UMAP(
        metric=metric,
        init=start,
        n_neighbors=n_neighbors,
        min_dist=min_dist,
        random_state=seed,
        n_jobs=1,  # what a seed implies anyway
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="using precomputed metric", category=UserWarning)
        return np.asarray(reducer.fit_transform(x), dtype=float)


def scaled(xy: Floats) -> Floats32:
    """The points [rows, 2] with each axis from 0 to 10."""
    span = np.ptp(xy, axis=0)
    return (10 * (xy - xy.min(axis=0)) / np.where(span > 0, span, 1)).astype(np.float32)


def versions() -> dict[str, str]:
    """The packages that decide a map."""
    import sklearn
    import umap

    return {"umap-learn": umap.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__}
