"""Scores that the rest of the evidence contradicts: each is predicted from the model's other scores by other models.

A ridge regression on the other models predicts every score of a model from its other tasks. The residual is divided by
a robust scale of its task, times a factor of at least 1 for how unusual its model is. Scores that are wrong by
themselves (one class for every image, a value outside the metric's range) are set aside first because they would
distort the predictions that should expose them. Then the worst score is set aside and all scores are predicted again,
until no residual exceeds LIMIT. A score at chance is no error if chance is expected: a model whose images and texts
share no space classifies at chance everywhere. RULES define the kinds of doubtful scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from compute.analysis.table import ScoreTable
from compute.arrays import Bools, Floats, Ints
from compute.types import counted

CLIPPED = 3.0  # limit, in standard deviations, of a score that predicts others
PENALTY = 0.05  # of the ridge, per task
MOST_MODELS = 120  # used for prediction, spread over all levels
LIMIT, APART_BY = 7.0, 0.6  # a residual is far above both: in scales, and in spreads of a task
STRANGE, FITS = 5.0, 1.5  # scales from the expected value: a strange score is above, a fitting alternative below
BOTH, TOGETHER = 3.0, 7.0  # the same for each of two exchanged scores, and for both together
EXTREME = 100.0  # robust deviations from a task's median; more would distort the predictions from the start
CERTAIN = 3.5  # scales from the expected value, from which a score at chance is doubtful
FLOOR = 0.12  # smallest scale of a task, relative to the spread of tasks
ROUNDS, AT_ONCE = 80, 13  # at most; each round sets aside one score per so many models
FEWEST_MODELS, FEWEST_TASKS = 12, 8
NEEDS = f"it needs {FEWEST_MODELS} models and {FEWEST_TASKS} tasks"
APART = 3.0  # robust deviations of a model's mean from the others', beyond which a linear model cannot reach it
TINY = 1e-9
SHARE = 0.6  # of the tasks that a model must have to take part
CHANCES, ABOVE = 2.0, 10.0  # times chance: at most CHANCES is one class for all; the median must reach ABOVE
NOTHING = 0.01  # share of a task's median that counts as chance if chance is unknown
MOST, SEVERAL = 0.5, 4  # share at chance above which a model cannot do a category; its least number of tasks
SAME = 6  # tasks on which two models have identical digits before one may be a copy
DIGITS = 4  # decimals of a continuous value; coarser values coincide by chance
Z95 = 1.96
ONE_CLASS, UNIT, TURNED, EXCHANGED, FAR = "one class", "unit", "sign", "exchanged", "far"
COPY, OUTSIDE = "copy", "outside"


class Doubt(NamedTuple):
    """A score that the other scores contradict, in stored units."""

    model: str
    task: str
    kind: str
    value: float
    expected: float  # NaN if the other models do not predict it
    low: float  # of the expectation's 95% interval
    high: float
    reason: str


class Cells(NamedTuple):
    """Scores and what other models predict for them [models, tasks]."""

    values: Floats
    expected: Floats
    scale: Floats
    far: Bools
    at_chance: Bools  # on tasks where chance is informative
    guess: Floats  # [tasks]

    def off(self, values: Floats) -> Floats:
        """Returns the distance of values from the expected ones, in scales."""
        return np.abs(values - self.expected) / self.scale

    def really(self, values: Floats) -> Bools:
        """Returns where the score is strange and the given values would fit, but 0 would not."""
        return (self.off(self.values) > STRANGE) & (self.off(values) < FITS) & (self.off(0 * values) > 2 * FITS)


Test = Callable[[Cells], Bools]
# The kinds of doubtful scores: name, test, description. The first that holds applies. Wrong units come before one class
# because the smallest such values are near chance.
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
    """Returns the doubtful scores of a table, the most certain first.

    chance [tasks]: the value of guessing, NaN if unknown.
    """
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
            beyond[rows[row], tasks[column]] = False  # reported above
            found.append((-z[row, column], Doubt(*about, middle, middle - half, middle + half, reason)))
    return [doubt for _, doubt in sorted(found, key=lambda each: each[0])] + _outside(table, beyond) + copies


def summary(doubts: Sequence[Doubt]) -> str:
    """Returns how many scores are doubtful and how many models duplicate another's; empty if none."""
    alone = sum(one.kind != COPY for one in doubts)
    copies = len({one.model for one in doubts if one.kind == COPY})
    parts = [counted(alone, "doubtful score")] * (alone > 0) + [f"{copies} models with equal scores"] * (copies > 0)
    return " and ".join(parts)


