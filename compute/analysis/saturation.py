"""Whether a task still tells models apart: its best score against the ceiling, its spread against the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.intervals import Z95
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class Saturation:
    """One task's scores read as a measuring instrument. NaN where the inputs do not say."""

    models: int
    best: float
    median: float
    spread: float  # standard deviation over the models
    noise: float  # median standard error of a score
    ratio: float  # spread / noise
    judged: int  # models other than the best with a standard error, where the best has one too
    within: int  # of these, models whose gap to the best its noise explains
    used: float  # (best - chance) / (ceiling - chance): share of the room that is used up
    below_chance: int  # models that score no better than by guessing
    at_chance: bool  # whether not even the best is better than guessing by more than its noise
    at_ceiling: bool  # whether the best is within its noise of the highest score


def saturation(
    *,
    scores: ArrayLike,
    stderr: ArrayLike | None = None,
    chance: float | None = None,
    ceiling: float | None = None,
    higher: bool = True,
) -> Saturation:
    """Reads the scores [models] of one task, NaN missing, with their standard errors (NaN unknown).

    A model is within the noise of the best when their gap is at most the two-sided 95% quantile times the root of
    the sum of both squared errors: the two are taken as independent, which is cautious for models answering the same
    items, and no correction is made for looking at many. The floor of `used` is chance, or 0 where chance is unknown.
    Raises BadInput when no model has a score.
    """
    x = np.asarray(scores, float)
    error = np.full(x.shape, np.nan) if stderr is None else np.asarray(stderr, float)
    measured = ~np.isnan(x)
    if not measured.any():
        raise BadInput("No model has a score on this task, so nothing can be read from it")
    x, error = x[measured], error[measured]
    top = int(np.argmax(x if higher else -x))
    gap = np.abs(x[top] - x)
    half = Z95 * np.hypot(error, error[top])
    known = ~np.isnan(half)
    known[top] = False
    spread = float(np.std(x, ddof=1)) if len(x) > 1 else math.nan
    noise = float(np.nanmedian(error)) if not np.isnan(error).all() else math.nan
    floor = 0.0 if chance is None else chance
    used = math.nan if ceiling is None or ceiling == floor else float((x[top] - floor) / (ceiling - floor))
    above = np.full(x.shape, np.inf) if chance is None else (x - chance) * (1 if higher else -1)
    return Saturation(
        models=len(x),
        best=float(x[top]),
        median=float(np.median(x)),
        spread=spread,
        noise=noise,
        ratio=spread / noise if noise > 0 else math.nan,
        judged=int(known.sum()),
        within=int((gap[known] <= half[known]).sum()),
        used=used,
        below_chance=int((above <= 0).sum()),
        at_chance=bool(above[top] <= Z95 * np.nan_to_num(error[top])),
        at_ceiling=ceiling is not None and bool(abs(ceiling - x[top]) <= Z95 * np.nan_to_num(error[top])),
    )
