"""Common tests over tasks of which pairs of models differ, as alternatives to `compute.analysis.significance`.

Each task is a block in which the models are ranked. Friedman's test asks whether any models differ. Then Nemenyi's test
compares average ranks (Demšar 2006, jmlr.org/papers/v7/demsar06a.html), or Wilcoxon's signed-rank test compares the
scores of each pair, with Holm's correction over all pairs (Benavoli and others 2016,
jmlr.org/papers/v17/benavoli16a.html). Categories and weights are ignored, and tasks that share their data are one
block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.analysis.significance import ALPHA, holm_adjusted
from compute.arrays import Bools, Floats, Ints, ranks
from compute.types import BadInput

TESTS = FRIEDMAN_NEMENYI, WILCOXON_HOLM = "friedman-nemenyi", "wilcoxon-holm"


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """The result of a test for every pair of models. Arrays are NaN, or False, for a model with missing scores."""

    name: str  # FRIEDMAN_NEMENYI or WILCOXON_HOLM
    blocks: int  # independent tasks
    models: int  # compared
    average_rank: Floats  # [models], 1: best on every task
    statistic: float  # Friedman's chi-squared; NaN for two models
    friedman_p: float
    critical_difference: float  # of average ranks, at which a pair is significant by Nemenyi's test; else NaN
    p: Floats  # [models, models], two-sided, adjusted for all pairs
    significant: Bools  # [models, models], symmetric

    def __str__(self) -> str:
        pairs, of = f"{self.models * (self.models - 1) // 2:,}", f"over {self.blocks:,} independent tasks"
        p = "p < 0.001" if self.friedman_p < 0.0005 else f"p = {self.friedman_p:.3f}"
        friedman = f"Friedman's test {of}: chi-squared {self.statistic:.4g}, {p}."
        if self.name == FRIEDMAN_NEMENYI:
            found = f"average ranks that differ by {self.critical_difference:.3g} or more are significantly different"
            return f"{friedman} Nemenyi's test: {found if self.friedman_p <= ALPHA else 'not used, since p > 0.05'}."
        text = f"Wilcoxon's signed-rank test {of}, with Holm's correction over {pairs} pairs."
        if 2.0 ** (1 - self.blocks) * self.models * (self.models - 1) / 2 > ALPHA:
            text = f"{text} So few tasks cannot make any of so many pairs significant."
        return text if np.isnan(self.friedman_p) else f"{text} {friedman}"


def pair_test(turned: Floats, *, clusters: Ints | None, test: str) -> PairTest:
    """Tests every pair of models.

    turned [models, tasks]: scores, higher is better, NaN if missing; clusters [tasks]: equal for tasks that share their
    data (None: none do). p is two-sided: from the studentized range for Nemenyi's test, exact up to 50 tasks without
    ties for Wilcoxon's. Raises BadInput for Nemenyi's test of two models.
    """
    from scipy import stats  # slow to import: not at start

    rows = np.flatnonzero(~np.isnan(turned).any(axis=1))
    x, k = turned[rows], len(rows)
    by_task = ranks(-x)
    if clusters is not None:
        member = (clusters[:, None] == np.unique(clusters)).astype(float)
        x, by_task = x @ (member / member.sum(axis=0)), ranks(by_task @ member)
    blocks, average = by_task.shape[1], by_task.mean(axis=1)
    pairs = np.triu_indices(k, 1)
    statistic, friedman_p, limit = np.nan, np.nan, np.nan
    if k > 2:
        with np.errstate(invalid="ignore"):  # NaN if all scores are equal
            statistic, friedman_p = map(float, stats.friedmanchisquare(*by_task))
    if test == FRIEDMAN_NEMENYI:
        if k < 3:
            raise BadInput(f"Friedman's test needs three or more ranked models, got {k}. Use {WILCOXON_HOLM}")
        unit = np.sqrt(k * (k + 1) / (12 * blocks))
        limit = float(stats.studentized_range.isf(ALPHA, k, np.inf) * unit)
        gaps, which = np.unique(np.abs(average[pairs[0]] - average[pairs[1]]), return_inverse=True)
        p = stats.studentized_range.sf(gaps / unit, k, np.inf)[which]
        found = (p <= ALPHA) & (friedman_p <= ALPHA)
    else:
        gaps = np.round((x[pairs[0]] - x[pairs[1]]) / (np.abs(x).max() or 1.0), 10)  # 0.3 - 0.2 and 0.2 - 0.1 are equal
        with np.errstate(invalid="ignore"):  # p is 1 if all scores are equal
            p = holm_adjusted(stats.wilcoxon(gaps, axis=1).pvalue)
        found = p <= ALPHA
    wide = np.full(2 * [len(turned)], np.nan)
    a, b = rows[pairs[0]], rows[pairs[1]]
    wide[a, b] = wide[b, a] = p
    significant = np.zeros(wide.shape, bool)
    significant[a, b] = significant[b, a] = found
    averages = np.full(len(turned), np.nan)
    averages[rows] = average
    return PairTest(
        name=test,
        blocks=blocks,
        models=k,
        average_rank=averages,
        statistic=statistic,
        friedman_p=friedman_p,
        critical_difference=limit,
        p=wide,
        significant=significant,
    )
