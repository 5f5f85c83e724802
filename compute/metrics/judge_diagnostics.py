"""Diagnostics of a judge's ratings beyond PairBench's metrics: position bias, errors, cost.

Ratings and sources are as in `judge`; intervals are over source items, as in `resampling`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from compute.metrics import resampling
from compute.metrics.figures import Figure
from compute.metrics.judge import SCALE, Ratings
from compute.types import Undefined

INVALID = "invalid"


def position_bias(forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None) -> Figure:
    """Computes the mean of forward minus reverse score over pairs with two valid scores, in -9..9; `n` counts these
    pairs.

    It is positive if the judge rates a pair higher when the original comes first. A judge may prefer an order in single
    pairs but not on average: RelaxSym shows that, this does not. Raises Undefined without a valid pair.
    """
    ratings = Ratings.of(forward=forward, reverse=reverse, sources=sources)
    valid = (ratings.forward > 0) & (ratings.reverse > 0)
    if not valid.any():
        raise Undefined("No pair has two valid scores, so there is no difference of the two orders")
    gaps = np.where(valid, ratings.forward - ratings.reverse, 0)
    figure = resampling.ratio(top=gaps, bottom=valid, sources=ratings.sources)
    low, high = resampling.interval(figure, lower=1 - SCALE, upper=SCALE - 1)
    return Figure(value=figure.whole, n=int(valid.sum()), stderr=figure.stderr, low=low, high=high)


def problem_rates(
    forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None, *, problems: tuple[str, ...] = ()
) -> dict[str, Figure]:
    """Returns the share of answers without a score, as INVALID, and the share of each problem among all answers; in
    0..1.

    `forward` and `reverse` (n,) name the problem of each answer, "" if it has a score; `problems` are listed even if
    they do not occur. `n` counts answers, two per pair. Raises Undefined without answers.
    """
    answers, rates = np.concatenate([np.asarray(side).astype(str) for side in (forward, reverse)]), {}
    if not len(answers):
        raise Undefined("There are no answers to count problems in")
    names = np.arange(len(answers) // 2) if sources is None else np.asarray(sources)
    for name in (INVALID, *dict.fromkeys([*problems, *sorted(set(answers.tolist()) - {""})])):
        hits = answers != "" if name == INVALID else answers == name
        figure = resampling.ratio(top=hits, bottom=np.ones(len(hits)), sources=np.concatenate([names, names]))
        low, high = resampling.share_interval(figure)
        rates[name] = Figure(value=figure.whole, n=len(answers), stderr=figure.stderr, low=low, high=high)
    return rates
