"""Where a model with missing tasks would stand: its missing scores from those that it has, with intervals that hold.

A ridge on the complete models predicts the missing scores, all at once (a Gaussian's conditional mean). Residuals of
the complete models, each predicted without its own family, give the intervals: one factor for all of them, scaled by
how far a model's scores lie from those of the others (conformal prediction with studentised residuals). The same steps
without each family, on residuals that do not know it, say how often such intervals hold. Where that is less than 95% of
the models, of the families, of the best or of the newest, they are widened until it is.

Assumed: the tasks that a model has were not chosen by their scores, and a model that is estimated is like the complete
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
FOLDS = 25  # of families, for the check: as many as there are, on the shipped suites
MOST_MODELS = 100  # that predictions rest on: more would take long and hardly narrow them
FEWEST_MODELS = 30  # complete ones: of fewer, intervals held too seldom (docs/ranks.md)
FEWEST_TASKS, FEWEST_SHARE = 5, 0.3  # that a model has: of a tenth of MIEB, 9 in 10 intervals of those given hold
GRID = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the ridge's penalty, per task that is seen
RIDGE = 30.0  # in variances of a task. Much less chooses what fits these models, whose errors then flatter
EDGE = 5  # models that are the best, and the newest
WIDEST = 3.0  # times that an interval may be widened
KINDS = ("image", "text")  # of what goes into a model
UNLIKE = "its scores are unlike those of every complete model"
TOO_FEW = "an estimate needs {} tasks"
TOO_WIDE = "from its tasks it could stand almost anywhere"
MOST, LARGEST = 0.5, 1.0  # share of the places that a range may hold; half an interval, in deviations of the means
CANNOT = "it cannot do {} of the missing tasks"


class Estimated(NamedTuple):
    """Where one model would stand with all tasks of the suite: mean and scores with 95% intervals, and its place."""

    tasks: int  # that it has
    mean: float
    low: float
    high: float
    rank_low: int  # the best place that it could have among the complete models
    rank_high: int
    complete: int  # how many these are
    scores: Floats  # [tasks, 3]: of a missing task its estimate, low and high end; else NaN
    categories: Floats  # [categories, 3]: means


class Check(NamedTuple):
    """How often intervals from some tasks held for complete models, by residuals that did not know them."""

    tasks: int
    error: float  # root mean square of the errors of means
    models: float  # shares of those whose interval held
    families: float
    best: float  # of the EDGE best
    newest: float
    widened: float  # the factor that the intervals were widened by, so that each of these shares reaches LEVEL


class Complete(NamedTuple):
    """The complete models of a table; of many, MOST_MODELS spread over their ranks."""

    values: Floats  # [models, tasks]
    weights: Floats  # [tasks, 1 + categories]: of the mean and of the means of categories
    families: Ints  # [models]
    edges: tuple[Ints, Ints]  # rows of the best and of the newest
    means: Floats  # of all complete models of the table, higher is better
    sign: int  # -1 if lower scores are better

    @property
    def needed(self) -> int:
        """The fewest tasks of which there is an estimate."""
        return max(FEWEST_TASKS, math.ceil(FEWEST_SHARE * self.values.shape[1]))

    def residuals(self, seen: Ints, penalty: float, *, without: Bools | bool = False) -> tuple[Floats, Floats]:
        """Errors of the unseen tasks [models, unseen] and their scales [models], of every model predicted by those of
        other families; `without` some models altogether, whose rows are NaN."""
        rows = ~np.broadcast_to(without, len(self.values))
        errors = np.full((len(rows), self.values.shape[1] - len(seen)), np.nan)
        scales = np.full(len(rows), np.nan)
        values = self.values[rows]
        errors[rows], scales[rows] = left_out(values, values.std(axis=0), self.families[rows], seen, penalty)
        return errors, scales

    def predict(self, scores: Floats, seen: Ints, penalty: float) -> tuple[Floats, float]:
        """The unseen tasks of another model, with `scores` [tasks] on those `seen`, and the scale of its errors."""
        values = np.vstack([self.values, np.where(np.isin(np.arange(len(scores)), seen), scores, 0.0)])
        errors, scales = left_out(values, self.values.std(axis=0), np.arange(len(values)), seen, penalty)
        return -errors[-1], float(scales[-1])


def left_out(values: Floats, spread: Floats, groups: Ints, seen: Ints, penalty: float) -> tuple[Floats, Floats]:
    """Errors of the unseen tasks [models, unseen] of each model, predicted from its seen ones by a ridge on the models
    of other groups; and their scales [models], the ridge's own standard error but for one factor.

    One inverse serves all groups: the block of it that belongs to a group, inverted, is the covariance of its errors.
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
    """What is known of estimates from one set of tasks."""

    of: Complete
    seen: Ints
    penalty: float
    errors: Floats  # [complete, unseen]
    scales: Floats  # [complete]

    @classmethod
    def fit(cls, of: Complete, seen: Ints) -> Pattern:
        """Returns the pattern with the penalty of least error."""
        fits = [cls(of, seen, penalty, *of.residuals(seen, penalty)) for penalty in GRID]
        return min(fits, key=lambda one: float(np.mean(one.project(one.errors)[:, 0] ** 2)))

    def project(self, errors: Floats) -> Floats:
        """Errors of the mean and of the means of categories [..., 1 + categories]."""
        return errors @ np.delete(self.of.weights, self.seen, axis=0)

    def half(self, errors: Floats, scale: float) -> Floats:
        """Half the 95% intervals [...] of a model whose errors have this scale, by errors [complete, ...]."""
        return scale * self.check.widened * np.array([quantile(one / self.scales) for one in errors.T])

    @cached_property
    def check(self) -> Check:
        """How often the intervals hold for complete models, each family left out of everything."""
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
    """Returns the least factor by which intervals with these errors over half widths hold for LEVEL of the weight, and
    one more that is not among them."""
    order = np.argsort(ratios)
    each = np.ones(len(order)) if weights is None else weights[order]
    share = np.cumsum(each)
    return float(ratios[order][np.searchsorted(share, min(LEVEL * (share[-1] + each.max()), share[-1]) - TINY)])


