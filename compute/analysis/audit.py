"""Scores that the rest of the evidence contradicts: each is predicted from the model's other scores by other models.

A ridge of the other models predicts every score of a model from its other tasks; the residual is divided by a scale of
its task times one of its model, both robust. What cannot be right by itself (one class for every image, a value beyond
the metric's range) is set aside first, since it would spoil the predictions that should convict it; then the worst is
set aside and everything predicted again, until none exceeds LIMIT. A score at chance that is also expected there is no
fault: a model whose images and texts share no space classifies at chance everywhere. RULES say what a doubtful score
looks like.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from compute.analysis.table import ScoreTable
from compute.arrays import Bools, Floats, Ints
from compute.types import counted

CLIPPED = 3.0  # standard deviations of a score that predicts others
PENALTY = 0.05  # of the ridge, per task
MOST_MODELS = 120  # that predict, spread over the levels of all
LIMIT, APART_BY = 7.0, 0.6  # of a residual over its scale, and over the spread of a task, from which on it is far
STRANGE, FITS = 5.0, 1.5  # scales from what is expected, for a value of another kind; and of that kind's own value
BOTH, TOGETHER = 3.0, 7.0  # the same of each of two exchanged scores, and of both
EXTREME = 100.0  # robust deviations from the median of a task, which would spoil its predictions from the first
CERTAIN = 3.5  # of a score at chance, which is doubtful by itself
FLOOR = 0.12  # the least scale of a task, over the spread of tasks
ROUNDS, AT_ONCE = 80, 13  # and one score set aside at once for so many models
FEWEST_MODELS, FEWEST_TASKS = 12, 8
NEEDS = f"it needs {FEWEST_MODELS} models and {FEWEST_TASKS} tasks"
APART = 3.0  # robust deviations of a model's mean from the others', beyond which no line through them reaches it
TINY = 1e-9
SHARE = 0.6  # of the tasks that a model needs to take part
CHANCES, ABOVE = 2.0, 10.0  # times chance: at most this is one class for all, and the median model has at least that
NOTHING = 0.01  # of the median of a task: what is taken for chance if it is not known
MOST, SEVERAL = 0.5, 4  # of such tasks of a category, from which on a model is taken to be unable to do them; at least
SAME = 6  # tasks with equal digits of two models, from which on a file may be a copy
DIGITS = 4  # after the point of a value that is continuous: fewer are equal by chance
Z95 = 1.96
ONE_CLASS, UNIT, TURNED, EXCHANGED, FAR = "one class", "unit", "sign", "exchanged", "far"
COPY, OUTSIDE = "copy", "outside"


class Doubt(NamedTuple):
    """A score that the rest contradicts. Values in stored units."""

    model: str
    task: str
    kind: str
    value: float
    expected: float  # NaN if no model of the others predicts it
    low: float  # of the expectation's 95% interval
    high: float
    reason: str


class Cells(NamedTuple):
    """Scores with what others predict of them [models, tasks]."""

    values: Floats
    expected: Floats
    scale: Floats
    far: Bools
    at_chance: Bools  # and telling
    guess: Floats  # [tasks]

    def off(self, values: Floats) -> Floats:
        """Returns how many scales values are from what is expected."""
        return np.abs(values - self.expected) / self.scale

    def really(self, values: Floats) -> Bools:
        """Where another value fits, which 0 would not, and the score is strange."""
        return (self.off(self.values) > STRANGE) & (self.off(values) < FITS) & (self.off(0 * values) > 2 * FITS)


Test = Callable[[Cells], Bools]
# What a doubtful score looks like: its kind, how it is known, and in words; the first that holds. Values of wrong units
# come before one class: the smallest of them are near chance.
RULES: tuple[tuple[str, Test, str], ...] = (
    (UNIT, lambda cells: cells.really(100 * cells.values), "a hundred times it fits: a fraction among percentages"),
    (UNIT, lambda cells: cells.really(cells.values / 100), "a hundredth fits: a percentage among fractions"),
    (
        ONE_CLASS,
        lambda cells: (
            cells.at_chance & (cells.off(cells.values) > CERTAIN) & (cells.expected > ABOVE / 2 * cells.guess)
        ),
        "as guessing would be, or every answer the same",
    ),
    (TURNED, lambda cells: cells.really(-cells.values), "fits with its sign turned"),
    (EXCHANGED, lambda cells: exchanged(cells) >= 0, "fits {other}, whose score fits this model"),
    (FAR, lambda cells: cells.far & (cells.values < cells.expected), "below what its other scores predict"),
    (FAR, lambda cells: cells.far, "above what its other scores predict"),
)


def audit(table: ScoreTable, *, chance: Floats | None = None) -> list[Doubt]:
    """The doubtful scores of a table, the most certain first. chance [tasks]: the value of guessing, NaN unknown."""
    beyond = (table.values < table.lower) | (table.values > table.upper)
    found, copies = [], _copies(table)
    rows, tasks = _comparable(table)
    if len(rows) < FEWEST_MODELS or len(tasks) < FEWEST_TASKS:
        return _outside(table, beyond) + copies
    cells = _cells(table, beyond, rows=rows, tasks=tasks, chance=chance)
    z, other = cells.off(cells.values), exchanged(cells)
    open_cells = ~_everywhere(cells, table.codes[tasks])
    for kind, holds, words in RULES:
        mask = holds(cells) & open_cells
        open_cells &= ~mask
        for row, column in np.argwhere(mask).tolist():
            middle, half = float(cells.expected[row, column]), Z95 * float(cells.scale[row, column])
            about = (table.models[rows[row]], table.tasks[tasks[column]], kind, float(cells.values[row, column]))
            reason = words.format(other=table.models[rows[other[row, column]]])
            beyond[rows[row], tasks[column]] = False  # said already
            found.append((-z[row, column], Doubt(*about, middle, middle - half, middle + half, reason)))
    return [doubt for _, doubt in sorted(found, key=lambda each: each[0])] + _outside(table, beyond) + copies


def summary(doubts: Sequence[Doubt]) -> str:
    """Returns how many scores are doubtful, and how many models have another's; empty for none."""
    alone = sum(one.kind != COPY for one in doubts)
    copies = len({one.model for one in doubts if one.kind == COPY})
    parts = [counted(alone, "doubtful score")] * (alone > 0) + [f"{copies} models with equal scores"] * (copies > 0)
    return " and ".join(parts)


