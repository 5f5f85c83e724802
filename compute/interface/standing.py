"""A model's mean on a suite and its rank among the rows of an origin, by the suite's rule, as on the board."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.anchored import anchor
from compute.analysis.ranks.ranking import UNRANKED
from compute.analysis.ranks.standings import Standings, standings
from compute.analysis.ranks.variance import listed
from compute.analysis.suite import ALL, SuiteScores
from compute.arrays import Bools, Floats, Ints
from compute.interface.comparability import Comparability
from compute.tables import DASH, padded
from compute.types import ORIGINS, Metric, Model, Score, Suite, Task

HUMAN = "human"  # the rule of suites that people rank


@dataclass(frozen=True, kw_only=True)
class SuiteMean:
    """The mean of a suite or of one of its categories, in stored units (proportions as fractions)."""

    name: str  # the suite's key, or the category
    scope: str  # suite | category
    value: float | None  # None: not known, see `reason`
    low: float | None  # of the 95% interval; None: not known
    high: float | None
    tasks: int  # with a score
    of: int  # tasks that count
    reason: str = ""  # why there is no mean, or no interval

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: mean unknown: {self.reason}"
        interval = f" ({self.low:.4f} to {self.high:.4f})" if self.low is not None else f" (interval: {self.reason})"
        return f"{self.name}: mean {self.value:.4f}{interval}"


class SuiteMeans(tuple[SuiteMean, ...]):
    """The means of a suite and of its categories; printed, a table in stored units."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [("mean of", "value", "95% interval", "tasks"), *map(_cells, self)]
        head, *body = padded(rows)
        lines = [f"| {' | '.join(row)} |" for row in (head, ["-" * len(cell) for cell in head], *body)]
        return "\n".join([*lines, *(f"{mean.name}: {mean.reason}" for mean in self if mean.reason)])


def _cells(mean: SuiteMean) -> tuple[str, str, str, str]:
    """A mean as a row: unknown figures are dashes, whose reasons stand below the table."""
    value = DASH if mean.value is None else f"{mean.value:.4f}"
    interval = DASH if mean.low is None else f"{mean.low:.4f} to {mean.high:.4f}"
    return mean.name, value, interval, f"{mean.tasks} of {mean.of}"


