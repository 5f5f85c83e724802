"""The variance of a mean over tasks, and its degrees of freedom.

A row's mean is a weighted sum over categories. The tasks of a category count as a random sample of the tasks of their
kind. With scores x on n tasks with weights a (which include the category's weight), the category adds

    v = s^2 sum(a^2),   s^2 = sum((x - mean(x))^2) / (n - 1),   on n - 1 degrees of freedom,

to the variance of the mean: s^2 / n for equal weights. The scores are measured, so s^2 already includes their noise. A
category of one task is not informative about other tasks. Its task counts as fixed, and only the noise of its score
varies: v = a^2 se^2, taken as known exactly.

The sum over categories has Satterthwaite's degrees of freedom (1946), (sum v)^2 / sum(v^2 / df). In this formula, a
category of few tasks whose v is small by chance would matter too little, and the interval would be too narrow: in the
worst case it covers 87 percent. Therefore v is replaced there by its upper limit df v / q, with q the 20 percent
quantile of chi squared. This changes nothing if all categories have the same number of tasks.

Tasks that share their data are one cluster (`clusters`). The clusters of a category are then the random sample: v is
the jackknife over them, the sum of (n - 1) / n (mean - mean without the cluster)^2 (Bell and McCaffrey 2002), which
equals the above if all clusters have one size. Its degrees of freedom follow from the sizes s, as if a cluster's tasks
moved together: (sum s^2)^2 / sum(s^4) - 1. A category of one cluster counts as one fixed task.

The variance of a mean is unknown if that of a counted category is: its mean is printed without its scores, its one
score has no known error, or the row has a score on one of its several tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks.means import Block
from compute.arrays import Bools, Floats, Ints

LEVEL = 0.95  # of every interval
UPPER = 0.8  # level of the upper limit of a category's variance in the degrees of freedom
FEW = 5  # tasks of a category, up to which an interval is marked
KNOWN, PRINTED, NO_ERROR, ONE_SCORE, ONE_CLUSTER = range(5)  # states of a row's variance in one category
PRINTED_MEANS = "printed means are used for {}, where some scores are missing"
WHY_UNKNOWN = {
    PRINTED: PRINTED_MEANS,
    NO_ERROR: "one task stands for {}, and the error of its score is not known",
    ONE_SCORE: "only one of the tasks of {} has a score",
    ONE_CLUSTER: "all scored tasks of {} share their data",
}
ALIKE = "its scores are all equal, so their spread is not known"
UNCHANGED = 1e-9  # tolerance relative to the largest value: rounding depends on the order of the images
ROUNDING = 1e-12  # tolerance relative to a mean, within which scores equal it


@dataclass(frozen=True, kw_only=True)
class CategoryVariance:
    """The contribution of one category to the variance of every row's mean."""

    category: int
    tasks: int  # that count
    scored: Ints | Floats  # [rows], number with a score; for clusters, the equivalent number of equal ones
    v: Floats  # [rows]
    state: Ints  # [rows], KNOWN or why it is unknown

    @property
    def weight(self) -> Floats:
        """The factor of v in the degrees of freedom [rows]: its upper limit divided by v."""
        from scipy.special import chdtri  # slow to import: not at start

        return np.ones(len(self.dof)) if self.tasks == 1 else self.dof / chdtri(self.dof, UPPER)

    @property
    def dof(self) -> Floats:
        """Degrees of freedom [rows]; inf if v is the noise of one fixed task."""
        return np.full(len(self.scored), np.inf) if self.tasks == 1 else np.maximum(self.scored - 1.0, 1.0)


def by_category(
    *,
    scores: Floats,
    stderr: Floats,
    categories: Ints,
    parts: Sequence[Block],
    printed: Bools,
    clusters: Ints | None = None,
) -> tuple[CategoryVariance, ...]:
    """Returns the variance of every row's mean for each counted category.

    scores [rows, tasks], NaN if missing; stderr [rows, tasks] in the same unit, NaN or 0 if unknown; categories
    [tasks]; printed [rows, categories], whether a printed mean replaces the scores; clusters [tasks], equal for tasks
    that share their data (None: none do).
    """
    results = []
    for part in parts:
        weights = np.where(np.isnan(scores[:, part.columns]), 0.0, part.task_weights)
        total = weights.sum(axis=1, keepdims=True)
        weights = part.share * np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        codes = categories[part.columns]
        for category in np.unique(codes):
            inside = codes == category
            columns = part.columns[inside]
            results.append(
                _one_category(
                    int(category),
                    scores[:, columns],
                    stderr[:, columns],
                    weights[:, inside],
                    printed[:, category],
                    None if clusters is None else clusters[columns],
                )
            )
    return tuple(results)


