"""Estimates the overall standing of a model with missing tasks: its missing scores, predicted from those it has, with
calibrated intervals.

A ridge regression on the complete models predicts all missing scores at once (the conditional mean of a Gaussian). The
intervals come from residuals of the complete models, each predicted without its own family: one factor for all, scaled
by the distance of a model's scores from those of the others (conformal prediction with studentised residuals). The same
steps without each family, on residuals of other families only, give the coverage of such intervals. If the coverage is
below 95% for the models, the families, the best or the newest, the intervals are widened until it is reached.

Assumptions: the tasks that a model has were not chosen by their scores, and an estimated model resembles the complete
ones. docs/ranks.md has the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.table import ScoreTable
from compute.arrays import Bools, Floats, Ints
from compute.types import CannotDo

LEVEL, TINY = 0.95, 1e-9
FOLDS = 25  # of families, for the check; the shipped suites have no more
MOST_MODELS = 100  # for predictions: more would take long and hardly narrow the intervals
FEWEST_MODELS = 30  # that are complete: with fewer, intervals covered too rarely (docs/ranks.md)
FEWEST_TASKS, FEWEST_SHARE = 5, 0.3  # that a model has: from a tenth of MIEB, 9 in 10 intervals hold
GRID = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the ridge's penalty, per observed task
RIDGE = 30.0  # in variances of a task; much less overfits these models, whose errors are then too small
EDGE = 5  # size of the groups of the best and of the newest models
WIDEST = 3.0  # largest factor by which an interval may be widened
KINDS = ("image", "text")  # input modalities
UNLIKE = "its scores are unlike those of every complete model"
TOO_FEW = "an estimate needs {} tasks"
TOO_WIDE = "from its tasks it could stand almost anywhere"
MOST, LARGEST = 0.5, 1.0  # share of ranks that a range may cover; half an interval, in standard deviations of the means
CANNOT = "it cannot do {} of the missing tasks"


class Estimated(NamedTuple):
    """The standing of one model with all tasks of the suite: mean and scores with 95% intervals, and its rank."""

    tasks: int  # that it has
    mean: float
    low: float
    high: float
    rank_low: int  # the best possible rank among the complete models
    rank_high: int
    complete: int  # number of complete models
    scores: Floats  # [tasks, 3]: estimate, low and high end for a missing task, else NaN
    categories: Floats  # [categories, 3]: means


class Check(NamedTuple):
    """Coverage of intervals from some tasks on complete models, by residuals of other families."""

    tasks: int
    error: float  # root mean square of the errors of means
    models: float  # shares of those whose interval held
    families: float
    best: float  # of the EDGE best
    newest: float
    widened: float  # the factor that widened the intervals so that each of these shares reaches LEVEL


class Complete(NamedTuple):
    """The complete models of a table; if there are many, MOST_MODELS of them, spread over the ranks."""

    values: Floats  # [models, tasks]
    weights: Floats  # [tasks, 1 + categories]: of the mean and of the category means
    families: Ints  # [models]
    edges: tuple[Ints, Ints]  # rows of the best and of the newest
    means: Floats  # of all complete models of the table, higher is better
    sign: int  # -1 if lower scores are better

    @property
    def needed(self) -> int:
        """The fewest tasks that an estimate needs."""
        return max(FEWEST_TASKS, math.ceil(FEWEST_SHARE * self.values.shape[1]))

    def residuals(self, seen: Ints, penalty: float, *, without: Bools | bool = False) -> tuple[Floats, Floats]:
        """Returns errors of the unseen tasks [models, unseen] and their scales [models]; every model is predicted from
        models of other families. Models in `without` are excluded altogether, and their rows are NaN.
        """
        rows = ~np.broadcast_to(without, len(self.values))
        errors = np.full((len(rows), self.values.shape[1] - len(seen)), np.nan)
        scales = np.full(len(rows), np.nan)
        values = self.values[rows]
        errors[rows], scales[rows] = left_out(values, values.std(axis=0), self.families[rows], seen, penalty)
        return errors, scales

    def predict(self, scores: Floats, seen: Ints, penalty: float) -> tuple[Floats, float]:
        """Predicts the unseen tasks of another model from its `scores` [tasks] on those `seen`; also returns the scale
        of its errors.
        """
        values = np.vstack([self.values, np.where(np.isin(np.arange(len(scores)), seen), scores, 0.0)])
        errors, scales = left_out(values, self.values.std(axis=0), np.arange(len(values)), seen, penalty)
        return -errors[-1], float(scales[-1])


def left_out(values: Floats, spread: Floats, groups: Ints, seen: Ints, penalty: float) -> tuple[Floats, Floats]:
    """Returns errors of the unseen tasks [models, unseen] of each model, predicted from its seen tasks by a ridge on
    the models of other groups, and their scales [models], the ridge's standard error up to a common factor.

    One inverse serves all groups: the inverse of a group's diagonal block is the covariance of the group's errors.
    """
    x, y = (values[:, seen] - values[:, seen].mean(axis=0)) / (spread[seen] + TINY), np.delete(values, seen, axis=1)
    inverse = np.linalg.inv(x @ x.T + penalty * len(seen) * np.eye(len(x)))
    sums = inverse.sum(axis=0)
    inverse -= np.outer(sums, sums) / sums.sum()  # the intercept has no penalty
    errors, scales = inverse @ y, np.empty(len(x))
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        block = np.linalg.inv(inverse[np.ix_(own, own)])
        errors[own], scales[own] = block @ errors[own], np.sqrt(np.diag(block) / len(seen))
    return errors, scales


@dataclass(frozen=True)
class Pattern:
    """The fit for one set of observed tasks."""

    of: Complete
    seen: Ints
    penalty: float
    errors: Floats  # [complete, unseen]
    scales: Floats  # [complete]

    @classmethod
    def fit(cls, of: Complete, seen: Ints) -> Pattern:
        """Returns the pattern whose penalty has the smallest error."""
        fits = [cls(of, seen, penalty, *of.residuals(seen, penalty)) for penalty in GRID]
        return min(fits, key=lambda one: float(np.mean(one.project(one.errors)[:, 0] ** 2)))

    def project(self, errors: Floats) -> Floats:
        """Returns errors of the mean and of the category means [..., 1 + categories]."""
        return errors @ np.delete(self.of.weights, self.seen, axis=0)

    def half(self, errors: Floats, scale: float) -> Floats:
        """Returns half the 95% interval [...] of a model whose errors have this scale, from errors [complete, ...]."""
        return scale * self.check.widened * np.array([quantile(one / self.scales) for one in errors.T])

    @cached_property
    def check(self) -> Check:
        """The coverage of the intervals on complete models, with each family excluded from every step."""
        families, error = self.of.families, self.project(self.errors)[:, 0]
        ratios = np.empty(len(error))
        for fold in range(FOLDS):
            own = families % FOLDS == fold
            if not own.any():
                continue
            errors, scales = self.of.residuals(self.seen, self.penalty, without=own)
            half = quantile(self.project(errors)[~own, 0] / scales[~own])
            ratios[own] = np.abs(error[own]) / (half * self.scales[own])
        shares = 1 / np.bincount(families)[families]
        groups = [(ratios, np.ones(len(ratios))), (ratios, shares), *((ratios[rows], None) for rows in self.of.edges)]
        held = [float(np.average(own <= 1, weights=weight)) for own, weight in groups]
        widened = max(1.0, *(_enough(own, weight) for own, weight in groups))
        return Check(len(self.seen), float(np.sqrt(np.mean(error**2))), *held, widened)


def _enough(ratios: Floats, weights: Floats | None) -> float:
    """Returns the smallest factor by which intervals must be widened to cover LEVEL of the weight including one more
    model. `ratios` are errors over half widths.
    """
    order = np.argsort(ratios)
    each = np.ones(len(order)) if weights is None else weights[order]
    share = np.cumsum(each)
    return float(ratios[order][np.searchsorted(share, min(LEVEL * (share[-1] + each.max()), share[-1]) - TINY)])


def quantile(ratios: Floats) -> float:
    """Returns the conformal quantile of the absolute errors over their scales; with fewer than 19, the largest."""
    at = min(math.ceil(LEVEL * (len(ratios) + 1)), len(ratios))
    return float(np.sort(np.abs(ratios))[at - 1])


def complete(table: ScoreTable, models: pd.DataFrame | None = None) -> Complete | str:
    """Returns the complete models of a table, or why they are too few. `models` as in `estimates`; None if unknown."""
    used = table.counted
    whole = np.flatnonzero(~np.isnan(table.values[:, used]).any(axis=1))
    if len(whole) < FEWEST_MODELS:
        return f"only {len(whole)} models have every task: an estimate needs {FEWEST_MODELS}"
    known = pd.DataFrame(models, table.models, ["family", "released"], dtype=object).fillna("")
    families, released = known.to_numpy(str).T
    codes = np.unique([families[row] or str(row) for row in whole], return_inverse=True)[1]
    if codes.max() < 2:
        return f"the models that have every task are of {codes.max() + 1} families: an estimate needs 3"
    values, weights = table.values[np.ix_(whole, used)], _weights(table)
    sign = 1 if table.higher_is_better else -1
    means = sign * (values @ weights[:, 0])
    at = np.arange(len(whole))
    if len(at) > MOST_MODELS:
        at = np.sort(np.argsort(means)[np.linspace(0, len(at) - 1, MOST_MODELS).astype(int)])
    newest = sorted(range(len(at)), key=lambda one: released[whole[at[one]]])[-EDGE:]
    best = np.argsort(means[at])[-EDGE:]
    return Complete(values[at], weights, codes[at], (best, np.array(newest)), means, sign)


def estimates(
    table: ScoreTable, models: pd.DataFrame | None = None, *, possible: Bools | None = None
) -> tuple[dict[int, Estimated], dict[int, str], list[Check]]:
    """Estimates the incomplete rows of a table of one origin. Also returns why other rows have no estimate, and the
    check of each pattern.

    models: family and release date by key; families are predicted independently of each other. possible [models,
    tasks]: whether a model can do a task. Scores and means are in stored units. Raises BadInput as `ScoreTable.blocks`
    does.
    """
    values = table.values[:, table.counted]
    missing = np.isnan(values)
    never = missing & ~possible[:, table.counted] if possible is not None else np.zeros_like(missing)
    partial = [int(row) for row in np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))]
    of = complete(table, models)
    if isinstance(of, str):
        return {}, dict.fromkeys(partial, of), []
    found, reasons, patterns = {}, {}, {}
    for row in partial:
        seen = np.flatnonzero(~missing[row])
        if never[row].any():
            reasons[row] = CANNOT.format(int(never[row].sum()))
        elif len(seen) < of.needed:
            reasons[row] = TOO_FEW.format(of.needed)
        else:
            if seen.tobytes() not in patterns:
                patterns[seen.tobytes()] = Pattern.fit(of, seen)
            one = _estimate(patterns[seen.tobytes()], values[row])
            (reasons if isinstance(one, str) else found)[row] = one
    return found, reasons, [pattern.check for pattern in patterns.values()]


def _weights(table: ScoreTable) -> Floats:
    """Returns the weights of the counted tasks in the mean and in each category mean [counted, 1 + categories]."""
    mean = np.zeros(len(table.tasks))
    for block in table.blocks:
        mean[block.columns] += block.share * block.task_weights / block.task_weights.sum()
    columns = [mean]
    for code in range(len(table.categories)):
        own = table.task_weights * (table.codes == code)
        columns.append(own / own.sum() if own.sum() else own)
    return np.column_stack(columns)[table.counted]


def _estimate(pattern: Pattern, scores: Floats) -> Estimated | str:
    """Estimates a model with `scores` [tasks], NaN if missing, among the complete ones; or returns why it cannot."""
    of, seen, means, sign = pattern.of, pattern.seen, pattern.of.means, pattern.of.sign
    found, scale = of.predict(scores, seen, pattern.penalty)
    if scale > pattern.scales.max():
        return UNLIKE
    unseen = np.isnan(scores)
    own = np.where(unseen, 0.0, scores)
    own[unseen] = found
    half = pattern.half(pattern.project(pattern.errors), scale)
    centre = own @ of.weights
    low, high = sign * centre[0] - half[0], sign * centre[0] + half[0]
    best, worst = 1 + int((means > high).sum()), 1 + int((means > low).sum())
    if pattern.check.widened > WIDEST or half[0] > LARGEST * means.std() or worst - best > MOST * len(means):
        return TOO_WIDE
    each = np.full((len(scores), 3), np.nan)
    width = pattern.half(pattern.errors, scale)
    each[unseen] = np.column_stack([found, found - width, found + width])
    return Estimated(
        tasks=len(seen),
        mean=float(centre[0]),
        low=float(centre[0] - half[0]),
        high=float(centre[0] + half[0]),
        rank_low=best,
        rank_high=worst,
        complete=len(means),
        scores=each,
        categories=np.column_stack([centre[1:], centre[1:] - half[1:], centre[1:] + half[1:]]),
    )


class Held(NamedTuple):
    """How well some tasks predict the means of complete models that were excluded from the fit."""

    models: int
    error: float  # root mean square, in stored units
    largest: float
    places: float  # mean change of place
    most_places: int


def held_out(of: Complete, seen: Ints) -> Held:
    """Predicts each complete model's mean from the tasks `seen`, with the models of other families."""
    pattern = Pattern.fit(of, seen)
    error, means = pattern.project(pattern.errors)[:, 0], of.values @ of.weights[:, 0]
    above = (means[None, :] > means[:, None]).sum(axis=1)
    moved = np.abs(((means[None, :] > (means - error)[:, None]) & ~np.eye(len(means), dtype=bool)).sum(axis=1) - above)
    return Held(len(error), pattern.check.error, float(np.abs(error).max()), float(moved.mean()), int(moved.max()))


