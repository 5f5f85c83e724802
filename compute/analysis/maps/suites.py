"""Maps of tasks and of models as frames: what is shown, with which settings, and what is shipped.

UMAP keeps neighbours, not distances: how near two far groups lie says nothing. `trustworthiness` says how far even the
neighbours can be believed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from compute.analysis.correlation import off_diagonal
from compute.analysis.field import standardised
from compute.analysis.maps.layout import layout, scaled, versions
from compute.analysis.table import ALL, USUAL, ScoreTable
from compute.arrays import Bools, Floats, Floats32, Ints
from compute.types import ORIGINS, BadInput, Undefined

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


COLUMNS = ("kind", "key", "x", "y", "cluster", "settings")
NOUNS = ("tasks", "models")
# What is shipped: the name of a kind, and its suites.
SHIPPED = {
    "unisim": ("unisim-core", "unisim-ood"),
    "pairbench": ("pairbench",),
    "mieb": ("mieb",),
}
METHOD = "spearman"  # of the correlation vectors that position tasks
LEAST_SHARE = 0.2  # of the tasks, that a model needs to be on a map of models
LEAST_MODELS = 4  # of a pair of tasks whose correlation counts


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a map is made of and with which settings."""

    noun: str = "tasks"  # one of NOUNS
    suites: tuple[str, ...] = ("mieb",)
    origin: str = USUAL
    seed: int = 0
    n_neighbors: int = 10
    min_dist: float = 0.1

    def __post_init__(self) -> None:
        if self.noun not in NOUNS or self.origin not in (*ORIGINS, ALL, USUAL) or not self.suites:
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
        """The name of the map: `tasks:mieb`; of suites that are not shipped together, their keys joined."""
        known = {suites: name for name, suites in SHIPPED.items()}
        return f"{self.noun}:{known.get(self.suites, '+'.join(self.suites))}"


def project(
    parts: list[ScoreTable], recipe: Recipe, *, progress: Callable[[str], None] = lambda stage: None
) -> pd.DataFrame:
    """One row a point that could be placed: COLUMNS, settings as JSON. Raises Undefined for too few points."""
    from compute.analysis.correlation import correlate

    models, tasks, scores = join(parts)
    everyone = len(models)
    if recipe.noun == "models":  # who has few of the tasks shares none with some, which then could not be placed
        known = (~np.isnan(scores)).mean(axis=1) >= LEAST_SHARE
        models, scores = tuple(np.array(models)[known].tolist()), scores[known]
    progress("loading UMAP")

    import umap  # noqa: F401  isort: skip  slow: reported before, so that the wait has a name

    rule = Settings(seed=recipe.seed, n_neighbors=recipe.n_neighbors, min_dist=recipe.min_dist)
    if recipe.noun == "tasks":
        progress(f"placing {len(tasks)} tasks")
        matrix = correlate(scores=scores, method=METHOD, minimum=LEAST_MODELS).r
        made, keys, of = project_tasks(correlation=matrix, settings=rule), tasks, len(models)
    else:
        progress(f"placing {len(models)} models")
        made, keys, of = project_models(scores=scores, settings=rule), models, len(tasks)
    settings = {
        **made.settings,
        "origin": recipe.origin,
        "suites": list(recipe.suites),
        "points": int(made.placed.sum()),
        "left_out": (everyone if recipe.noun == "models" else len(tasks)) - int(made.placed.sum()),
        "from": of,
        "trustworthiness": round(made.trustworthiness, 4),
    }
    if recipe.noun == "tasks":
        settings |= {"correlation": METHOD, "least_models": LEAST_MODELS}
    text = json.dumps(settings, sort_keys=True)
    rows = [
        (recipe.kind, key, round(float(x), 4), round(float(y), 4), int(label), text)
        for key, (x, y), label, placed in zip(keys, made.xy, made.labels, made.placed, strict=True)
        if placed
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def join(parts: Sequence[ScoreTable]) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
    """Models, tasks and scores [models, tasks] of several suites side by side, every task once.

    Lower-is-better columns are turned. Models are the same where their keys are.
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
    """A point near another: `distance` is the root mean square difference of a correlation (tasks) or of a standardised
    score (models); `r` the rank correlation of two tasks, NaN for models."""

    key: str
    distance: float
    r: float


def neighbours(
    parts: list[ScoreTable], recipe: Recipe, *, among: Collection[str], most: int = 6
) -> dict[str, list[Neighbour]]:
    """For each point of `among` the nearest others of it in the data that the map is made from, nearest first.

    Near on the map is not always near in the data: UMAP keeps most neighbours, not all.
    """
    from compute.analysis.correlation import correlate
    from compute.analysis.field import standardised

    models, tasks, scores = join(parts)
    if recipe.noun == "tasks":
        keys, of = tasks, len(tasks)
        r = correlate(scores=scores, method=METHOD, minimum=LEAST_MODELS).r
        distances = task_distances(correlation=r)
    else:
        keys, of = models, int((~np.isnan(standardised(scores=scores)).all(axis=0)).sum())  # tasks with any spread
        distances, r = model_distances(scores=scores), np.full((len(models), len(models)), np.nan)
    np.fill_diagonal(distances, np.nan)
    distances[:, [key not in among for key in keys]] = np.nan
    out = {}
    for row, key in enumerate(keys):
        if key not in among:
            continue
        order = np.argsort(distances[row], kind="stable")  # NaN comes last
        out[key] = [
            Neighbour(key=keys[at], distance=float(distances[row, at] / of**0.5), r=float(r[row, at]))
            for at in order[:most]
            if not np.isnan(distances[row, at])
        ]
    return out


def shipped(
    read: Callable[[tuple[str, ...]], list[ScoreTable]],
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda stage: None,
) -> pd.DataFrame:
    """Every shipped map, one below the other; `read` gives some suites' published scores."""
    frames = []
    for suites in SHIPPED.values():
        parts = read(suites)
        for noun in NOUNS:
            progress(f"{noun} of {', '.join(suites)}")
            frames.append(project(parts, Recipe(noun=noun, suites=suites, seed=seed), progress=progress))
    return pd.concat(frames, ignore_index=True)


def lines(frame: pd.DataFrame) -> Iterator[str]:
    """One line a map: how many points and clusters, and how far its neighbourhoods can be believed."""
    for kind, rows in frame.groupby("kind", sort=False):
        settings = json.loads(rows["settings"].iloc[0])
        clusters = len(set(rows["cluster"]) - {-1})
        yield (
            f"{kind}: {len(rows)} points, {settings['left_out']} excluded, {clusters} clusters, "
            f"{np.mean(rows['cluster'] == -1):.0%} in none; trustworthiness {settings['trustworthiness']:.3f}"
        )
