"""Maps in two dimensions: tasks near tasks that rank models similarly, models near models with similar profiles.

UMAP keeps neighbours, not distances: how near two far groups lie says nothing. `trustworthiness` says how far
even the neighbours can be believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.correlation import off_diagonal
from compute.analysis.field import standardised
from compute.analysis.maps.layout import layout, scaled, versions
from compute.arrays import Bools, Floats, Floats32, Ints
from compute.types import Undefined

OUTLIER = -1  # HDBSCAN's label of points in no cluster; also of rows that could not be placed
FEWEST = 5  # points; a map of fewer has no neighbourhoods


@dataclass(frozen=True, kw_only=True)
class Projection:
    """A map and what it takes to make it again."""

    xy: Floats  # [rows, 2], no unit; NaN: not placed
    labels: Ints  # [rows], cluster or OUTLIER
    placed: Bools  # [rows]; False: no defined distance to some of the others
    trustworthiness: float  # in [0, 1], over the nearest `trust_neighbors`
    settings: Mapping[str, str | int | float]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a map is made."""

    seed: int = 0
    n_neighbors: int = 10
    min_dist: float = 0.1
    min_cluster_size: int = 3  # of HDBSCAN, on the map
    trust_neighbors: int = 5  # over which `trustworthiness` is measured


def nan_distances(*, rows: Floats) -> Floats:
    """Euclidean distances [n, n] between rows [n, columns] over the columns both have, scaled up to all.

    The squared distance over the shared columns is multiplied by columns / shared columns. NaN where none is shared.
    """
    from sklearn.metrics.pairwise import nan_euclidean_distances

    return nan_euclidean_distances(rows) if rows.size else np.full((len(rows), len(rows)), np.nan)


def _placeable(distances: Floats) -> Bools:
    """Rows whose distances to one another are all defined: the row with the most gaps goes first."""
    rows = ~np.isnan(np.diagonal(distances))
    while True:
        gaps = np.isnan(distances) & rows & rows[:, None]
        if not gaps.any():
            return rows
        rows[int(gaps.sum(axis=1).argmax())] = False


def _start(distances: Floats) -> Floats32:
    """Classical scaling to [rows, 2], each axis from 0 to 10: a start that needs no random eigenvector."""
    squared = distances**2
    centred = -(squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    xy = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0))
    xy *= np.sign(xy[np.abs(xy).argmax(axis=0), [0, 1]])
    return scaled(xy)


def _project(distances: Floats, settings: Settings, *, noun: str) -> Projection:
    placed = _placeable(distances)
    n = int(placed.sum())
    if n < FEWEST:
        raise Undefined(f"Only {n} {noun} can be placed; a map needs {FEWEST}. Choose a suite with more scores.")
    from sklearn.cluster import HDBSCAN
    from sklearn.manifold import trustworthiness

    inner = distances[np.ix_(placed, placed)]
    near, trust = min(settings.n_neighbors, n - 1), min(settings.trust_neighbors, (n - 1) // 2)
    flat = layout(
        inner,
        metric="precomputed",
        start=_start(inner),
        n_neighbors=near,
        min_dist=settings.min_dist,
        seed=settings.seed,
    )
    xy = np.full((len(distances), 2), np.nan)
    xy[placed] = flat
    labels = np.full(len(distances), OUTLIER)
    labels[placed] = HDBSCAN(min_cluster_size=min(settings.min_cluster_size, n), copy=True).fit_predict(flat)
    return Projection(
        xy=xy,
        labels=labels,
        placed=placed,
        trustworthiness=float(trustworthiness(inner, flat, n_neighbors=trust, metric="precomputed")),
        settings={
            **asdict(settings),
            "n_neighbors": near,
            "trust_neighbors": trust,
            "start": "classical scaling",
            **versions(),
        },
    )


def project_tasks(*, correlation: ArrayLike, settings: Settings | None = None) -> Projection:
    """Tasks by their vectors of correlations with all tasks, clustered on the map.

    correlation [tasks, tasks], NaN undefined: distances are then over the cells both rows have
    (`nan_distances`); a task with no defined cell is not placed. HDBSCAN runs on the UMAP coordinates.
    Deterministic for a seed and the library versions in `settings`. Raises Undefined for fewer than 5 tasks.
    Source: MIEB section 6.3, which gives neither parameters nor seed: these defaults are ours.
    """
    return _project(task_distances(correlation=correlation), settings or Settings(), noun="tasks")


def task_distances(*, correlation: ArrayLike) -> Floats:
    """Distances [tasks, tasks] between vectors of correlations with all tasks; NaN where nothing is shared."""
    r = np.array(correlation, dtype=float)
    r[np.isnan(off_diagonal(r)).all(axis=1)] = np.nan
    return nan_distances(rows=r)


def project_models(*, scores: ArrayLike, settings: Settings | None = None) -> Projection:
    """Models by their profiles of scores, every task standardised over the models that have it.

    scores [models, tasks], NaN missing. Nothing is filled in: the distance of two models is over the tasks
    both have, scaled up to all tasks (`nan_distances`), so different units and directions do no harm and gaps
    have no weight; a model that shares no task with others is not placed. Tasks with no spread are excluded.
    Deterministic for a seed and the library versions in `settings`. Raises Undefined for fewer than 5 models.
    """
    return _project(model_distances(scores=scores), settings or Settings(), noun="models")


def model_distances(*, scores: ArrayLike) -> Floats:
    """Distances [models, models] between profiles of standardised scores; NaN where no task is shared."""
    z = standardised(scores=scores)
    return nan_distances(rows=z[:, ~np.isnan(z).all(axis=0)])
