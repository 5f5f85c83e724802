"""Chooses a smaller suite: its tasks, how well they represent the whole, and the savings; after MIEB section 6.3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pandas as pd

from compute.analysis import correlation as correlations
from compute.analysis import estimates
from compute.analysis.estimates import Held
from compute.analysis.lite.selection import THRESHOLDS, Selection, select, trace
from compute.analysis.ranks import means
from compute.analysis.ranks.means import CATEGORY_MEAN
from compute.analysis.table import WHOLE, ScoreTable
from compute.arrays import Floats, Ints
from compute.types import BadInput, Undefined


@dataclass(frozen=True, kw_only=True)
class Fidelity:
    """How well a subset represents the whole, by the measures of MIEB section 6.3."""

    tasks: int  # of the subset
    spearman: float
    pearson: float
    n_models: int
    largest_rank_change: int
    model: str  # the first with that change


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A suite prepared for choosing tasks."""

    table: ScoreTable  # of the models that have the suite's mean, without missing scores
    candidates: Ints  # tasks for which the source has a score of every model
    filled: int  # cells computed from a printed category mean


def whole(scores: ScoreTable) -> Whole:
    """Returns the models that have the suite's mean, and the tasks that a smaller suite may contain.

    A model counts if each category is complete or its mean is printed. In the latter case the missing scores are set to
    the one number that reproduces the printed category mean. They only affect the mean of the whole suite, since tasks
    with such cells are never candidates. Raises Undefined if fewer than 3 models count.
    """
    values = scores.values.copy()
    filled = np.zeros(values.shape, bool)
    if scores.aggregate == CATEGORY_MEAN:
        for category in range(len(scores.categories)):
            members = np.flatnonzero(scores.codes == category)
            gaps = np.isnan(scores.values[:, members])
            for row in np.flatnonzero(gaps.any(axis=1) & ~np.isnan(scores.printed[:, category])):
                lost, known = members[gaps[row]], members[~gaps[row]]
                rest = scores.printed[row, category] * len(members) - scores.values[row, known].sum()
                values[row, lost] = rest / len(lost)
                filled[row, lost] = True
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    if len(rows) < 3:
        raise Undefined(
            f"Only {len(rows)} models have the mean of {scores.name}; choosing tasks needs 3. "
            "Choose another origin or suite."
        )
    return Whole(
        table=replace(scores, values=values).rows(rows),
        candidates=np.flatnonzero(~filled[rows].any(axis=0)),
        filled=int(filled[rows].sum()),
    )


@dataclass(frozen=True, kw_only=True)
class Smaller:
    """The source scores, the selection, and how well it represents the whole."""

    scores: ScoreTable
    whole: Whole
    selection: Selection
    fidelity: Fidelity
    predicted: Held | None  # the means that a ridge predicts from the choice; None with too few models


def choose(
    scores: ScoreTable,
    *,
    size: Annotated[int | None, "How many tasks; without it, the knee of the curve."] = None,
    thresholds: Annotated[Sequence[float], "Mean correlations above which tasks are dropped."] = THRESHOLDS,
    method: Annotated[str, "Correlation of tasks: spearman, pearson or kendall."] = "spearman",
    exclude: Annotated[Sequence[str], "Task keys never to choose, comma-separated."] = (),
    models: pd.DataFrame | None = None,
) -> Smaller:
    """Chooses `size` tasks that rank models like the whole suite; by default as many as the knee.

    Excluded tasks and tasks without a score for every model are never chosen. `models`, by key: the family of each,
    which is excluded together for `predicted`. Raises BadInput or Undefined if the request cannot be met.
    """
    if any(not -1 <= value <= 1 for value in thresholds) or list(thresholds) != sorted(thresholds, reverse=True):
        raise BadInput(f"Thresholds must be between -1 and 1, the highest first; got {thresholds}")
    if unlike := scores.unlike_tasks:
        raise BadInput(f"{scores.name} has no mean: {unlike}")
    ready, never = _ready(scores, exclude=exclude)
    selection = select(ready.table, size=size, thresholds=thresholds, method=method, exclude=never)
    table, lite = ready.table, ready.table.columns(selection.chosen).mean
    fidelity = compared(table.models, table.mean, lite, tasks=selection.size, higher=table.higher_is_better)
    of = estimates.complete(table, models)
    seen = np.searchsorted(np.flatnonzero(table.counted), selection.chosen)
    predicted = None if isinstance(of, str) else estimates.held_out(of, seen)
    return Smaller(scores=scores, whole=ready, selection=selection, fidelity=fidelity, predicted=predicted)


def _ready(scores: ScoreTable, *, exclude: Sequence[str] = ()) -> tuple[Whole, Ints]:
    """Returns the whole suite, and the tasks that must not be chosen."""
    unknown = sorted(set(exclude) - set(scores.tasks))
    if unknown:
        raise BadInput(f"{scores.name} has no task {unknown[0]!r}. List them: likeness list tasks")
    ready = whole(scores)
    never = np.setdiff1d(np.arange(len(scores.tasks)), ready.candidates)
    return ready, np.union1d(never, [scores.tasks.index(task) for task in exclude]).astype(int)


def compared(models: Sequence[str], full: Floats, lite: Floats, *, tasks: int, higher: bool = True) -> Fidelity:
    """Returns how well the means `lite`, over `tasks` tasks, follow the means `full`, both [models].

    Raises Undefined if one of them is constant.
    """
    pair = np.stack([full, lite], axis=1)
    if (np.ptp(pair, axis=0) == 0).any():
        raise Undefined("No agreement to measure: the means of the models must differ.")
    change = np.abs(means.rank(full, higher=higher) - means.rank(lite, higher=higher))
    spearman, pearson = (
        float(correlations.correlate(scores=pair, method=method, minimum=3).r[0, 1])
        for method in ("spearman", "pearson")
    )
    return Fidelity(
        tasks=tasks,
        spearman=spearman,
        pearson=pearson,
        n_models=len(pair),
        largest_rank_change=int(change.max()),
        model=models[int(change.argmax())],
    )


