"""How often the intervals hold the truth, on made-up suites whose truth is known.

The score of a model on a task is the model's true mean, plus how hard the task is for all models, plus how it suits
this model, plus the noise of its items. All four are normal, the last three with a standard deviation of 1; in uneven
suites the tasks of the smallest category have a larger one, so that its few tasks decide how far means vary. The truth
of a mean is over all tasks of these kinds; a category of one task is about that task, so what the task itself adds
belongs to its truth. The truth of a rank is that of the true means, no two of which are equal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from compute.analysis.comparison import compared
from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable
from compute.arrays import Floats, Ints
from compute.io.files import write_text
from compute.types import BadInput

MODELS = 12
APART, CLOSE = 1.0, 0.05  # standard deviation of the true means, in that of one score's noise
SIZES = (1, 2, 3, 4, 5, 10)  # tasks a category
MIXED = ((3, 5, 3, 5), (1, 1, 2, 4), (5, 7, 10, 22, 45, 6, 7, 23, 3, 2), (40, 2))
CLUSTERED = ((16,), (8, 16, 24))  # tasks a category, in one half of which some share their data
TOGETHER, RHO = (2, 4), (0.7, 0.9)  # tasks a cluster, and how their scores correlate
UNEVEN = 3.0  # times the spread of the other categories, for that of the smallest with several tasks
LEAST, EXACT, NONE = "at least 95%", "95%", "unknown"


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Shares of intervals that cover the truth, 0 to 1; None without an interval."""

    tasks: tuple[int, ...]  # of every category
    errors: bool  # whether the standard error of every score is known
    uneven: bool  # whether the smallest category of several tasks varies UNEVEN times as much between tasks
    together: int = 1  # tasks that share their data, in one half of every category
    rho: float = 0.0  # how their scores correlate, apart from model and task
    label: str  # of the intervals of means and differences; those of ranks are always LEAST
    mean: float | None
    difference: float | None  # of two models' means
    rank_apart: float | None  # of all ranks, where the true means differ
    rank_close: float | None  # where they are nearly equal
    boards_close: float | None  # of boards of nearly equal models, without any model falsely called better


def settings() -> Iterator[dict[str, Any]]:
    """What every row of the table is of: the first arguments of `simulate`."""
    for shape in ((size,) * categories for size in SIZES for categories in (1, 6)):
        yield from ({"tasks": shape, "errors": errors, "uneven": False} for errors in (False, True))
    for shape in MIXED:
        for uneven in (False, True):
            yield {"tasks": shape, "errors": 1 in shape, "uneven": uneven}
    for shape, together, rho in product(CLUSTERED, TOGETHER, RHO):
        yield {"tasks": shape, "errors": False, "uneven": False, "together": together, "rho": rho}


def simulate(
    *,
    tasks: tuple[int, ...],
    errors: bool,
    uneven: bool = False,
    together: int = 1,
    rho: float = 0.0,
    trials: int,
    seed: int,
) -> Coverage:
    """The coverage of one kind of suite. Raises BadInput for fewer than one trial."""
    if trials < 1:
        raise BadInput(f"A simulation needs a trial or more, got {trials}.")
    # One stream a row of the table, independent of the other rows.
    clustered = [together, round(100 * rho)] if together > 1 else []
    generator = np.random.default_rng([seed, int(errors), int(uneven), *tasks, *clustered])
    suite = {"tasks": tasks, "errors": errors, "uneven": uneven, "together": together, "rho": rho}
    clusters = _clusters(tasks, together) if together > 1 else None
    hits: dict[str, list[float]] = {"mean": [], "difference": []}
    labels = set()
    for name, spread in (("apart", APART), ("close", CLOSE)):
        hits |= {f"rank_{name}": [], f"boards_{name}": []}
        for _ in range(trials):
            scores, codes, truth = _suite(generator, tasks, spread, uneven=uneven, clusters=clusters, rho=rho)
            stderr = np.ones(scores.shape) if errors else None
            names = tuple(map(str, range(len(tasks))))
            table = ScoreTable(values=scores, codes=codes, categories=names, stderr=stderr, clusters=clusters)
            ranking = Ranking.of(table)
            if ranking.unknown[0]:
                return Coverage(**suite, label=NONE, **dict.fromkeys(MEASURED))
            labels.add(LEAST if ranking.few[0] else EXACT)
            rank = (truth > truth[:, None]).sum(axis=1) + 1
            inside = (ranking.rank_low <= rank) & (rank <= ranking.rank_high)
            hits[f"rank_{name}"].append(inside.mean())
            hits[f"boards_{name}"].append(not (ranking.better & (truth[:, None] <= truth)).any())
            hits["mean"].append(((ranking.mean_low <= truth) & (truth <= ranking.mean_high)).mean())
            hits["difference"].append(_difference_inside(table, truth))
    (label,) = labels
    shares = {name: round(float(np.mean(hits[name])), 4) for name in MEASURED}
    return Coverage(**suite, label=label, **shares)


