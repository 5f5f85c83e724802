"""Means, Borda points and ranks of a table of scores. Arrays in, arrays out; NaN means no score.

Throughout, `scores` is [models, tasks], `categories` gives each task a category number 0..C-1, `weights`
gives each category a weight >= 0, and two rules make one mean of a row (`compute.types.AGGREGATES`, without
`human`):

- `category-mean`: the weighted mean of the category means (MIEB section 4 and Table 2, UniSim-Bench Table 2);
- `task-mean`: the mean over tasks, each with the weight of its category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Bools, Floats, Ints, ranks
from compute.types import BadInput

CATEGORY_MEAN = "category-mean"
TASK_MEAN = "task-mean"
BORDA = "borda"  # the rule that makes points, not a mean
UNRANKED = -1  # rank and class of a model that has no mean


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """Means of every model, in the unit of the scores."""

    mean: Floats  # [models]; NaN: a category that counts has no score
    higher_is_better: bool


@dataclass(frozen=True, kw_only=True)
class Borda:
    """Borda points: how many models a model beats, task by task."""

    points: Floats  # [models, tasks]; NaN: no score there
    total: Floats  # [models]; NaN: no score at all
    rank: Ints  # [models], 1 is best; UNRANKED where total is NaN


@dataclass(frozen=True, kw_only=True)
class Block:
    """Tasks averaged together before the blocks are: a category, or the whole table."""

    columns: Ints
    task_weights: Floats  # of those columns, > 0
    share: float  # of this block in the mean; the shares of a table sum to 1


def binomial_stderr(*, value: ArrayLike, n: ArrayLike) -> Floats:
    """Standard error sqrt(p (1 - p) / n) of a share p of n independent items.

    Shapes broadcast; same unit as `value`, a fraction. NaN where `value` or `n` is NaN or n < 1. Note that it
    is 0 at p = 0 and p = 1. Raises BadInput for a value outside [0, 1]. Source: the binomial variance;
    UniSim-Bench Table 6 prints 1.96 times this in percent.
    """
    p, count = np.asarray(value, float), np.asarray(n, float)
    if np.any((p < 0) | (p > 1)):
        raise BadInput(
            f"A binomial standard error needs shares in [0, 1], got {np.nanmin(p):g} to {np.nanmax(p):g}. "
            "Divide percentages by 100; leave the standard error of other quantities unknown."
        )
    safe = np.where(count >= 1, count, np.nan)
    return np.sqrt(p * (1 - p) / safe)


def table(scores: ArrayLike) -> Floats:
    """`scores` as float64 [models, tasks]; raises BadInput for another shape or an infinite score."""
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2:
        raise BadInput(f"Scores must be [models, tasks], got shape {x.shape}. Pivot the long frame first.")
    if np.isinf(x).any():
        raise BadInput(f"Scores hold {int(np.isinf(x).sum())} infinite values. Pass NaN where there is no score.")
    return x


def blocks(
    *,
    categories: ArrayLike,
    weights: ArrayLike | None,
    aggregate: str,
    task_weights: ArrayLike | None,
    tasks: int,
) -> tuple[Block, ...]:
    """The blocks of tasks that a mean is made of, without tasks and categories of weight 0.

    Shares sum to 1. A category without any task of weight > 0 in the table drops out. Raises BadInput for
    negative weights, weights that are all 0, or another rule than the two.
    """
    codes = np.asarray(categories)
    n_categories = int(codes.max()) + 1 if tasks else 0
    w = np.ones(n_categories) if weights is None else np.asarray(weights, float)
    u = np.ones(tasks) if task_weights is None else np.asarray(task_weights, float)
    if not (np.isfinite(w).all() and np.isfinite(u).all()) or (w < 0).any() or (u < 0).any():
        raise BadInput("Weights must be finite and >= 0. Use 0 to exclude a category or a task.")
    if aggregate == TASK_MEAN:
        by_task = u * w[codes]
        columns = np.flatnonzero(by_task > 0)
        groups = [(columns, by_task[columns], 1.0)] if len(columns) else []
    elif aggregate == CATEGORY_MEAN:
        members = [(np.flatnonzero((codes == c) & (u > 0)), w[c]) for c in range(n_categories)]
        groups = [(columns, u[columns], float(share)) for columns, share in members if len(columns) and share > 0]
    else:
        raise BadInput(f"No mean for the rule {aggregate!r}. Use {CATEGORY_MEAN!r} or {TASK_MEAN!r}.")
    if not groups:
        raise BadInput("Every task has weight 0. Give at least one category with tasks a weight above 0.")
    total = sum(share for _, _, share in groups)
    return tuple(Block(columns=columns, task_weights=task_w, share=share / total) for columns, task_w, share in groups)


def directions(*, higher: ArrayLike | None, tasks: int) -> Bools:
    """Direction of every task as bool [tasks]; None means that higher is better everywhere."""
    return np.ones(tasks, bool) if higher is None else np.asarray(higher, bool)


def shared_direction(*, columns: Ints, higher: ArrayLike | None, scales: ArrayLike | None, tasks: int) -> bool:
    """Whether higher is better in all of `columns`; raises BadInput where directions or scales differ.

    `scales` is any label [tasks] that is equal for tasks whose scores may be averaged (a unit, say).
    """
    up = directions(higher=higher, tasks=tasks)[columns]
    if up.any() and not up.all():
        raise BadInput(
            f"No mean over tasks of different directions: lower is better in {int((~up).sum())} of {len(up)}. "
            "Rank them by Borda points, or give one kind weight 0."
        )
    if scales is not None:
        kinds = np.unique(np.asarray(scales)[columns])
        if len(kinds) > 1:
            raise BadInput(
                f"No mean over tasks of different scales: {', '.join(str(kind) for kind in kinds[:4])}. "
                "Rank them by Borda points, or give all but one scale weight 0."
            )
    return bool(up.all())


def rank(values: ArrayLike, *, higher: bool = True) -> Ints:
    """Competition ranks [models], best 1, ties share the smaller (1, 2, 2, 4); NaN gives UNRANKED.

    Values within 1e-12 of the largest magnitude count as equal, so that the order of a sum decides nothing.
    """
    x = np.asarray(values, float)
    out = np.full(x.shape, UNRANKED, np.int64)
    known = ~np.isnan(x)
    if known.any():
        size = np.abs(x[known]).max() or 1.0
        rounded = np.round(x[known] / size, 12)
        out[known] = ranks(-rounded if higher else rounded, ties="min")
    return out


def _block_mean(x: Floats, weights: Floats) -> Floats:
    known = ~np.isnan(x)
    total = np.where(known, x * weights, 0.0).sum(axis=1)
    count = np.where(known, weights, 0.0).sum(axis=1)
    return np.divide(total, count, out=np.full(len(x), np.nan), where=count > 0)


def mean_of_blocks(scores: Floats, parts: tuple[Block, ...]) -> Floats:
    """The mean [rows] of scores [rows, tasks] over the tasks each row has; NaN where it has none of a block."""
    return sum(part.share * _block_mean(scores[:, part.columns], part.task_weights) for part in parts)


def adjusted_mean(scores: Floats, parts: tuple[Block, ...]) -> Floats:
    """Returns the mean [rows] of scores [rows, tasks] as if no score were missing; NaN as in `mean_of_blocks`.

    In each block a score is the sum of what its row and its task add (least squares, with the tasks' weights), so that
    a row that lacks hard tasks is no better for it. Rows with every score keep their mean.
    """
    out = np.zeros(len(scores))
    for part in parts:
        x, share = scores[:, part.columns], part.task_weights / part.task_weights.sum()
        known = np.where(np.isnan(x), 0.0, part.task_weights)
        own = np.divide(known, known.sum(axis=1, keepdims=True), out=np.zeros_like(known), where=known > 0)
        mean = _block_mean(x, part.task_weights)
        if (known > 0).all():
            out += part.share * mean
            continue
        left = np.where(known > 0, x - np.nan_to_num(mean)[:, None], 0.0)
        system = np.diag(known.sum(axis=0)) - known.T @ own
        effect = np.linalg.lstsq(system, (known * left).sum(axis=0), rcond=1e-9)[0]
        out += part.share * (mean + (share - own) @ effect)
    return out


def aggregate(
    *,
    scores: ArrayLike,
    categories: ArrayLike,
    weights: ArrayLike | None = None,
    aggregate: str = CATEGORY_MEAN,
    higher: ArrayLike | None = None,
) -> Aggregate:
    """The mean of every model over the tasks it has, in the unit of the scores.

    scores float [models, tasks], NaN missing; categories int [tasks]; weights float [categories] >= 0 (None: equal);
    higher bool [tasks] (None: all True). By category means, a model with no score in a category that counts has mean
    NaN. Raises BadInput for tasks that count but differ in direction.
    """
    x = table(scores)
    tasks = x.shape[1]
    parts = blocks(categories=categories, weights=weights, aggregate=aggregate, task_weights=None, tasks=tasks)
    used = np.concatenate([block.columns for block in parts])
    up = shared_direction(columns=used, higher=higher, scales=None, tasks=tasks)
    return Aggregate(mean=mean_of_blocks(x, parts), higher_is_better=up)


def category_means(
    scores: Floats, *, categories: Ints, task_weights: Floats, higher: Bools, scales: Sequence[str], count: int
) -> Floats:
    """Means [models, count] of the tasks each model has; NaN where it has none, or they do not mix."""
    found, labels = np.full((len(scores), count), np.nan), np.asarray(scales)
    for category in range(count):
        columns = np.flatnonzero((categories == category) & (task_weights > 0))
        if len(np.unique(higher[columns])) == len(np.unique(labels[columns])) == 1:
            found[:, category] = _block_mean(scores[:, columns], task_weights[columns])
    return found


def borda(*, scores: ArrayLike, higher: ArrayLike | None = None) -> Borda:
    """Borda points: on each task, models with a score minus the model's average rank; then the sum.

    scores [models, tasks], NaN missing; higher bool [tasks] (None: all True). Tied models share the mean of
    their ranks. A model without a score on a task gets no point there, and does not raise the points of the
    others; so totals favour models with more tasks: show coverage next to them. Directions and scales may
    differ. Source: the Borda count of MIEB's public ranking.
    """
    x = table(scores)
    up = directions(higher=higher, tasks=x.shape[1])
    known = ~np.isnan(x)
    worst_last = np.where(known, np.where(up, -x, x), np.inf)
    points = np.where(known, known.sum(axis=0) - ranks(worst_last), np.nan)
    total = np.where(known.any(axis=1), np.nansum(points, axis=1), np.nan)
    return Borda(points=points, total=total, rank=rank(total))


def anchor(*, scores: ArrayLike, categories: ArrayLike, means: ArrayLike, counted: ArrayLike) -> tuple[Floats, Bools]:
    """Scores to rank by where a source prints a category's mean but not every figure in it.

    scores float [models, tasks], NaN missing; categories int [tasks]; means float [models, categories] in the unit of
    the scores, NaN where none is printed; counted bool [tasks]. Returns scores [models, tasks] and bool
    [models, categories], True where the printed mean is used. There the scores at hand keep their spread but are
    moved so that the category's mean is the printed one, and every other task of it takes that mean: the ranking then
    keeps to the printed mean, whose spread is not known. A category that lacks nothing, or
    of which only some tasks are counted, stays as it is.
    """
    out, codes = np.array(scores, float), np.asarray(categories)
    printed, included = np.asarray(means, float), np.asarray(counted, bool)
    stands_in = np.zeros(printed.shape, bool)
    for category in range(printed.shape[1]):
        members = np.flatnonzero(codes == category)
        if not len(members) or not included[members].all():
            continue
        present = ~np.isnan(out[:, members])
        for row in np.flatnonzero(~present.all(axis=1) & ~np.isnan(printed[:, category])):
            known, centre = members[present[row]], printed[row, category]
            moved = out[row, known] + (centre - out[row, known].mean()) if len(known) else out[row, known]
            out[row, members] = centre
            out[row, known] = moved
            stands_in[row, category] = True
    return out, stands_in


def unranked_because(
    mean: Floats, enough: Bools, have: Ints, *, of: int, least: float, printed: bool
) -> tuple[str, ...]:
    """Says why each model has no rank, empty where it has: of `of` tasks `have` a score, or a `printed` mean."""
    share = "all" if least >= 1 else f"{least:.0%} of"
    sentences = []
    for value, ok, count in zip(mean, enough, have, strict=True):
        known = f"{count} have a score{' or a printed mean' if printed else ''}"
        if not np.isnan(value):
            sentences.append("")
        elif not ok:
            sentences.append(f"Not ranked: needs {share} {of} tasks; {known}")
        else:
            sentences.append(f"Not ranked: no score in one of the categories that count; of {of} tasks {known}")
    return tuple(sentences)
