"""Scores that the rest of the evidence contradicts: each is predicted from the model's other scores by other models.

A ridge of the other models predicts every score of a model from its other tasks; the residual is divided by a scale of
its task times one of its model, both robust. What cannot be right by itself (one class for every image) is set aside
first, since it would spoil the predictions that should convict it; then the worst is set aside and everything predicted
again, until none exceeds LIMIT. A score at chance that is also expected there is no fault: a model whose images and
texts share no space classifies at chance everywhere.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from compute.analysis.table import ScoreTable
from compute.arrays import Bools, Floats, Ints

CLIPPED = 3.0  # standard deviations of a score that predicts others
PENALTY = 0.05  # of the ridge, per task
LIMIT, APART_BY = 7.0, 0.6  # of a residual over its scale, and over the spread of a task, from which on it is far
SWAPPED, FITS = 5.0, 1.5  # of two scores of a task over their scales, as they are and exchanged
CERTAIN = 3.5  # of a score at chance, which is doubtful by itself
FLOOR = 0.12  # the least scale of a task, over the spread of tasks
ROUNDS, AT_ONCE = 80, 3
FEWEST_MODELS, FEWEST_TASKS = 12, 8
NEEDS = f"It needs {FEWEST_MODELS} models and {FEWEST_TASKS} tasks."
APART = 3.0  # robust deviations of a model's mean from the others', beyond which no line through them reaches it
TINY = 1e-9
SHARE = 0.6  # of the tasks that a model needs to take part
CHANCES, ABOVE = 2.0, 10.0  # times chance: at most this is one class for all, and the median model has at least that
NOTHING = 0.01  # of the median of a task: what is taken for chance where it is not known
MOST, SEVERAL = 0.5, 4  # of such tasks of a category, from which on a model is taken to be unable to do them; at least
SAME = 6  # tasks with equal digits of two models, from which on a file may be a copy
DIGITS = 4  # after the point of a value that is continuous: fewer are equal by chance
Z95 = 1.96
BEYOND = "outside the range of its metric"
ONE_CLASS, FAR, COPY, EXCHANGED, OUTSIDE = "one class", "far", "copy", "exchanged", "outside"


class Doubt(NamedTuple):
    """A score that the rest contradicts. Values in stored units."""

    model: str
    task: str
    kind: str
    value: float
    expected: float  # NaN where no model of the others predicts it
    low: float  # of the expectation's 95% interval
    high: float
    reason: str


def audit(table: ScoreTable, *, chance: Floats | None = None) -> list[Doubt]:
    """The doubtful scores of a table, the surest first. chance [tasks]: the value of guessing, NaN unknown."""
    found, copies = _outside(table), _copies(table)
    known = ~np.isnan(table.values)
    tasks = np.flatnonzero(known.sum(axis=0) >= FEWEST_MODELS)
    rows = np.flatnonzero(known[:, tasks].mean(axis=1) >= SHARE) if len(tasks) else tasks
    if len(rows) < FEWEST_MODELS or len(tasks) < FEWEST_TASKS:
        return found + copies
    values = table.values[np.ix_(rows, tasks)]
    unit = float(np.median(np.nanstd(values, axis=0)))
    level = np.nanmean((values - np.nanmean(values, axis=0)) / (np.nanstd(values, axis=0) + TINY), axis=1)
    level = np.abs(level - np.median(level))
    rows, values = (part[level <= APART * 1.4826 * np.median(level)] for part in (rows, values))
    middles = np.nanmedian(values, axis=0)
    guess = NOTHING * middles if chance is None else np.asarray(chance, float)[tasks]
    telling = (middles >= ABOVE * np.maximum(guess, TINY)) & (np.nanmin(values, axis=0) >= 0)
    least = 0.0 if chance is None else guess / CHANCES  # the same answer throughout is right now and then
    at_chance = (values <= CHANCES * guess) & (values >= least) & telling
    expected, scale, far = _contradicted(values, at_chance, unit)
    z, codes = np.abs(values - expected) / scale, table.codes[tasks]
    able = ~_everywhere(at_chance, telling, codes)
    one_class = at_chance & (z > CERTAIN) & (expected > ABOVE / 2 * guess) & able
    far &= able
    exchanged = _exchanged(values, expected, scale)
    swapped = np.zeros_like(far)
    for cell in exchanged:
        swapped[cell] = True
    for row, column in sorted(np.argwhere(far | one_class | swapped).tolist(), key=lambda cell: -z[tuple(cell)]):
        value, middle = float(values[row, column]), float(expected[row, column])
        other = exchanged.get((row, column))
        kind = EXCHANGED if other is not None else ONE_CLASS if one_class[row, column] else FAR
        reason = {
            ONE_CLASS: "as guessing would be, or every answer the same",
            FAR: f"{'below' if value < middle else 'above'} what its other scores predict",
            EXCHANGED: f"fits {table.models[rows[other]] if other is not None else ''}, whose score fits this model",
        }[kind]
        half = Z95 * float(scale[row, column])
        about = (table.models[rows[row]], table.tasks[tasks[column]])
        found.append(Doubt(*about, kind, value, middle, middle - half, middle + half, reason))
    return found + copies


def expectations(values: Floats, aside: Bools) -> tuple[Floats, Floats]:
    """Every score [models, tasks] predicted from the model's other scores by the other models, and how far a model lies
    from those [models]; scores that are `aside` are not learned from. No value may be missing."""
    out, distance = np.empty_like(values), np.empty(len(values))
    for row in range(len(values)):
        others = np.delete(values, row, axis=0)
        centre, spread = others.mean(axis=0), others.std(axis=0) + TINY
        z, use = (others - centre) / spread, ~aside[row]
        own = np.clip((values[row] - centre) / spread, -CLIPPED, CLIPPED)  # else one fault would speak for all
        near = z[:, use] @ own[use]
        kernel = z[:, use] @ z[:, use].T + PENALTY * use.sum() * np.eye(len(z))
        both = np.linalg.solve(kernel, np.column_stack([z, near]))
        solved = both[:, :-1]
        distance[row] = np.sqrt(PENALTY + max(0.0, own[use] @ own[use] - near @ both[:, -1]) / use.sum())
        share = (z * solved).sum(axis=0) * use  # what a task adds to its own prediction, which is taken out
        out[row] = centre + spread * (near @ solved - own * share) / (1 - share)
    return out, distance


def _everywhere(at_chance: Bools, telling: Bools, categories: Ints) -> Bools:
    """Where a model is at chance on most tasks of a category where others are far above (`telling`): it cannot do its
    kind, such as one whose images and texts share no space."""
    same = (categories[:, None] == categories) & telling[:, None]
    return at_chance.astype(int) @ same > MOST * np.maximum(same.sum(axis=0), SEVERAL)


def _contradicted(values: Floats, suspect: Bools, unit: float) -> tuple[Floats, Floats, Bools]:
    """Expected values, scales of the residuals and which scores are far [models, tasks]."""
    aside, missing, far = suspect.copy(), np.isnan(values), np.zeros(values.shape, bool)
    filled = np.where(aside | missing, np.nanmedian(np.where(aside, np.nan, values), axis=0), values)
    for _ in range(ROUNDS):
        expected, distance = expectations(filled, aside | missing)
        filled = np.where(aside | missing, expected, filled)
        residual = np.where(aside | missing, np.nan, values - expected)
        task, model = np.maximum(_spread(residual, 0), FLOOR * unit), _spread(residual, 1)
        wide = np.maximum(model / np.median(model), distance / np.median(distance))
        scale = task * np.maximum(wide, 1)[:, None]
        z = np.abs(residual) / scale
        worst = np.argwhere((z > LIMIT) & (np.abs(residual) > APART_BY * unit))
        if not len(worst):
            break
        for row, column in sorted(worst.tolist(), key=lambda cell: -z[tuple(cell)])[:AT_ONCE]:
            aside[row, column] = far[row, column] = True
    return expected, scale, far


def _spread(residual: Floats, axis: int) -> Floats:
    """A robust standard deviation."""
    return 1.4826 * np.nanmedian(np.abs(residual), axis=axis)


def _exchanged(values: Floats, expected: Floats, scale: Floats) -> dict[tuple[int, int], int]:
    """The other row of each score that does not fit its model, but another model of the task, whose own fits this."""
    z, found = np.abs(values - expected) / scale, {}
    for column in np.flatnonzero((z > SWAPPED).sum(axis=0) >= 2):
        for a, b in combinations(np.flatnonzero(z[:, column] > SWAPPED).tolist(), 2):
            crossed = np.abs(values[[b, a], column] - expected[[a, b], column]) / scale[[a, b], column]
            if (crossed < FITS).all():
                found |= {(a, column): b, (b, column): a}
    return found


def _outside(table: ScoreTable) -> list[Doubt]:
    """Scores beyond the bounds of their metric."""
    beyond = (table.values < table.lower) | (table.values > table.upper)
    nothing = (float("nan"),) * 3
    return [
        Doubt(table.models[row], table.tasks[column], OUTSIDE, float(table.values[row, column]), *nothing, BEYOND)
        for row, column in np.argwhere(beyond)
    ]


def _copies(table: ScoreTable) -> list[Doubt]:
    """Pairs of models with the same digits on at least SAME tasks, one doubt a pair: on the first of these tasks."""
    values = table.values
    fine = np.abs(values * 10**DIGITS - np.round(values * 10**DIGITS)) > 1e-6
    nothing = (float("nan"),) * 3
    found = []
    for a, b in combinations(range(len(values)), 2):
        both = ~np.isnan(values[[a, b]]).any(axis=0)
        same = np.flatnonzero(both & (values[a] == values[b]))
        if len(same) >= SAME and (fine[a, same].sum() >= SAME or len(same) == both.sum()):
            reason = f"equal to {table.models[a]} in every digit on {len(same)} of {int(both.sum())} tasks"
            found.append(
                Doubt(table.models[b], table.tasks[same[0]], COPY, float(values[b, same[0]]), *nothing, reason)
            )
    return found