MEASURED = ("mean", "difference", "rank_apart", "rank_close", "boards_close")


def _clusters(tasks: tuple[int, ...], together: int) -> Ints:
    """The cluster of every task: of each category the first half share their data, `together` at a time."""
    at = np.concatenate([np.arange(size) for size in tasks])
    size = np.repeat(tasks, tasks)
    first = at - np.where(at < size // 2, at % together, 0)
    return np.unique(np.repeat(np.arange(len(tasks)), tasks) * max(tasks) + first, return_inverse=True)[1]


def _suite(
    generator: np.random.Generator,
    tasks: tuple[int, ...],
    spread: float,
    *,
    uneven: bool,
    clusters: Ints | None,
    rho: float,
) -> tuple[Floats, Ints, Floats]:
    """Scores [models, tasks], the category of every task, and the true means [models]."""
    codes = np.repeat(np.arange(len(tasks)), tasks)
    size = np.array(tasks)[codes]
    several = size[size > 1]
    scale = np.where((size == several.min()) if uneven else False, UNEVEN, 1.0)
    model = spread * generator.normal(size=(MODELS, 1))
    # A fixed task's own part belongs to the truth, which would otherwise differ whatever the spread.
    own = np.where(size == 1, spread, scale) * generator.normal(size=(MODELS, len(codes)))
    hard = scale * generator.normal(size=len(codes))
    expected = model + hard + own
    truth = (np.where(size == 1, expected, model) / (len(tasks) * size)).sum(axis=1)
    scores = expected + generator.normal(size=expected.shape)
    if clusters is not None:
        # What a task adds to a model's mean, of variance 2, is to the share rho that of its cluster.
        shared = np.sqrt(2) * generator.normal(size=scores.shape)[:, clusters]
        scores = model + hard + np.sqrt(rho) * shared + np.sqrt(1 - rho) * (scores - model - hard)
    return scores, codes, truth


def _difference_inside(table: ScoreTable, truth: Floats) -> float:
    """Whether the interval of the difference of the first two models holds the true one."""
    pair = compared(table, 0, 1)
    return float(pair.low <= truth[0] - truth[1] <= pair.high)


def save(rows: Iterable[Coverage], path: Path, *, trials: int, seed: int) -> None:
    """Writes the table with what made it."""
    about = {
        "trials": 2 * trials,
        "rank_trials": trials,
        "seed": seed,
        "models": MODELS,
        "apart": APART,
        "close": CLOSE,
        "uneven": UNEVEN,
    }
    write_text(path, json.dumps({"settings": about, "rows": [asdict(row) for row in rows]}, indent=1) + "\n")


def load(path: Path) -> tuple[dict[str, float], tuple[Coverage, ...]]:
    """The settings of a stored table and its rows."""
    stored = json.loads(path.read_text())
    return stored["settings"], tuple(Coverage(**row | {"tasks": tuple(row["tasks"])}) for row in stored["rows"])