def taking_part(table: ScoreTable) -> Bools:
    """Returns which models have enough scores to be judged by them."""
    out, (rows, tasks) = np.zeros(len(table.models), bool), _comparable(table)
    out[rows] = len(rows) >= FEWEST_MODELS and len(tasks) >= FEWEST_TASKS
    return out


def _comparable(table: ScoreTable) -> tuple[Ints, Ints]:
    """Returns the models and tasks of a table that can predict one another."""
    known = ~np.isnan(table.values)
    tasks = np.flatnonzero(known.sum(axis=0) >= FEWEST_MODELS)
    rows = np.flatnonzero(known[:, tasks].mean(axis=1) >= SHARE) if len(tasks) else tasks
    if not len(rows):
        return rows, tasks
    values = table.values[np.ix_(rows, tasks)]
    level = np.abs(_levels(values) - np.median(_levels(values)))
    return rows[level <= APART * 1.4826 * np.median(level)], tasks


def _levels(values: Floats) -> Floats:
    """How good a model is over all tasks, in their deviations [models]."""
    z: Floats = np.nanmean((values - np.nanmedian(values, axis=0)) / (np.nanstd(values, axis=0) + TINY), axis=1)
    return z


def _cells(table: ScoreTable, beyond: Bools, *, rows: Ints, tasks: Ints, chance: Floats | None) -> Cells:
    values = table.values[np.ix_(rows, tasks)]
    middles = np.nanmedian(values, axis=0)
    guess = NOTHING * middles if chance is None else np.asarray(chance, float)[tasks]
    telling = (middles >= ABOVE * np.maximum(guess, TINY)) & (np.nanmin(values, axis=0) >= 0)
    least = 0.0 if chance is None else guess / CHANCES  # the same answer throughout is right now and then
    at_chance = (values <= CHANCES * guess) & (values >= least) & telling
    expected, scale, far = _contradicted(values, at_chance | beyond[np.ix_(rows, tasks)])
    return Cells(values, expected, scale, far, at_chance, np.where(telling, guess, np.nan))