@dataclass(frozen=True, kw_only=True)
class LostTask:
    """A task that was not chosen, and the chosen one that orders models most similarly."""

    task: int
    nearest: int  # -1 if no correlation with a chosen task is defined
    r: float  # Spearman over the models that have both
    n_models: int


def lost(result: Smaller, *, minimum: int = 10) -> list[LostTask]:
    """Returns the other tasks, those least correlated with any chosen one first; `minimum` models per correlation."""
    scores, chosen = result.scores, result.selection.chosen
    matrix = correlations.correlate(scores=scores.turned, method="spearman", minimum=minimum)
    tasks = []
    for task in np.setdiff1d(np.arange(len(scores.tasks)), chosen):
        r = np.nan_to_num(matrix.r[task, chosen], nan=-np.inf)
        nearest = int(chosen[np.argmax(r)])
        known = bool(np.isfinite(r.max()))
        tasks.append(
            LostTask(
                task=int(task),
                nearest=nearest if known else -1,
                r=float(r.max()) if known else float("nan"),
                n_models=int(matrix.n[task, nearest]) if known else 0,
            )
        )
    return sorted(tasks, key=lambda lost: (lost.nearest >= 0, lost.r))


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """How tasks chosen on some models order other models, over several random halvings of the models."""

    curve: Floats  # [halves, steps]: after each task, in each half's order of choice
    n_models: int  # in the smaller half
    size: int  # tasks of the suite

    @property
    def spearman(self) -> tuple[float, ...]:
        """The correlation of each half after the whole choice."""
        return tuple(self.curve[:, self.size - 1])

    @property
    def median(self) -> float:
        """The median of the correlations."""
        return float(np.median(self.spearman))


SPLITS = 5


def held_out(
    scores: ScoreTable,
    *,
    size: int,
    thresholds: tuple[float, ...] = THRESHOLDS,
    splits: int = SPLITS,
    seed: int = 0,
) -> HeldOut:
    """Chooses tasks on one half of the models and measures the Spearman correlation with the whole on the other half.

    The models are halved `splits` times at random, and tasks are chosen once on each half. The candidate tasks depend
    on all models, as for the shown choice. Deterministic for a seed. Raises BadInput below 8 models.
    """
    ready, never = _ready(scores)
    total = len(ready.table.models)
    if total < 8:
        raise BadInput(f"Only {total} models have the mean of {scores.name}; halves to compare need 8 or more.")
    draw, curves = np.random.default_rng(seed), []
    for _ in range(splits):
        order = draw.permutation(total)
        halves = [ready.table.rows(half) for half in (order[: total // 2], order[total // 2 :])]
        for inside, outside in (halves, halves[::-1]):
            selection = select(inside, size=size, thresholds=thresholds, exclude=never)
            curves.append(trace(outside, selection.order))
    steps = min(map(len, curves))
    return HeldOut(curve=np.array([curve[:steps] for curve in curves]), n_models=total // 2, size=size)


def between(scores: ScoreTable, other: ScoreTable) -> Fidelity:
    """Returns how well the suite `other` agrees with the whole suite `scores`, by the measures of MIEB section 6.3."""
    full, lite = (dict(zip(part.models, part.mean, strict=True)) for part in (whole(scores).table, whole(other).table))
    models = [model for model in full if model in lite]
    if len(models) < 3:
        raise BadInput(f"Only {len(models)} models have the mean of both {scores.name} and {other.name}.")
    of_both = (np.array([mean[model] for model in models]) for mean in (full, lite))
    return compared(models, *of_both, tasks=len(other.tasks))


def lines(result: Smaller) -> Iterator[str]:
    """Yields the choice as text: the summary first, then one task per line in the order of choice."""
    scores, chosen = result.scores, result.selection
    yield from summary(result)
    width = max(len(task) for task in scores.tasks)
    names = scores.categories if scores.categories != (WHOLE,) else ("",)
    for step, task in enumerate(chosen.path):
        yield (
            f"{step + 1:>4}  {scores.tasks[task]:<{width}}  {names[scores.codes[task]]}  "
            f"Spearman {chosen.agreement[step]:.3f}"
        )


def summary(result: Smaller) -> Iterator[str]:
    """Yields how well the choice ranks models, what it saves, and what could not be chosen."""
    scores, chosen, agreement = result.scores, result.selection, result.fidelity
    yield (
        f"{scores.name}: {len(chosen.chosen)} of {len(scores.tasks)} tasks, chosen on the {agreement.n_models} "
        f"models with its mean"
    )
    yield (
        f"Spearman {agreement.spearman:.3f}, Pearson {agreement.pearson:.3f} with the whole, on the same models; "
        f"largest change of rank {agreement.largest_rank_change} ({agreement.model})"
    )
    if held := result.predicted:
        yield (
            f"Means predicted from these tasks, of each of {held.models} models without it and its family: error "
            f"{held.error:.4f} (RMSE), largest {held.largest:.4f}; change of place {held.places:.1f}, largest "
            f"{held.most_places}"
        )
    saved = len(scores.tasks) - len(chosen.chosen)
    yield f"{saved} runs a model saved; {len(chosen.dropped)} tasks dropped as redundant"
    if not np.isnan(chosen.hours):
        yield f"{chosen.hours:.1f} GPU hours per model by the imported running times; their hardware is not known"
    absent = len(scores.tasks) - len(result.whole.candidates)
    if absent:
        yield f"{absent} tasks could not be chosen: not every model has a score there"
