"""Suites resampled from a suite's tasks: how often one model is ahead of another, and intervals of Borda points.

A suite is drawn with replacement from the tasks of each category by itself, or from its clusters of tasks where some
share their data; a category of one task, or cluster, is in each as it is. This is the plain bootstrap: over few tasks
its shares and intervals are too sure, and they decide no pair (`compute.analysis.significance` does).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute.analysis.ranks.means import Block
from compute.arrays import Floats, Ints

DRAWS = 2000
SEED = 20261127


def counts(*, categories: Ints, clusters: Ints | None) -> Floats:
    """How often each task is in each of DRAWS suites [DRAWS, tasks]; categories and clusters [tasks]."""
    generator = np.random.default_rng(SEED)
    of_task = np.arange(len(categories)) if clusters is None else clusters
    found = np.empty((DRAWS, len(categories)))
    for category in np.unique(categories):
        inside = np.flatnonzero(categories == category)
        own, which = np.unique(of_task[inside], return_inverse=True)
        found[:, inside] = generator.multinomial(len(own), np.full(len(own), 1 / len(own)), size=DRAWS)[:, which]
    return found


def means(scores: Floats, *, blocks: Sequence[Block], suites: Floats) -> Floats:
    """The mean of every row in every suite [suites, rows]; NaN where it has no score of a block.

    scores [rows, tasks], NaN missing; suites [suites, tasks], as `counts` gives them.
    """
    total = np.zeros((len(suites), len(scores)))
    for block in blocks:
        weights, x = suites[:, block.columns] * block.task_weights, scores[:, block.columns]
        scored = weights @ (~np.isnan(x)).T
        part = np.full(total.shape, np.nan)
        np.divide(weights @ np.nan_to_num(x).T, scored, out=part, where=scored > 0)
        total += block.share * part
    return total


def points(by_task: Floats, *, suites: Floats) -> Floats:
    """The sum of Borda points [suites, rows] in suites of as many tasks; by_task [rows, tasks], NaN missing."""
    return suites @ np.nan_to_num(by_task).T * (suites.shape[1] / suites.sum(axis=1, keepdims=True))


def ahead(values: Floats) -> Floats:
    """The share of suites in which the row is ahead of the column [rows, rows], equal ones as half.

    values [suites, rows], higher is better; NaN: no value, and the suite does not count for that pair.
    """
    share = np.full(2 * [values.shape[1]], np.nan)
    for row, own in enumerate(values.T):
        known = ~np.isnan(own[:, None] + values)
        wins = (own[:, None] > values) + 0.5 * (own[:, None] == values)
        np.divide((wins * known).sum(axis=0), known.sum(axis=0), out=share[row], where=known.any(axis=0))
    np.fill_diagonal(share, np.nan)
    return share
