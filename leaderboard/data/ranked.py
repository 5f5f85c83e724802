"""The ranking of a suite's rows under one choice of weights, tasks and coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis.ranks import ranking, standings
from compute.analysis.ranks.anchored import anchor
from compute.types import BadInput
from leaderboard.data.mean_rule import changed_rule
from leaderboard.data.suite_table import PARTIAL, PRINTED, SuiteTable

SHARED = ("rank", "rank_low", "rank_high", "mean", "mean_low", "mean_high", "few", "unknown")  # of compute.analysis too


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """The ranking of a table under one choice of weights, tasks and coverage; each origin is ranked by itself.

    Arrays are [rows], in stored units; a missing rank is -1, a missing mean NaN.
    """

    rank: np.ndarray
    rank_low: np.ndarray  # of the interval, which covers at least 95%
    rank_high: np.ndarray
    better: np.ndarray  # bool [rows, rows], the row is significantly better than the column; False between origins
    ties: tuple[str, ...]  # letter of the tie class, empty where the interval is not known
    mean: np.ndarray
    mean_low: np.ndarray  # of the 95% interval, within the metrics' bounds
    mean_high: np.ndarray
    few: np.ndarray  # bool, the intervals rest on few tasks; that of the mean covers at least 95%
    unknown: tuple[str, ...]  # why a ranked row's intervals and class are not known, empty where they are
    fixed: tuple[str, ...]  # categories that count and have one task: the intervals are about that task alone
    borda: np.ndarray
    coverage: np.ndarray  # share of the counting tasks with a readable score
    covered: np.ndarray  # the same with the tasks for which a printed mean stands in: what the minimum is compared with
    why: tuple[str, ...]  # empty when ranked
    scores: np.ndarray  # [rows, task columns] behind the means; printed means replace figures that are lost
    category_means: np.ndarray  # [rows, categories], the means that count
    changed: str  # of the suite's own rule, in words; empty: nothing
    counted: np.ndarray  # bool [task columns], the tasks behind the means
    marks: np.ndarray  # int [rows, categories]: PARTIAL, a mean without some tasks; PRINTED, the paper's own


def rank(
    table: SuiteTable,
    *,
    weights: dict[str, float] | None = None,
    tasks: frozenset[str] | None = None,
    coverage: float | None = None,
) -> Ranked | None:
    """Ranks every row, or None for a suite that people rank. Raises BadInput for weights or tasks that make no mean.

    weights by category (others have the suite's own), tasks the keys that count (None: all), coverage the least share
    of them.
    """
    if not table.categories or not table.rows:
        return None
    unknown = sorted(set(weights or {}) - set(table.categories))
    if unknown:
        raise BadInput(f"{table.suite['key']} has no category {unknown[0]!r}; it has: {', '.join(table.categories)}")
    if tasks is not None and not tasks & {column.task for column in table.columns}:
        raise BadInput(f"None of the chosen tasks is part of {table.suite['key']}. Choose others, or clear the choice")
    by_category = np.array([*table.weights(weights).values(), 0.0])
    counted = np.array([float(column.ranked and (tasks is None or column.task in tasks)) for column in table.columns])
    scores, stands_in = anchor(scores=table.values, categories=table.codes, means=table.printed, counted=counted > 0)
    used = standings.counting(categories=table.codes, weights=by_category, task_weights=counted)
    higher = np.array([column.higher for column in table.columns])
    rule = {"categories": table.codes, "task_weights": counted, "higher": higher}
    origins = np.array([row.origin for row in table.rows])
    # No mean lies beyond the bounds of its metrics.
    bounds = (
        min((column.lower for column, counts in zip(table.columns, used, strict=True) if counts), default=-np.inf),
        max((column.upper for column, counts in zip(table.columns, used, strict=True) if counts), default=np.inf),
    )
    frames, fixed = [], ()
    better = np.zeros((len(table.rows), len(table.rows)), bool)
    for origin in dict.fromkeys(origins):
        rows = np.flatnonzero(origins == origin)
        of_origin = standings.standings(
            scores=scores[rows],
            stderr=table.stderr[rows],
            aggregate=table.suite["aggregate"],
            weights=by_category,
            least=float(table.suite["minimum_coverage"]) if coverage is None else coverage,
            scales=np.array([str(column.scale) for column in table.columns]),
            printed=np.column_stack([stands_in[rows], np.zeros(len(rows), bool)]),
            bounds=bounds,
            names=(*table.categories, ""),
            **rule,
        )
        columns = {name: getattr(of_origin.ranking, name) for name in SHARED}
        fixed = tuple(table.categories[code] for code in of_origin.ranking.fixed)
        columns["borda"] = ranking.borda(scores=table.values[rows][:, used], higher=higher[used]).total
        better[np.ix_(rows, rows)] = of_origin.ranking.better
        columns |= {"ties": of_origin.ties, "covered": of_origin.covered, "why": of_origin.why}
        frames.append(pd.DataFrame(columns, index=rows))
    ranked = pd.concat(frames).sort_index()
    means = ranking.aggregate(scores=scores, **rule, weights=np.append(np.ones(len(table.categories)), 0.0))
    missing = np.isnan(table.values) & (counted > 0)
    left_out = np.array([column.ranked for column in table.columns]) & (counted == 0)
    some = missing | left_out
    partial = np.stack([some[:, table.codes == code].any(axis=1) for code in range(len(table.categories))], axis=1)
    marks = np.where(stands_in, PRINTED, np.where(partial & ~np.isnan(means.category_means[:, :-1]), PARTIAL, 0))
    return Ranked(
        **{name: ranked[name].to_numpy() for name in (*SHARED, "borda", "covered") if name != "unknown"},
        unknown=tuple(ranked["unknown"]),
        better=better,
        fixed=fixed,
        changed=changed_rule(table, weights=weights, tasks=tasks, coverage=coverage),
        ties=tuple(ranked["ties"]),
        why=tuple(ranked["why"]),
        counted=counted > 0,
        marks=marks,
        scores=scores,
        coverage=(~np.isnan(table.values[:, used])).mean(axis=1),
        category_means=means.category_means[:, : len(table.categories)],
    )
