"""Means and ranks of a table of scores. Inputs and outputs are arrays; NaN means no score.

Two rules average a row of scores [models, tasks] (`compute.types.AGGREGATES`, without `human`):

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
UNRANKED = -1  # rank of a model without a mean


@dataclass(frozen=True, kw_only=True)
class Block:
    """Tasks that are averaged together first: a category, or the whole table."""

    columns: Ints
    task_weights: Floats  # of those columns, > 0
    share: float  # of this block in the mean; the shares of a table sum to 1


def binomial_stderr(*, value: ArrayLike, n: ArrayLike) -> Floats:
    """Returns the standard error sqrt(p (1 - p) / n) of a share p of n independent items.

    Shapes broadcast; same unit as `value`, a fraction. NaN if `value` or `n` is NaN or n < 1. It is 0 at p = 0 and p =
    1. Raises BadInput for a value outside [0, 1]. Source: the binomial variance; UniSim-Bench Table 6 prints 1.96 times
    this in percent.
    """
    p, count = np.asarray(value, float), np.asarray(n, float)
    if np.any((p < 0) | (p > 1)):
        raise BadInput(
            f"A binomial standard error needs shares in [0, 1], got {np.nanmin(p):g} to {np.nanmax(p):g}. "
            "Divide percentages by 100; leave the standard error of other quantities unknown."
        )
    return np.sqrt(p * (1 - p) / np.where(count >= 1, count, np.nan))


def rank(values: ArrayLike, *, higher: bool = True) -> Ints:
    """Returns competition ranks [models]: 1 is best, ties share the smaller (1, 2, 2, 4); NaN gives UNRANKED.

    Values within 1e-12 of the largest magnitude count as equal, so that summation order does not matter.
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
    """Returns the mean [rows] of scores [rows, tasks] over the tasks each row has; NaN if it has none of a block."""
    return sum(part.share * _block_mean(scores[:, part.columns], part.task_weights) for part in parts)


def adjusted_mean(scores: Floats, parts: tuple[Block, ...]) -> Floats:
    """Returns the mean [rows] of scores [rows, tasks] as if no score were missing; NaN as in `mean_of_blocks`.

    In each block a score is modelled as the sum of a row effect and a task effect (least squares, with the tasks'
    weights), so that a row gains nothing from missing hard tasks. Rows with every score keep their mean.
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


def category_means(
    scores: Floats, *, categories: Ints, task_weights: Floats, higher: Bools, scales: Sequence[str], count: int
) -> Floats:
    """Returns means [models, count] of the tasks each model has; NaN if it has none, or if they differ in direction or
    scale.
    """
    found, labels = np.full((len(scores), count), np.nan), np.asarray(scales)
    for category in range(count):
        columns = np.flatnonzero((categories == category) & (task_weights > 0))
        if len(np.unique(higher[columns])) == len(np.unique(labels[columns])) == 1:
            found[:, category] = _block_mean(scores[:, columns], task_weights[columns])
    return found


def anchor(*, scores: ArrayLike, categories: ArrayLike, means: ArrayLike, counted: ArrayLike) -> tuple[Floats, Bools]:
    """Returns the scores to rank by if a source prints a category's mean but not every score in it.

    scores float [models, tasks], NaN if missing; categories int [tasks]; means float [models, categories] in the unit
    of the scores, NaN if none is printed; counted bool [tasks]. Returns scores [models, tasks] and bool [models,
    categories], True if the printed mean is used. In that case the known scores keep their spread but are shifted so
    that the category's mean is the printed one, and every missing score of the category takes that mean. The ranking
    thus uses the printed mean, whose spread is unknown. A category without missing scores, or with only some of its
    tasks counted, is unchanged.
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
    """Returns why each model has no rank, empty if it has one: of `of` tasks `have` a score, or a `printed` mean."""
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
