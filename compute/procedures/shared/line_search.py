"""The step along one direction: Moré and Thuente's search (ACM TOMS 20, 1994), one value and slope at a time."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

DECREASE, CURVATURE, NARROWEST = 1e-3, 0.9, 0.1  # the constants of L-BFGS-B's searches
FARTHEST = 1e10
EVALUATIONS = 50

Point = tuple[float, float, float]  # step, value, slope


@dataclass(frozen=True, kw_only=True)
class Step:
    """The step that was accepted; `step` 0 and not `is_acceptable` where none was within the allowed evaluations."""

    step: float
    is_acceptable: bool


def search(value: float, slope: float, first: float) -> Generator[float, tuple[float, float], Step]:
    """Yields steps to try, is sent (value, slope) there, and returns the accepted step.

    `value` and `slope` are those of step 0; a slope that does not fall finds nothing.
    """
    if not slope < 0:
        return Step(step=0.0, is_acceptable=False)
    demanded = DECREASE * slope
    best = other = (0.0, value, slope)
    bracketed, easing = False, True
    low, high, width, width_before = 0.0, 5 * first, FARTHEST, 2 * FARTHEST
    step = first
    for _ in range(EVALUATIONS):
        f, g = yield step
        bound = value + step * demanded
        if not np.isfinite(f):
            return Step(step=0.0, is_acceptable=False)
        if easing and f <= bound and g >= 0:
            easing = False
        stuck = bracketed and (not low < step < high or high - low <= NARROWEST * high)
        far = step == FARTHEST and f <= bound and g <= demanded
        if (f <= bound and abs(g) <= -CURVATURE * slope) or stuck or far:
            return Step(step=step, is_acceptable=True)
        if easing and bound < f <= best[1]:  # the demanded decrease taken off, until a step has it
            tilted = [(s, v - s * demanded, d - demanded) for s, v, d in (best, other, (step, f, g))]
            best, other, step, bracketed = _narrow(*tilted, bracketed, low, high)
            best, other = ((s, v + s * demanded, d + demanded) for s, v, d in (best, other))
        else:
            best, other, step, bracketed = _narrow(best, other, (step, f, g), bracketed, low, high)
        if bracketed:
            if abs(other[0] - best[0]) >= 0.66 * width_before:
                step = best[0] + 0.5 * (other[0] - best[0])
            width_before, width = width, abs(other[0] - best[0])
            low, high = min(best[0], other[0]), max(best[0], other[0])
        else:
            low, high = step + 1.1 * (step - best[0]), step + 4 * (step - best[0])
        step = min(max(step, 0.0), FARTHEST)
        if bracketed and (not low < step < high or high - low <= NARROWEST * high):
            step = best[0]
    return Step(step=0.0, is_acceptable=False)


def _narrow(
    best: Point, other: Point, new: Point, bracketed: bool, low: float, high: float
) -> tuple[Point, Point, float, bool]:
    """The interval after `new`, and the next step: by cubic or secant, whichever the paper's section 4 takes."""
    (x, fx, dx), (y, _, _), (t, ft, dt) = best, other, new
    opposite = dt * np.sign(dx) < 0
    if ft > fx:  # case 1: a minimum lies between
        cubic = _cubic(best, new, root=-1.0 if t < x else 1.0)
        quadratic = x + dx / ((fx - ft) / (t - x) + dx) / 2 * (t - x)
        step = cubic if abs(cubic - x) < abs(quadratic - x) else cubic + (quadratic - cubic) / 2
        bracketed = True
    elif opposite:  # case 2: the slope changed its sign
        cubic = _cubic(new, best, root=-1.0 if t > x else 1.0)
        secant = t + dt / (dt - dx) * (x - t)
        step = cubic if abs(cubic - t) > abs(secant - t) else secant
        bracketed = True
    elif abs(dt) < abs(dx):  # case 3: the slope eases off
        cubic = _extrapolated(best, new, low=low, high=high)
        secant = t + dt / (dt - dx) * (x - t)
        if bracketed:
            step = cubic if abs(cubic - t) < abs(secant - t) else secant
            limit = t + 0.66 * (y - t)
            step = min(limit, step) if t > x else max(limit, step)
        else:
            step = cubic if abs(cubic - t) > abs(secant - t) else secant
            step = min(max(step, low), high)
    elif bracketed:  # case 4: it falls as steeply as before
        step = _cubic(new, other, root=-1.0 if t > y else 1.0)
    else:
        step = high if t > x else low
    if ft > fx:
        return best, new, step, bracketed
    return new, best if opposite else other, step, bracketed


def _cubic(start: Point, end: Point, *, root: float) -> float:
    """The minimiser of the cubic through two points and their slopes, counted from `start`."""
    (a, fa, da), (b, fb, db) = start, end
    theta = 3 * (fa - fb) / (b - a) + da + db
    scale = max(abs(theta), abs(da), abs(db))
    gamma = root * scale * np.sqrt(max(0.0, (theta / scale) ** 2 - da / scale * (db / scale)))
    p, q = gamma - da + theta, 2 * gamma - da + db
    return a + (p / q if q else 0.5) * (b - a)


def _extrapolated(best: Point, new: Point, *, low: float, high: float) -> float:
    """As `_cubic` for case 3, where the cubic may fall without end: then the limit on that side."""
    (x, fx, dx), (t, ft, dt) = best, new
    theta = 3 * (fx - ft) / (t - x) + dx + dt
    scale = max(abs(theta), abs(dx), abs(dt))
    gamma = scale * np.sqrt(max(0.0, (theta / scale) ** 2 - dx / scale * (dt / scale)))
    if t > x:
        gamma = -gamma
    p, q = gamma - dt + theta, gamma + (dx - dt) + gamma
    ratio = p / q if q else 0.0
    if ratio < 0 and gamma:
        return t + ratio * (x - t)
    return high if t > x else low