@dataclass(frozen=True, kw_only=True)
class SuiteRank:
    """A model's rank among the rows of an origin. None where it is not known; `reason` says why."""

    suite: str
    origin: str
    rank: int | None  # 1 is best, ties 1, 2, 2, 4
    low: int | None  # best rank of the interval, which covers at least 95%
    high: int | None
    of: int  # ranked rows, with this one
    others: Mapping[str, int]  # the other ranked rows, counted by origin
    tie_class: str  # letter, empty where not known
    better: tuple[str, ...]  # models that are significantly better
    worse: tuple[str, ...]  # models that are significantly worse
    comparable: Comparability
    reason: str = ""

    def __str__(self) -> str:
        if self.rank is None:
            return f"Rank on {self.suite} unknown: {self.reason}"
        text = f"Rank {self.rank} of {self.of} on {self.suite}, among {self._rows()}"
        if self.low is None:
            return f"{text}; its interval is unknown: {self.reason}. {self.comparable}"
        span = f"is {self.low}" if self.low == self.high else f"lies between {self.low} and {self.high}"
        return f"{text}; with at least 95% confidence the rank {span}. {self.comparable}"

    def _rows(self) -> str:
        """The other ranked rows in words: 8 published rows; 7 published and 1 computed rows."""
        counts = [f"{count:,} {origin}" for origin, count in self.others.items()]
        return f"{listed(counts)} {'row of another model' if self.of == 2 else 'rows of other models'}"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What ranks a suite, as arrays over the tasks that count in its mean."""

    suite: Suite
    tasks: tuple[Task, ...]
    categories: tuple[str, ...]
    codes: Ints  # [tasks]
    weights: Floats  # [categories]
    higher: Bools  # [tasks]
    scales: tuple[str, ...]  # [tasks], equal where scores may be averaged
    shares: Bools  # [tasks], whether a score is a share of its items
    lower: Floats  # [tasks], bounds of the scores
    upper: Floats

    def standings(
        self, values: Floats, stderr: Floats, *, printed: Floats | None = None, within: str = "", whole: bool = False
    ) -> Standings:
        """The rows' standings: values and stderr [rows, tasks]; printed [rows, categories] means.

        `within` leaves out all but one category. `whole`: a row needs every task, whatever the suite's minimum.
        """
        weights = np.ones(len(self.tasks))
        if within:
            weights = (self.codes == self.categories.index(within)).astype(float)
        stands_in = None
        if printed is not None:
            values, stands_in = anchor(scores=values, categories=self.codes, means=printed, counted=weights > 0)
        return standings(
            scores=values,
            stderr=stderr,
            categories=self.codes,
            weights=self.weights,
            task_weights=weights,
            aggregate=self.suite.aggregate,
            least=1.0 if whole else self.suite.minimum_coverage,
            higher=self.higher,
            scales=np.array(self.scales),
            printed=stands_in,
            bounds=(self.lower[weights > 0].min(), self.upper[weights > 0].max()),
            names=self.categories,
        )


def rule(suite: Suite, *, tasks: Sequence[Task], metrics: Mapping[str, Metric]) -> Rule:
    """The suite's rule over those of its tasks that count."""
    counting = tuple(task for task in tasks if suite.key in task.suites and task.ranked)
    categories = tuple(dict.fromkeys(task.category for task in counting))
    headline = [metrics[task.metrics[0]] for task in counting]
    return Rule(
        suite=suite,
        tasks=counting,
        categories=categories,
        codes=np.array([categories.index(task.category) for task in counting], np.int64),
        weights=np.array([suite.category_weights.get(name, 1.0) for name in categories], float),
        higher=np.array([metric.higher_is_better for metric in headline], bool),
        scales=tuple(str(metric.scale) for metric in headline),
        shares=np.array([metric.proportion for metric in headline], bool),
        lower=np.array([-math.inf if metric.lower is None else metric.lower for metric in headline]),
        upper=np.array([math.inf if metric.upper is None else metric.upper for metric in headline]),
    )


def row_of(scores: Mapping[str, Score], of: Rule) -> tuple[Floats, Floats]:
    """Values and standard errors [1, tasks] of a model's headline scores by task, NaN where there is none."""
    known = [scores.get(task.key) for task in of.tasks]
    values = np.array([[np.nan if score is None else score.value for score in known]], float)
    errors, items = (
        np.array([[np.nan if number is None else number for number in numbers]], float)
        for numbers in (
            [None if score is None else score.stderr for score in known],
            [None if score is None else score.n for score in known],
        )
    )
    return values, sampling_errors(values=values, stderr=errors, share_of=np.where(of.shares, items, np.nan))


def means(scores: Mapping[str, Score], of: Rule) -> SuiteMeans:
    """The suite's mean, then those of its categories where it has several. `scores`: the headline score by task."""
    values, stderr = row_of(scores, of)
    several = of.categories if len(of.categories) > 1 else ()
    return SuiteMeans(
        _mean(of, values, stderr, name=name or of.suite.key, within=name, codes=of.codes) for name in ("", *several)
    )