def quantile(ratios: Floats) -> float:
    """Returns the conformal quantile of the sizes of errors over their scales: of fewer than 19, the largest."""
    at = min(math.ceil(LEVEL * (len(ratios) + 1)), len(ratios))
    return float(np.sort(np.abs(ratios))[at - 1])


def complete(table: ScoreTable, models: pd.DataFrame | None = None) -> Complete | str:
    """The complete models of a table; or why they are too few. `models` as of `estimates`; None: nothing is known."""
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
    """Estimates of the incomplete rows of a table of one origin, why others have none, and the check of each pattern.

    models: their family, of which none says anything of another, and date of release, by key. possible [models, tasks]:
    whether a model can do a task. Scores and means are in stored units. Raises BadInput as `ScoreTable.blocks` does.
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
    """The weights of the tasks that count in the mean, and in the mean of each category [counted, 1 + categories]."""
    mean = np.zeros(len(table.tasks))
    for block in table.blocks:
        mean[block.columns] += block.share * block.task_weights / block.task_weights.sum()
    columns = [mean]
    for code in range(len(table.categories)):
        own = table.task_weights * (table.codes == code)
        columns.append(own / own.sum() if own.sum() else own)
    return np.column_stack(columns)[table.counted]


def _estimate(pattern: Pattern, scores: Floats) -> Estimated | str:
    """The estimate of a model with `scores` [tasks], NaN missing, among the complete ones; or why there is none."""
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
    """How well some tasks tell the means of complete models that took no part in the prediction."""

    models: int
    error: float  # root mean square, in stored units
    largest: float
    places: float  # mean change of place
    most_places: int


def held_out(of: Complete, seen: Ints) -> Held:
    """Predicts each complete model's mean from the tasks `seen`, by the models of other families."""
    pattern = Pattern.fit(of, seen)
    error, means = pattern.project(pattern.errors)[:, 0], of.values @ of.weights[:, 0]
    above = (means[None, :] > means[:, None]).sum(axis=1)
    moved = np.abs(((means[None, :] > (means - error)[:, None]) & ~np.eye(len(means), dtype=bool)).sum(axis=1) - above)
    return Held(len(error), pattern.check.error, float(np.abs(error).max()), float(moved.mean()), int(moved.max()))


class Order(NamedTuple):
    """Which missing tasks of a model to run, one after another."""

    of: Complete
    scores: Floats  # of the model [tasks], those that count; NaN missing
    hours: Floats  # what each of these takes
    tasks: list[int]  # to run, of these

    def halves(self, after: Iterable[int]) -> list[float]:
        """Half the interval of the mean after some numbers of the tasks; NaN if that is not an estimate yet."""
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
    """Returns the missing tasks `among` which are to be run [tasks], in the order that narrows the interval of the mean
    most per hour, as many as a budget of hours has room for.

    scores [tasks], NaN missing; hours [tasks]: what each takes. Each step takes the task of which, in the Gaussian of
    the complete models' scores with a ridge of RIDGE, the mean's variance falls most per hour. Deterministic.
    """
    spread = of.values.std(axis=0) + TINY
    z, weights = (of.values - of.values.mean(axis=0)) / spread, of.weights[:, 0] * spread
    covariance = z.T @ z / len(z) + RIDGE * np.eye(len(spread))  # of the tasks, given those that are known

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
    """Returns the tasks that the first model of a table is to run next, as `next_tasks`: of those that it can do the
    ones
    `among` these [tasks]. A task takes the hours of the table, or else the median of the others.

    Raises CannotDo if nothing tells an order.
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
    """Returns whether models can do tasks, if stated [models, tasks]: one without a text encoder has no score on a
    task with texts, and one of many vectors per item (`late`) none if one vector is compared, by any effort. Of a
    model whose abilities nobody states it is taken that it can."""
    lacks = np.array([[bool(own) and f"embed_{kind}" not in own for kind in KINDS] for own in abilities], bool)
    needs = np.array([[kind in task for kind in KINDS] for task in modalities], bool)
    judges = np.array(["compare" in own or "choose" in own or "score_pair" in own for own in abilities], bool)
    never = np.outer(np.array(late, bool), np.array(one_vector, bool))
    return (~(lacks[:, None, :] & needs[None, :, :]).any(axis=2) | judges[:, None]) & ~never
