"""Maps of tasks and of models as frames: contents, settings, and shipped maps.

UMAP preserves neighbours, not distances: the distance between two far groups is meaningless. `trustworthiness` measures
how reliable even the neighbours are.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis.correlation import correlate, off_diagonal
from compute.analysis.field import standardised
from compute.analysis.table import ALL, USUAL, ScoreTable
from compute.arrays import Bools, Floats, Floats32
from compute.types import BadInput, Undefined, is_origin

FEWEST = 5  # points; fewer have no neighbourhoods
CLUSTER_SIZE, TRUST_NEIGHBORS = 3, 5  # smallest cluster, and the neighbours of `trustworthiness`
COLUMNS = ("kind", "key", "x", "y", "cluster", "settings")
NOUNS = ("tasks", "models")
# Shipped maps: name and suites.
SHIPPED = {
    "unisim": ("unisim-core", "unisim-ood"),
    "pairbench": ("pairbench",),
    "mieb": ("mieb",),
}
METHOD = "spearman"  # of the correlation vectors that position tasks
LEAST_SHARE = 0.2  # of the tasks that a model needs to be on a map of models
LEAST_MODELS = 4  # for a correlation of two tasks


def distances(scores: Floats, *, noun: str) -> tuple[Floats, Floats, int]:
    """Returns distances between tasks or models in the data [rows, rows], NaN if two share nothing.

    scores [models, tasks], NaN if missing. Tasks: distances between their vectors of rank correlations with all tasks,
    which are returned second. Models: distances between their scores, each task standardised over the models that have
    it and constant tasks excluded, so units and directions do not matter and gaps have no weight. A distance covers
    what both rows have, scaled up to all columns; their number is returned last.
    """
    from sklearn.metrics.pairwise import nan_euclidean_distances

    if noun == "tasks":
        rows = correlate(scores=scores, method=METHOD, minimum=LEAST_MODELS).r
        r = rows.copy()
        rows[np.isnan(off_diagonal(rows)).all(axis=1)] = np.nan
    else:
        rows = standardised(scores)
        rows, r = rows[:, ~np.isnan(rows).all(axis=0)], np.full((len(rows), len(rows)), np.nan)
    found = nan_euclidean_distances(rows) if rows.size else np.full(r.shape, np.nan)
    return found, r, rows.shape[1]


def _placeable(distances: Floats) -> Bools:
    """Returns rows whose distances to one another are all defined; rows with the most gaps are removed first."""
    rows = ~np.isnan(np.diagonal(distances))
    while True:
        gaps = np.isnan(distances) & rows & rows[:, None]
        if not gaps.any():
            return rows
        rows[int(gaps.sum(axis=1).argmax())] = False


def _start(distances: Floats) -> Floats32:
    """Returns classical scaling to [rows, 2], each axis from 0 to 10: a start that needs no random eigenvector."""
    squared = distances**2
    centred = -(squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    xy = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0))
    xy *= np.sign(xy[np.abs(xy).argmax(axis=0), [0, 1]])
    span = np.ptp(xy, axis=0)
    return (10 * (xy - xy.min(axis=0)) / np.where(span > 0, span, 1)).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The contents and settings of a map."""

    noun: str = "tasks"  # one of NOUNS
    suites: tuple[str, ...] = ("mieb",)
    origin: str = USUAL
    seed: int = 0
    n_neighbors: int = 10
    min_dist: float = 0.1

    def __post_init__(self) -> None:
        if self.noun not in NOUNS or not (is_origin(self.origin) or self.origin in (ALL, USUAL)) or not self.suites:
            raise BadInput(
                "A map shows tasks or models, of one suite or more, from published, imported, computed "
                f"or all scores; got {self.noun}, {self.origin}, {', '.join(self.suites) or 'no suite'}"
            )
        if not 2 <= self.n_neighbors <= 100 or not 0 <= self.min_dist <= 1 or not 0 <= self.seed < 2**31:
            raise BadInput(
                "A map needs 2 to 100 neighbours, a least distance from 0 to 1 and a seed from 0; "
                f"got {self.n_neighbors}, {self.min_dist:g}, {self.seed}"
            )

    @property
    def kind(self) -> str:
        """The name of the map, e.g. `tasks:mieb`; for suites that are not shipped together, their keys joined."""
        known = {suites: name for name, suites in SHIPPED.items()}
        return f"{self.noun}:{known.get(self.suites, '+'.join(self.suites))}"


