"""How far a mean over tasks varies, and on how many degrees of freedom that is known.

A row's mean is a weighted sum over categories. The tasks of a category count as drawn at random from the tasks of
their kind. With scores x on n tasks of weights a (which hold the category's own weight), the category adds

    v = s^2 sum(a^2),   s^2 = sum((x - mean(x))^2) / (n - 1),   on n - 1 degrees of freedom,

to the variance of the mean: s^2 / n for equal weights. The scores are those that were measured, so s^2 holds their
noise already and none is added. A category of one task says nothing of other tasks. Its task counts as fixed, only the
noise of its score varies: v = a^2 se^2, taken as known exactly.

The sum over categories has Satterthwaite's degrees of freedom (1946), (sum v)^2 / sum(v^2 / df). There a category of
few tasks would seem to matter little where its v is small by luck, and the interval would be too narrow: in the worst
case it holds 87 percent. So v is taken at its upper limit df v / q there, q the 20 percent quantile of chi squared.
That changes nothing where all categories have as many tasks.

Tasks that share their data are one cluster (`clusters`). What is drawn at random are then the clusters of a category:
v is the jackknife over them, the sum of (n - 1) / n (mean - mean without the cluster)^2 (Bell and McCaffrey 2002), the
same as above where all have one size. Its degrees of freedom follow from the sizes s, as if a cluster's tasks moved
together: (sum s^2)^2 / sum(s^4) - 1. A category of one cluster counts as one fixed task.

The variance of a mean is unknown where that of a counting category is: its mean is printed without the scores behind
it, its one score has no known error, or the row has a score on one of its several tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks.means import Block
from compute.arrays import Bools, Floats, Ints

LEVEL = 0.95  # of every interval
UPPER = 0.8  # of the limit that a category's share in the degrees of freedom is taken at
FEW = 5  # tasks of a category, up to which an interval is marked as resting on few
KNOWN, PRINTED, NO_ERROR, ONE_SCORE, ONE_CLUSTER = range(5)  # what is known of a row's variance in one category
PRINTED_MEANS = "printed means are used for {}, where some scores are missing"
WHY_UNKNOWN = {
    PRINTED: PRINTED_MEANS,
    NO_ERROR: "one task stands for {}, and the error of its score is not known",
    ONE_SCORE: "only one of the tasks of {} has a score",
    ONE_CLUSTER: "all scored tasks of {} share their data",
}
ALIKE = "its scores are all equal, so their spread is not known"
UNCHANGED = 1e-9  # of the largest value, within which values are equal: rounding differs with the order of the images
ROUNDING = 1e-12  # of a mean, within which scores are equal to it


@dataclass(frozen=True, kw_only=True)
class CategoryVariance:
    """What one category adds to the variance of every row's mean."""

    category: int
    tasks: int  # that count
    scored: Ints | Floats  # [rows], those with a score; of clusters how many equal ones they are worth
    v: Floats  # [rows]
    state: Ints  # [rows], KNOWN or why not

    @property
    def weight(self) -> Floats:
        """What v is multiplied by in the sum's degrees of freedom [rows]: its upper limit over itself."""
        from scipy.special import chdtri  # slow to import: not at start

        return np.ones(len(self.dof)) if self.tasks == 1 else self.dof / chdtri(self.dof, UPPER)

    @property
    def dof(self) -> Floats:
        """Degrees of freedom [rows]; inf where v is the noise of one fixed task."""
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
    """The variance of every row's mean, category by category, of those that count.

    scores [rows, tasks] with NaN missing; stderr [rows, tasks] in the same unit, NaN or 0 unknown; categories [tasks];
    printed [rows, categories], whether a printed mean stands for the scores; clusters [tasks], equal for tasks that
    share their data (None: none do).
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
        # Of tasks that share their data the errors are taken as wholly dependent.
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
            # From (n - 1) of tasks to the jackknife over clusters; the same where every task is its own.
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
    """Variance of every row's mean and its degrees of freedom: two [rows]; NaN where unknown, or where it is 0."""
    each = np.stack([part.v for part in parts])
    total = each.sum(axis=0)
    upper = each * [part.weight for part in parts]
    squares = sum(v**2 / part.dof for v, part in zip(upper, parts, strict=True))
    known = known_rows(parts) & (total > 0)
    dof = np.divide(upper.sum(axis=0) ** 2, squares, out=np.full(total.shape, np.inf), where=squares > 0)
    return np.where(known, total, np.nan), np.where(known, dof, np.nan)


def known_rows(parts: Sequence[CategoryVariance]) -> Bools:
    """Whether each row's variance is known in every category: bool [rows]."""
    return np.all([part.state == KNOWN for part in parts], axis=0)


def fewest_tasks(parts: Sequence[CategoryVariance]) -> Floats:
    """The least number of scores that the spread of a category is taken from: [rows]; inf where none is."""
    return np.min([np.where((part.tasks > 1) & (part.scored > 0), part.scored, np.inf) for part in parts], axis=0)


def unknown_because(parts: Sequence[CategoryVariance], *, names: Sequence[str]) -> tuple[str, ...]:
    """Why each row's variance is not known, in words, empty where it is. names: a word for each category."""
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
    """Names in a row of words: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def half_width(*, variance: ArrayLike, dof: ArrayLike) -> Floats:
    """Half of the two-sided interval at LEVEL: the t quantile of `dof` times the root of `variance`."""
    from scipy.special import stdtrit  # slow to import: not at start

    return stdtrit(np.asarray(dof, float), (1 + LEVEL) / 2) * np.sqrt(np.asarray(variance, float))