class Order(NamedTuple):
    """The missing tasks of a model to run, in order."""

    of: Complete
    scores: Floats  # of the model on the counted tasks [tasks]; NaN if missing
    hours: Floats  # that each of these takes
    tasks: list[int]  # to run, as indices into these

    def halves(self, after: Iterable[int]) -> list[float]:
        """Returns half the interval of the mean after the given numbers of tasks; NaN if there is no estimate yet."""
        of, seen, ratio, out = self.of, np.flatnonzero(~np.isnan(self.scores)), 1.0, []
        if len(seen) >= of.needed:
            pattern = Pattern.fit(of, seen)
            ratio = of.predict(self.scores, seen, pattern.penalty)[1] / float(np.median(pattern.scales))
        for number in after:
            known = np.sort(np.append(seen, self.tasks[:number]).astype(int))
            half = 0.0 if len(known) == len(self.scores) else math.nan
            if of.needed <= len(known) < len(self.scores):
                pattern = Pattern.fit(of, known)
                scale = ratio * float(np.median(pattern.scales))
                half = float(pattern.half(pattern.project(pattern.errors)[:, :1], scale)[0])
            out.append(half)
        return out


def next_tasks(of: Complete, scores: Floats, *, hours: Floats, budget: float, among: Bools) -> Order:
    """Returns the missing tasks `among` [tasks] in the order that narrows the interval of the mean most per hour, as
    many as fit into a budget of hours.

    scores [tasks], NaN if missing; hours [tasks] that each takes. Each step takes the task that reduces the variance of
    the mean most per hour, in the Gaussian of the complete models' scores with a ridge of RIDGE. Deterministic.
    """
    spread = of.values.std(axis=0) + TINY
    z, weights = (of.values - of.values.mean(axis=0)) / spread, of.weights[:, 0] * spread
    covariance = z.T @ z / len(z) + RIDGE * np.eye(len(spread))  # of the tasks, conditional on the known ones

    def know(task: int) -> Floats:
        return covariance - np.outer(covariance[:, task], covariance[task]) / covariance[task, task]

    for task in map(int, np.flatnonzero(~np.isnan(scores))):
        covariance = know(task)
    tasks, left = [], among & np.isnan(scores)
    while len(can := np.flatnonzero(left & (hours <= budget))):
        gain = (covariance[can] @ weights) ** 2 / covariance[can, can] / hours[can]
        task = int(can[np.argmax(gain)])
        covariance, left[task], budget = know(task), False, budget - hours[task]
        tasks.append(task)
    return Order(of, scores, hours, tasks)