def expectations(values: Floats, aside: Bools) -> tuple[Floats, Floats]:
    """Returns every score [models, tasks] predicted from the model's other scores by at most MOST_MODELS others, and
    how far a model lies from those [models]; scores that are `aside` are not learned from. No value may be missing."""
    out, distance = np.empty_like(values), np.empty(len(values))
    by_level = np.argsort(_levels(values), kind="stable")
    basis = by_level[np.linspace(0, len(values) - 1, min(len(values), MOST_MODELS)).round().astype(int)]
    for row in range(len(values)):
        others = values[np.sort(basis[basis != row])]
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


def _everywhere(cells: Cells, categories: Ints) -> Bools:
    """Where a model is at chance on most tasks of a category where others are far above: it cannot do its kind, such as
    one whose images and texts share no space."""
    same = (categories[:, None] == categories) & ~np.isnan(cells.guess)[:, None]
    out: Bools = cells.at_chance.astype(int) @ same > MOST * np.maximum(same.sum(axis=0), SEVERAL)
    return out


def _contradicted(values: Floats, suspect: Bools) -> tuple[Floats, Floats, Bools]:
    """Expected values, scales of the residuals and which scores are far [models, tasks]."""
    unit = float(np.median(np.nanstd(values, axis=0)))
    off = np.abs(values - np.nanmedian(values, axis=0))
    extreme = off > EXTREME * np.maximum(1.4826 * np.nanmedian(off, axis=0), FLOOR * unit)
    aside, missing, far = suspect | extreme, np.isnan(values), np.zeros(values.shape, bool)
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
        for row, column in sorted(worst.tolist(), key=lambda cell: -z[tuple(cell)])[: max(1, len(values) // AT_ONCE)]:
            aside[row, column] = far[row, column] = True
    off = np.abs(values - expected)
    return expected, scale, far | (extreme & (off > LIMIT * scale) & (off > APART_BY * unit))


def _spread(residual: Floats, axis: int) -> Floats:
    """Returns a robust standard deviation."""
    return 1.4826 * np.nanmedian(np.abs(residual), axis=axis)


def exchanged(cells: Cells) -> Ints:
    """Returns the other row of each score that does not fit its model, but another model of the task whose own fits
    this; -1 of others [models, tasks]."""
    z, out = cells.off(cells.values), np.full(cells.values.shape, -1)
    for column in np.flatnonzero((z > BOTH).sum(axis=0) >= 2):
        for a, b in combinations(np.flatnonzero(z[:, column] > BOTH).tolist(), 2):
            crossed = np.abs(cells.values[[b, a], column] - cells.expected[[a, b], column])
            if np.hypot(*z[[a, b], column]) > TOGETHER and (crossed < FITS * cells.scale[[a, b], column]).all():
                out[a, column], out[b, column] = b, a
    return out


def _by_itself(table: ScoreTable, row: int, column: int, kind: str, reason: str) -> Doubt:
    """Returns a doubt about a score without what is expected of it."""
    nothing = (float("nan"),) * 3
    return Doubt(table.models[row], table.tasks[column], kind, float(table.values[row, column]), *nothing, reason)


def _outside(table: ScoreTable, beyond: Bools) -> list[Doubt]:
    """Scores beyond the bounds of their metric."""
    cells = np.argwhere(beyond).tolist()
    return [_by_itself(table, row, column, OUTSIDE, "outside the range of its metric") for row, column in cells]


def _copies(table: ScoreTable) -> list[Doubt]:
    """Returns the scores of each pair of models that have the same digits on at least SAME tasks."""
    values, found = table.values, []
    fine = np.abs(values * 10**DIGITS - np.round(values * 10**DIGITS)) > 1e-6
    for a in range(len(values)):
        same = values[a + 1 :] == values[a]
        shared = ~np.isnan(values[a + 1 :] - values[a])
        enough = same.sum(axis=1) >= SAME
        for b in np.flatnonzero(enough & (((same & fine[a]).sum(axis=1) >= SAME) | (same == shared).all(axis=1))):
            tasks, of = np.flatnonzero(same[b]).tolist(), int(shared[b].sum())
            for row, other in ((a, a + 1 + b), (a + 1 + b, a)):
                reason = f"equal to {table.models[other]} in every digit on {len(tasks)} of {of} tasks"
                found += [_by_itself(table, row, task, COPY, reason) for task in tasks]
    return found