def taking_part(table: ScoreTable) -> Bools:
    """Returns which models have enough scores to be audited."""
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
    """Returns the mean standardised score of each model over all tasks [models]."""
    z: Floats = np.nanmean((values - np.nanmedian(values, axis=0)) / (np.nanstd(values, axis=0) + TINY), axis=1)
    return z


def _cells(table: ScoreTable, beyond: Bools, *, rows: Ints, tasks: Ints, chance: Floats | None) -> Cells:
    values = table.values[np.ix_(rows, tasks)]
    middles = np.nanmedian(values, axis=0)
    guess = NOTHING * middles if chance is None else np.asarray(chance, float)[tasks]
    telling = (middles >= ABOVE * np.maximum(guess, TINY)) & (np.nanmin(values, axis=0) >= 0)
    least = 0.0 if chance is None else guess / CHANCES  # a constant answer is sometimes right
    at_chance = (values <= CHANCES * guess) & (values >= least) & telling
    expected, scale, far = _contradicted(values, at_chance | beyond[np.ix_(rows, tasks)])
    return Cells(values, expected, scale, far, at_chance, np.where(telling, guess, np.nan))


def expectations(values: Floats, aside: Bools) -> tuple[Floats, Floats]:
    """Predicts every score [models, tasks] from the model's other scores with at most MOST_MODELS other models.

    Also returns each model's distance from those models [models]. Scores in `aside` are not used for prediction. No
    value may be missing.
    """
    out, distance = np.empty_like(values), np.empty(len(values))
    by_level = np.argsort(_levels(values), kind="stable")
    basis = by_level[np.linspace(0, len(values) - 1, min(len(values), MOST_MODELS)).round().astype(int)]
    for row in range(len(values)):
        others = values[np.sort(basis[basis != row])]
        centre, spread = others.mean(axis=0), others.std(axis=0) + TINY
        z, use = (others - centre) / spread, ~aside[row]
        own = np.clip((values[row] - centre) / spread, -CLIPPED, CLIPPED)  # limits the influence of one error
        near = z[:, use] @ own[use]
        kernel = z[:, use] @ z[:, use].T + PENALTY * use.sum() * np.eye(len(z))
        both = np.linalg.solve(kernel, np.column_stack([z, near]))
        solved = both[:, :-1]
        distance[row] = np.sqrt(PENALTY + max(0.0, own[use] @ own[use] - near @ both[:, -1]) / use.sum())
        share = (z * solved).sum(axis=0) * use  # a task's contribution to its own prediction, which is removed
        out[row] = centre + spread * (near @ solved - own * share) / (1 - share)
    return out, distance


def _everywhere(cells: Cells, categories: Ints) -> Bools:
    """Returns where a model is at chance on most tasks of a category on which others are far above chance: it cannot do
    this kind of task, for example because its images and texts share no space.
    """
    same = (categories[:, None] == categories) & ~np.isnan(cells.guess)[:, None]
    out: Bools = cells.at_chance.astype(int) @ same > MOST * np.maximum(same.sum(axis=0), SEVERAL)
    return out


def _contradicted(values: Floats, suspect: Bools) -> tuple[Floats, Floats, Bools]:
    """Returns expected values, scales of the residuals, and which scores are far from expected [models, tasks]."""
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
    """Returns, for each score, the row of the model that it was exchanged with; -1 if none [models, tasks].

    Two scores of a task were exchanged if neither fits its own model and each fits the other's.
    """
    z, out = cells.off(cells.values), np.full(cells.values.shape, -1)
    for column in np.flatnonzero((z > BOTH).sum(axis=0) >= 2):
        for a, b in combinations(np.flatnonzero(z[:, column] > BOTH).tolist(), 2):
            crossed = np.abs(cells.values[[b, a], column] - cells.expected[[a, b], column])
            if np.hypot(*z[[a, b], column]) > TOGETHER and (crossed < FITS * cells.scale[[a, b], column]).all():
                out[a, column], out[b, column] = b, a
    return out


def _by_itself(table: ScoreTable, row: int, column: int, kind: str, reason: str) -> Doubt:
    """Returns a doubt about a score without an expected value."""
    nothing = (float("nan"),) * 3
    return Doubt(table.models[row], table.tasks[column], kind, float(table.values[row, column]), *nothing, reason)


def _outside(table: ScoreTable, beyond: Bools) -> list[Doubt]:
    """Returns scores outside the bounds of their metric."""
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