def _one_category(
    category: int, x: Floats, stderr: Floats, weights: Floats, printed: Bools, clusters: Ints | None
) -> CategoryVariance:
    tasks = x.shape[1] if clusters is None else len(np.unique(clusters))
    scored = ~np.isnan(x)
    count = scored.sum(axis=1)
    if tasks == 1:
        # Errors of tasks that share their data are treated as fully dependent.
        noise = np.where(scored, weights * np.where(stderr > 0, stderr, np.nan), 0.0).sum(axis=1)
        known, lacking = (count == 0) | (noise > 0), NO_ERROR if x.shape[1] == 1 else ONE_CLUSTER
        count, v = np.minimum(count, 1), noise**2
    else:
        mean = np.where(scored, x, 0.0).sum(axis=1) / np.maximum(count, 1)
        scale = np.sqrt((weights**2).sum(axis=1) / np.maximum(count - 1, 1))
        apart = np.where(scored, x - mean[:, None], 0.0)
        apart[np.abs(apart) <= ROUNDING * np.abs(mean[:, None])] = 0.0
        known, lacking = count != 1, ONE_SCORE
        if clusters is not None:
            member = (clusters == np.unique(clusters)[:, None]).T.astype(float)  # [tasks, clusters]
            size = scored @ member  # [rows, clusters]
            clusters_scored = (size > 0).sum(axis=1)
            lacking = np.where(known, ONE_CLUSTER, lacking)
            known = known & (clusters_scored != 1)
            # Converts from (n - 1) tasks to the jackknife over clusters; no change if every task is its own cluster.
            n, of_tasks = np.maximum(clusters_scored, 1), np.maximum(count, 1)
            scale = scale * np.sqrt((of_tasks - 1) / of_tasks * (n - 1) / n)
            rest = np.maximum(1 - size / of_tasks[:, None], 1 / x.shape[1])
            apart = apart @ member / rest
            count = np.divide((size**2).sum(axis=1) ** 2, (size**4).sum(axis=1), out=np.zeros(len(x)), where=count > 0)
        v = ((apart * scale[:, None]) ** 2).sum(axis=1)
    state = np.where(printed, PRINTED, np.where(known, KNOWN, lacking))
    return CategoryVariance(
        category=category,
        tasks=tasks,
        scored=count,
        v=np.where(state == KNOWN, v, 0.0),
        state=state,
    )


def of_means(parts: Sequence[CategoryVariance]) -> tuple[Floats, Floats]:
    """Returns the variance of every row's mean and its degrees of freedom: two [rows]; NaN if unknown or 0."""
    each = np.stack([part.v for part in parts])
    total = each.sum(axis=0)
    upper = each * [part.weight for part in parts]
    squares = sum(v**2 / part.dof for v, part in zip(upper, parts, strict=True))
    known = known_rows(parts) & (total > 0)
    dof = np.divide(upper.sum(axis=0) ** 2, squares, out=np.full(total.shape, np.inf), where=squares > 0)
    return np.where(known, total, np.nan), np.where(known, dof, np.nan)


def known_rows(parts: Sequence[CategoryVariance]) -> Bools:
    """Returns whether each row's variance is known in every category: bool [rows]."""
    return np.all([part.state == KNOWN for part in parts], axis=0)


def fewest_tasks(parts: Sequence[CategoryVariance]) -> Floats:
    """Returns the smallest number of scores behind the spread of a category: [rows]; inf if none."""
    return np.min([np.where((part.tasks > 1) & (part.scored > 0), part.scored, np.inf) for part in parts], axis=0)


def unknown_because(parts: Sequence[CategoryVariance], *, names: Sequence[str]) -> tuple[str, ...]:
    """Returns in words why each row's variance is unknown, empty if it is known. names: a word for each category."""
    states = np.stack([part.state for part in parts], axis=1)
    words = []
    for row in states.tolist():
        which = {
            own: [names[part.category] for part, one in zip(parts, row, strict=True) if one == own]
            for own in {*row} - {KNOWN}
        }
        because = [text.format(listed(which[state])) for state, text in WHY_UNKNOWN.items() if state in which]
        words.append("; ".join(because))
    return tuple(words)


def listed(names: Sequence[str]) -> str:
    """Joins names as in a sentence: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def half_width(*, variance: ArrayLike, dof: ArrayLike) -> Floats:
    """Returns half of the two-sided interval at LEVEL: the t quantile of `dof` times the root of `variance`."""
    from scipy.special import stdtrit  # slow to import: not at start

    return stdtrit(np.asarray(dof, float), (1 + LEVEL) / 2) * np.sqrt(np.asarray(variance, float))
