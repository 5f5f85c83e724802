"""Where a model's computed figures stand in a suite: its mean, and its rank among the published rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from compute.analysis import ranking
from compute.analysis.suite import SuiteScores
from compute.analysis.uncertainty import rank_with_uncertainty
from compute.catalog.own import BENCHMARKS, SYNTHETIC_BENCHMARKS
from compute.sharing.computed_runs import SharedRun
from compute.types import BadInput, Metric, Score, Suite


@dataclass(frozen=True, kw_only=True)
class SuiteStanding:
    """One suite. `mean` and its interval are in stored units; None where they are not known, and `reason` says why.

    `rank` and its interval count the `rows` published models that have the suite's mean, and this model.
    """

    suite: Suite
    done: int  # tasks of the suite's mean that have a complete run
    tasks: int
    metric: Metric | None  # whose unit the mean has; None where tasks differ
    mean: float | None = None
    interval: tuple[float, float] | None = None
    rank: int | None = None
    rank_interval: tuple[int, int] | None = None
    rows: int = 0
    reason: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether a program drew the suite's items."""
        return self.suite.benchmark in SYNTHETIC_BENCHMARKS

    @property
    def comparable(self) -> bool:
        """Whether published rows are of the same questions: never so of one's own data or drawn items."""
        return not self.synthetic and self.suite.benchmark not in BENCHMARKS


def standing(
    suite: Suite, *, published: SuiteScores, runs: Iterable[SharedRun], metrics: Mapping[str, Metric]
) -> SuiteStanding:
    """The model's mean over the suite, by the suite's own rule, and its rank among the published rows.

    A mean takes a complete run of every task that counts: of a part of them there is none.
    """
    scores = {run.task.key: _headline(run) for run in runs}
    row = np.array([scores[task].value if scores.get(task) else np.nan for task in published.tasks])
    errors = [scores[task].stderr if scores.get(task) else None for task in published.tasks]
    done = int((~np.isnan(row)).sum())
    used = {score.metric for task in published.tasks if (score := scores.get(task))}
    metric = metrics[next(iter(used))] if len({(metrics[key].unit, metrics[key].scale) for key in used}) == 1 else None
    part = SuiteStanding(suite=suite, done=done, tasks=len(published.tasks), metric=metric)
    if done < part.tasks:
        return _without(part, f"{done} of {part.tasks} tasks: a mean takes all of them")
    known, printed = _published(published)
    stderr = np.full((len(known) + 1, len(row)), np.nan)
    stderr[-1] = [np.nan if error is None else error for error in errors]
    if metric is None:
        return _without(part, "its tasks have metrics of unlike scale")
    try:
        result = rank_with_uncertainty(
            scores=np.vstack([known, row]),
            categories=published.codes,
            stderr=stderr,
            aggregate=published.aggregate,
            higher=published.higher,
            printed=np.vstack([printed, np.zeros((1, printed.shape[1]), bool)]),
            names=published.categories,
        )
    except BadInput as error:
        return _without(part, str(error))
    rows = int((result.rank[:-1] != ranking.UNRANKED).sum())
    ranked = rows > 0 and part.comparable
    ends = (float(result.mean_low[-1]), float(result.mean_high[-1]))
    return SuiteStanding(
        suite=suite,
        done=done,
        tasks=part.tasks,
        metric=metric,
        mean=float(result.mean[-1]),
        interval=None if np.isnan(ends).any() else ends,
        rank=int(result.rank[-1]) if ranked else None,
        rank_interval=(int(result.rank_low[-1]), int(result.rank_high[-1]))
        if ranked and result.rank_low[-1] != ranking.UNRANKED
        else None,
        rows=rows if ranked else 0,
        reason=result.unknown[-1],
    )


def _headline(run: SharedRun) -> Score | None:
    """The whole task's figure of the task's first metric; None of a run that has another one first."""
    score = run.headline
    return score if score.metric == run.task.metrics[0] else None


def _published(scores: SuiteScores) -> tuple[np.ndarray, np.ndarray]:
    """The published rows, a lost category filled by its printed mean, and which categories are such: [rows, tasks],
    [rows, categories]."""
    values = scores.values.copy()
    printed = np.zeros(scores.printed.shape, bool)
    if scores.aggregate == ranking.CATEGORY_MEAN:
        for category in range(len(scores.categories)):
            members = np.flatnonzero(scores.codes == category)
            lost = np.isnan(values[:, members]).any(axis=1) & ~np.isnan(scores.printed[:, category])
            values[np.ix_(np.flatnonzero(lost), members)] = scores.printed[lost, category][:, None]
            printed[:, category] = lost
    whole = ~np.isnan(values).any(axis=1)
    return values[whole], printed[whole]


def _without(part: SuiteStanding, reason: str) -> SuiteStanding:
    return SuiteStanding(suite=part.suite, done=part.done, tasks=part.tasks, metric=part.metric, reason=reason)