def first_next(table: ScoreTable, models: pd.DataFrame, *, possible: Bools, among: Bools, budget: float) -> Order:
    """Returns the tasks `among` [tasks] that the first model of a table should run next, as `next_tasks` orders them.

    A task takes the hours of the table, or the median of the others if unknown. Raises CannotDo if no order can be
    determined.
    """
    of, used = complete(table, models), table.counted
    hours, never = table.hours[used], int((np.isnan(table.values[0]) & ~possible)[used].sum())
    if isinstance(of, str) or never or np.isnan(hours).all():
        why = of if isinstance(of, str) else CANNOT.format(never) if never else "nobody says how long a task takes"
        raise CannotDo(f"No order of tasks for {table.models[0]} on {table.name}: {why}. Choose them yourself: --tasks")
    hours = np.where(np.isnan(hours), np.nanmedian(hours), hours)
    return next_tasks(of, table.values[0, used], hours=hours, budget=budget, among=among[used])


def possible(
    abilities: Sequence[Sequence[str]],
    modalities: Sequence[Sequence[str]],
    *,
    late: Sequence[bool],
    one_vector: Sequence[bool],
) -> Bools:
    """Returns whether models can do tasks [models, tasks].

    A model without a text encoder cannot do a task with texts, and one with many vectors per item (`late`) cannot do a
    task that compares single vectors. A model with unstated abilities is assumed to be able to do all.
    """
    lacks = np.array([[bool(own) and f"embed_{kind}" not in own for kind in KINDS] for own in abilities], bool)
    needs = np.array([[kind in task for kind in KINDS] for task in modalities], bool)
    judges = np.array(["compare" in own or "choose" in own or "score_pair" in own for own in abilities], bool)
    never = np.outer(np.array(late, bool), np.array(one_vector, bool))
    return (~(lacks[:, None, :] & needs[None, :, :]).any(axis=2) | judges[:, None]) & ~never
