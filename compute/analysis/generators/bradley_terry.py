"""Strengths of generators from people's choices between two of them, with intervals (Bradley and Terry 1952)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.intervals import Z95
from compute.arrays import Floats
from compute.types import Undefined

ELO = 400 / math.log(10)  # Elo points per unit of log-odds
STEPS = 200
SMALL = 1e-9


def fit(wins: ArrayLike, *, names: Sequence[str] = ()) -> Floats:
    """Returns strengths (n, 3) in Elo points with mean 0 and the ends of their 95% intervals.

    They maximise the likelihood of `wins` (n, n), how often i was chosen over j; a tie is half a win for either. Item i
    beats j with probability 1 / (1 + 10 ^ ((j - i) / 400)). `names` (n,) are for messages.

    The intervals are normal approximations from the observed information. They treat all choices as independent, so
    they are too narrow if a few people made most of them. Raises Undefined if no finite strengths exist: a group never
    lost to the others or never met them.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import: not at start

    wins = np.asarray(wins, dtype=float)
    n = len(wins)

    parts, part = connected_components(wins > 0, directed=True, connection="strong")
    if parts > 1:
        named = names or [f"item {row}" for row in range(n)]
        alone = np.flatnonzero(part == np.bincount(part).argmin())[:3]
        raise Undefined(
            f"{', '.join(named[row] for row in alone)} and the others did not both win and lose against each other, so "
            "no finite strengths fit the votes: gather more votes"
        )
    met = wins + wins.T
    values, step = np.zeros(n), np.ones(n)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(values[None, :] - values[:, None]))  # probability that i beats j (n, n)
        weight = met * chance * (1 - chance)
        covariance = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight, rcond=1e-13, hermitian=True)
        if np.abs(step).max() < SMALL:
            break
        step = covariance @ (wins - met * chance).sum(axis=1)
        values += step / max(1.0, np.abs(step).max())  # Newton step, at most one unit of log-odds
    values -= values.mean()
    half = Z95 * np.sqrt(np.diag(covariance))
    return np.column_stack([values, values - half, values + half]) * ELO