def _mean(of: Rule, values: Floats, stderr: Floats, *, name: str, within: str, codes: Ints) -> SuiteMean:
    members = np.ones(len(of.tasks), bool) if not within else codes == of.categories.index(within)
    counted = {"tasks": int((~np.isnan(values[0, members])).sum()), "of": int(members.sum())}
    scope = "category" if within else "suite"
    nothing: dict[str, Any] = {"name": name, "scope": scope, "value": None, "low": None, "high": None, **counted}
    if of.suite.aggregate == HUMAN or not of.tasks:
        return SuiteMean(**nothing, reason=f"{of.suite.key} is ranked by people, not by a mean over tasks")
    if reason := _mixed(of, members):
        return SuiteMean(**nothing, reason=reason)
    result = of.standings(values, stderr, within=within, whole=bool(within))
    if result.why[0]:
        return SuiteMean(**nothing, reason=result.why[0].removeprefix("Not ranked: "))
    low, high = (_number(array[0]) for array in (result.ranking.mean_low, result.ranking.mean_high))
    return SuiteMean(
        name=name,
        scope=scope,
        value=float(result.ranking.mean[0]),
        low=low,
        high=high,
        reason=result.ranking.unknown[0] if low is None else "",
        **counted,
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _mixed(of: Rule, members: Bools) -> str:
    """Why the tasks make no mean; empty where they do."""
    if len(set(of.higher[members])) > 1:
        return "of some of its tasks a higher score is better, of others a lower"
    if len({scale for scale, inside in zip(of.scales, members, strict=True) if inside}) > 1:
        return "its tasks' scores are in different units"
    return ""


def rank(
    scores: Mapping[str, Score],
    of: Rule,
    *,
    model: Model,
    others: SuiteScores | None,
    comparable: Comparability,
    instead: Sequence[str] = (),
) -> SuiteRank:
    """The model's rank among the rows of `others`, without its own; None: there are no such rows.

    `instead`: the origins that do have rows of other models, which the reason then names.
    """
    nothing: dict[str, Any] = {
        "suite": of.suite.key,
        "origin": comparable.origin,
        "rank": None,
        "low": None,
        "high": None,
        "of": 0,
        "others": {},
        "tie_class": "",
        "better": (),
        "worse": (),
        "comparable": comparable,
    }
    if of.suite.aggregate == HUMAN:
        return SuiteRank(**nothing, reason=f"{of.suite.key} is ranked by people, not by a mean over tasks")
    if reason := _mixed(of, np.ones(len(of.tasks), bool)):
        return SuiteRank(**nothing, reason=reason)
    rows = [] if others is None else [at for at, key in enumerate(others.models) if key != model.key]
    if others is None or not rows:
        which = "" if comparable.origin == ALL else f"{comparable.origin} "
        remedy = (
            f", but {listed(instead)} ones: {' or '.join(f'rank({name!r})' for name in instead)}" if instead else ""
        )
        return SuiteRank(**nothing, reason=f"{of.suite.key} has no {which}scores of other models{remedy}")
    values, stderr = row_of(scores, of)
    columns = [others.tasks.index(task.key) for task in of.tasks]
    categories = [others.categories.index(name) for name in of.categories]
    result = of.standings(
        np.vstack([values, others.values[np.ix_(rows, columns)]]),
        np.vstack([stderr, others.stderr[np.ix_(rows, columns)]]),
        printed=np.vstack([np.full((1, len(categories)), np.nan), others.printed[np.ix_(rows, categories)]]),
    )
    ranked = result.ranking
    if result.why[0]:
        return SuiteRank(**nothing, reason=result.why[0].removeprefix("Not ranked: "))
    names = (model.key, *(others.models[at] for at in rows))
    known = ranked.rank_low[0] != UNRANKED
    placed = Counter(others.origins[at] for at, rank in zip(rows, ranked.rank[1:], strict=True) if rank != UNRANKED)
    return SuiteRank(
        **nothing
        | {
            "rank": int(ranked.rank[0]),
            "low": int(ranked.rank_low[0]) if known else None,
            "high": int(ranked.rank_high[0]) if known else None,
            "of": 1 + placed.total(),
            "others": {origin: placed[origin] for origin in ORIGINS if placed[origin]},
            "tie_class": result.ties[0],
            "better": tuple(names[at] for at in np.flatnonzero(ranked.better[:, 0])),
            "worse": tuple(names[at] for at in np.flatnonzero(ranked.better[0])),
        },
        reason=ranked.unknown[0],
    )