def project(
    parts: list[ScoreTable], recipe: Recipe, *, progress: Callable[[str], None] = lambda stage: None
) -> pd.DataFrame:
    """Projects tasks or models to a map: one row per placed point, with COLUMNS, settings as JSON, and HDBSCAN clusters
    of the map.

    Deterministic for the recipe and the library versions in the settings. Raises Undefined for too few points. Source:
    MIEB section 6.3, which gives neither parameters nor a seed: these defaults are ours.
    """
    models, tasks, scores = join(parts)
    keys, of = (tasks, len(models)) if recipe.noun == "tasks" else (models, len(tasks))
    everyone = len(keys)
    if recipe.noun == "models":  # with few of the tasks, a model shares none with some, and cannot be placed
        known = (~np.isnan(scores)).mean(axis=1) >= LEAST_SHARE
        keys, scores = np.array(models)[known].tolist(), scores[known]
    progress("loading UMAP")

    import umap  # slow: reported before, so that the wait is explained

    progress(f"placing {len(keys)} {recipe.noun}")
    every, _, _ = distances(scores, noun=recipe.noun)
    placed = np.flatnonzero(_placeable(every))
    n = len(placed)
    if n < FEWEST:
        raise Undefined(f"Only {n} {recipe.noun} can be placed; a map needs {FEWEST}. Choose a suite with more scores.")
    import sklearn
    from sklearn.cluster import HDBSCAN
    from sklearn.manifold import trustworthiness

    inner = every[np.ix_(placed, placed)]
    near, trust = min(recipe.n_neighbors, n - 1), min(TRUST_NEIGHBORS, (n - 1) // 2)
    reducer = umap.UMAP(
        metric="precomputed",
        init=_start(inner),
        n_neighbors=near,
        min_dist=recipe.min_dist,
        random_state=recipe.seed,
        n_jobs=1,  # implied by a seed anyway
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="using precomputed metric", category=UserWarning)
        xy = np.asarray(reducer.fit_transform(inner), dtype=float)
    settings = {
        "seed": recipe.seed,
        "n_neighbors": near,
        "min_dist": recipe.min_dist,
        "min_cluster_size": CLUSTER_SIZE,
        "trust_neighbors": trust,
        "start": "classical scaling",
        "umap-learn": umap.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "origin": recipe.origin,
        "suites": list(recipe.suites),
        "points": n,
        "left_out": everyone - n,
        "from": of,
        "trustworthiness": round(float(trustworthiness(inner, xy, n_neighbors=trust, metric="precomputed")), 4),
    }
    if recipe.noun == "tasks":
        settings |= {"correlation": METHOD, "least_models": LEAST_MODELS}
    return pd.DataFrame(
        {
            "kind": recipe.kind,
            "key": [keys[at] for at in placed],
            "x": xy[:, 0].round(4),
            "y": xy[:, 1].round(4),
            "cluster": HDBSCAN(min_cluster_size=min(CLUSTER_SIZE, n), copy=True).fit_predict(xy).astype(int),
            "settings": json.dumps(settings, sort_keys=True),
        }
    )


def join(parts: Sequence[ScoreTable]) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
    """Joins several suites: models, tasks and scores [models, tasks], every task once.

    Lower-is-better columns are negated. Models are matched by key.
    """
    models = tuple(sorted({model for part in parts for model in part.models}))
    tasks = tuple(dict.fromkeys(task for part in parts for task in part.tasks))
    row = {model: index for index, model in enumerate(models)}
    column = {task: index for index, task in enumerate(tasks)}
    out = np.full((len(models), len(tasks)), np.nan)
    for part in parts:
        where = np.ix_([row[model] for model in part.models], [column[task] for task in part.tasks])
        out[where] = np.where(np.isnan(part.values), out[where], part.turned)
    return models, tasks, out


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A point near another.

    `distance` is the root mean square difference of a correlation (tasks) or of a standardised score (models); `r` is
    the rank correlation of two tasks, NaN for models.
    """

    key: str
    distance: float
    r: float


def neighbours(
    parts: list[ScoreTable], recipe: Recipe, *, among: Collection[str], most: int = 6
) -> dict[str, list[Neighbour]]:
    """Returns, for each point of `among`, its nearest other points in the data of the map, nearest first.

    Points that are near on the map are not always near in the data: UMAP preserves most neighbours, not all.
    """
    models, tasks, scores = join(parts)
    keys = tasks if recipe.noun == "tasks" else models
    far, r, of = distances(scores, noun=recipe.noun)
    np.fill_diagonal(far, np.nan)
    far[:, [key not in among for key in keys]] = np.nan
    out = {}
    for row, key in enumerate(keys):
        if key not in among:
            continue
        order = np.argsort(far[row], kind="stable")  # NaN comes last
        out[key] = [
            Neighbour(key=keys[at], distance=float(far[row, at] / of**0.5), r=float(r[row, at]))
            for at in order[:most]
            if not np.isnan(far[row, at])
        ]
    return out


def shipped(
    read: Callable[[tuple[str, ...]], list[ScoreTable]],
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda stage: None,
) -> pd.DataFrame:
    """Returns all shipped maps, concatenated; `read` returns the published scores of some suites."""
    frames = []
    for suites in SHIPPED.values():
        parts = read(suites)
        for noun in NOUNS:
            progress(f"{noun} of {', '.join(suites)}")
            frames.append(project(parts, Recipe(noun=noun, suites=suites, seed=seed), progress=progress))
    return pd.concat(frames, ignore_index=True)


def lines(frame: pd.DataFrame) -> Iterator[str]:
    """Yields one line per map: its points, its clusters, and its trustworthiness."""
    for kind, rows in frame.groupby("kind", sort=False):
        settings = json.loads(rows["settings"].iloc[0])
        clusters = len(set(rows["cluster"]) - {-1})
        yield (
            f"{kind}: {len(rows)} points, {settings['left_out']} excluded, {clusters} clusters, "
            f"{np.mean(rows['cluster'] == -1):.0%} in none; trustworthiness {settings['trustworthiness']:.3f}"
        )
