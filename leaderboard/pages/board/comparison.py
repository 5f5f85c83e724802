"""Two to six rows of a suite compared by what the table is sorted by: values, paired differences and their noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from compute.analysis.intervals import score_interval
from compute.analysis.ranks import ranking, variance
from compute.analysis.ranks.ties import paired_differences
from compute.analysis.significance import holm
from compute.types import BadInput
from leaderboard.data.mean_rule import rule
from leaderboard.data.payload import NO_VOTES
from leaderboard.data.ranked import Ranked
from leaderboard.data.suite_table import PRINTED, SuiteColumn, SuiteTable

MOST = 6
ALPHA = 0.05
NO_ERROR = "the standard error of a score is not known"
Reading = Literal["better", "worse", "same", "unknown", "none"]


@dataclass(frozen=True, kw_only=True)
class ComparedValue:
    """One row's value on one line, in shown units; NaN: none, or for the ends not known."""

    value: float
    low: float  # of the 95% interval
    high: float
    few: bool  # the interval rests on so few tasks that it covers at least 95%
    marks: int  # bits as of a cell of the board


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """A row minus the reference on one line, in shown units.

    `reading` holds at ALPHA over all tests of the line, by Holm's method: significantly better or worse, the same as
    far as can be told, unknown noise, or none where nothing can be subtracted.
    """

    name: str
    difference: float
    low: float  # of the 95% interval; NaN: not known
    high: float
    p: float  # two-sided, by itself; NaN: not known
    tasks: int  # that both have
    few: bool  # so few tasks that the interval covers at least 95%
    fixed: tuple[str, ...]  # categories of one shared task: the interval is about that task alone
    only: tuple[str, ...]  # the categories of a mean that both have scores in, where others count too; else empty
    why: str  # there is no difference, or no interval; else empty
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class ComparedLine:
    """A mean, a category or a task: every row's value, and every other row's difference to the first."""

    key: str  # empty: the mean
    title: str
    kind: Literal["mean", "category", "task"]
    about: str  # the rule of a mean, the metric of a column
    higher: bool
    percent: bool
    digits: int
    values: tuple[ComparedValue, ...]  # in the order of the names
    tests: tuple[PairedTest, ...]  # of the second name and those after it


@dataclass(frozen=True, kw_only=True)
class ComparedCategory:
    """A category's own line (None where its tasks make no mean) and those of its tasks."""

    title: str
    line: ComparedLine | None
    tasks: tuple[ComparedLine, ...]


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """The rows compared. The first is the reference of the others."""

    names: tuple[str, ...]
    line: ComparedLine  # what the table is sorted by
    categories: tuple[ComparedCategory, ...]  # what it is made of


def compare(
    table: SuiteTable,
    ranked: Ranked | None,
    *,
    rows: Sequence[str],
    by: str = "",
    weights: dict[str, float] | None = None,
    tasks: frozenset[str] | None = None,
) -> RowComparison:
    """Compares every chosen row with the first. `by` is the key of a column, anything else means the mean.

    weights and tasks are those behind `ranked`. Raises BadInput unless two to six different rows are given.
    """
    chosen = list(dict.fromkeys(rows))
    if not 2 <= len(chosen) <= MOST:
        raise BadInput(f"A comparison takes two to {MOST} rows, not {len(chosen)}. Tick others in the table")
    indices = [table.row(row_id) for row_id in chosen]
    lines = _Lines(table, ranked, rows=indices, weights=weights, tasks=tasks)
    column = table.by_key.get(by)
    if column is None and ranked is None:  # where people rank, their column is what the mean of others is
        column = next((one for one in table.columns if one.group == "People"), table.columns[0])
    if column is None:
        counting = [one for one in table.category_columns if lines.counts(one)]
        return RowComparison(
            names=lines.names, line=lines.mean(), categories=tuple(lines.category(one) for one in counting)
        )
    if column.kind == "family":
        category = lines.category(column)
        return RowComparison(names=lines.names, line=lines.of_category(column), categories=(category,))
    line = lines.of_task(table.columns.index(column))
    return RowComparison(
        names=lines.names,
        line=line,
        categories=(ComparedCategory(title=column.group, line=None, tasks=(line,)),),
    )


class _Lines:
    """Makes the lines of one comparison."""

    def __init__(
        self,
        table: SuiteTable,
        ranked: Ranked | None,
        *,
        rows: list[int],
        weights: dict[str, float] | None,
        tasks: frozenset[str] | None,
    ) -> None:
        self.table, self.ranked, self.rows, self.names = table, ranked, rows, names_of(table, rows)
        self.weights = np.array([*table.weights(weights).values(), 0.0])
        self.counted = np.array(
            [float(column.ranked and (tasks is None or column.task in tasks)) for column in table.columns]
        )

    def counts(self, category: SuiteColumn) -> bool:
        """Whether a category has a weight and a task that counts."""
        code = self.table.categories.index(category.key)
        return bool(self.weights[code] > 0 and self.counted[self.table.codes == code].any())

    def mean(self) -> ComparedLine:
        first, ranked = self.table.category_columns[0], self.ranked
        values = [
            ComparedValue(
                value=ranked.mean[row] * first.scale,
                low=ranked.mean_low[row] * first.scale,
                high=ranked.mean_high[row] * first.scale,
                few=bool(ranked.few[row]),
                marks=0,
            )
            for row in self.rows
        ]
        counting = self.counted * self.weights[self.table.codes] > 0
        higher = all(column.higher for column, counts in zip(self.table.columns, counting, strict=True) if counts)
        return ComparedLine(
            key="",
            title="Your mean" if ranked.changed else "Mean",
            kind="mean",
            about=rule(self.table, ranked.changed),
            higher=higher,
            percent=first.scale == 100,
            digits=first.digits,
            values=tuple(values),
            tests=self._tests(weights=self.weights, counted=self.counted, scale=first.scale, higher=higher),
        )

    def category(self, column: SuiteColumn) -> ComparedCategory:
        """A category with its tasks that count."""
        code = self.table.categories.index(column.key)
        has_score = ~np.isnan(self.table.values[self.rows]).all(axis=0)
        members = np.flatnonzero((self.table.codes == code) & (self.counted > 0) & has_score).tolist()
        return ComparedCategory(
            title=column.title,
            line=self.of_category(column),
            tasks=tuple(self.of_task(index) for index in members),
        )

    def of_category(self, column: SuiteColumn) -> ComparedLine:
        code = self.table.categories.index(column.key)
        weights = np.zeros(len(self.weights))
        weights[code] = 1.0
        lows, highs, few = self._category_intervals(code, weights)
        values = [
            ComparedValue(
                value=self.ranked.category_means[row, code] * column.scale,
                low=low * column.scale,
                high=high * column.scale,
                few=bool(rests_on_few),
                marks=int(self.ranked.marks[row, code]),
            )
            for row, low, high, rests_on_few in zip(self.rows, lows, highs, few, strict=True)
        ]
        counted = self.counted * (self.table.codes == code)
        tests = self._tests(weights=weights, counted=counted, scale=column.scale, higher=column.higher)
        return _line(column, "category", f"Mean of its tasks, {column.metric_title}", values, tests)

    def of_task(self, index: int) -> ComparedLine:
        """A task by its items: the rows' own figures, though a printed mean may stand for them in a category."""
        column, stderr = self.table.columns[index], self.table.stderr[self.rows, index]
        scores = self.table.values[self.rows, index]
        values = []
        for row, score, noise in zip(self.rows, scores, stderr, strict=True):
            low, high = self.table.own_interval(row, index)
            if np.isnan(low) and np.isfinite(noise):
                low, high = score_interval(value=score, stderr=noise, lower=column.lower, upper=column.upper)
            values.append(
                ComparedValue(
                    value=score * column.scale,
                    low=low * column.scale,
                    high=high * column.scale,
                    few=False,
                    marks=int(self.table.marks[row, index]),
                )
            )
        found = [
            paired_differences(
                a=scores[[at]],
                b=scores[[0]],
                stderr_a=stderr[[at]],
                stderr_b=stderr[[0]],
                categories=np.zeros(1, int),
                higher=np.array([column.higher]),
            )
            for at in range(1, len(self.rows))
        ]
        tests = [
            PairedTest(
                name=name,
                difference=one.mean * column.scale,
                low=_within(one.mean_low, column.upper - column.lower) * column.scale,
                high=_within(one.mean_high, column.upper - column.lower) * column.scale,
                p=one.p,
                tasks=int(not one.reason),
                few=False,
                fixed=(),
                only=(),
                why=self._no_score(index, at + 1)
                if one.reason
                else (NO_VOTES if column.group == "People" else NO_ERROR)
                if one.unknown
                else "",
                reading=_reading(one.mean, unknown=one.unknown, reason=one.reason),
            )
            for at, (name, one) in enumerate(zip(self.names[1:], found, strict=True))
        ]
        return _line(column, "task", column.metric_title, values, _read(tests, higher=column.higher))

    def _no_score(self, index: int, at: int) -> str:
        """Why a task has no difference between the first row and another."""
        first, other = (np.isnan(self.table.values[self.rows[one], index]) for one in (0, at))
        without = [name for name, no in ((self.names[0], first), (self.names[at], other)) if no]
        return f"{' and '.join(without)} {'has' if len(without) == 1 else 'have'} no score"

    def _tests(self, *, weights: np.ndarray, counted: np.ndarray, scale: float, higher: bool) -> tuple[PairedTest, ...]:
        table, ranked, first = self.table, self.ranked, self.rows[0]
        counting = counted * weights[table.codes] > 0
        widest = max(
            column.upper - column.lower for column, counts in zip(table.columns, counting, strict=True) if counts
        )
        tests = []
        for name, row in zip(self.names[1:], self.rows[1:], strict=True):
            result = paired_differences(
                a=ranked.scores[row],
                b=ranked.scores[first],
                stderr_a=table.stderr[row],
                stderr_b=table.stderr[first],
                categories=table.codes,
                task_weights=counted,
                printed=np.append((ranked.marks[[row, first]] & PRINTED).any(axis=0), False),
                names=(*table.categories, ""),
                weights=weights,
                aggregate=table.suite["aggregate"],
                higher=np.array([column.higher for column in table.columns]),
                scales=np.array([str(column.scale) for column in table.columns]),
            )
            own = ~np.isnan(table.values[row] - table.values[first])
            shared = [
                name
                for code, name in enumerate(table.categories)
                if not np.isnan(ranked.scores[[row, first]].sum(axis=0)[counting & (table.codes == code)]).all()
            ]
            needed = [name for code, name in enumerate(table.categories) if (counting & (table.codes == code)).any()]
            tests.append(
                PairedTest(
                    name=name,
                    difference=result.mean * scale,
                    low=_within(result.mean_low, widest) * scale,
                    high=_within(result.mean_high, widest) * scale,
                    p=result.p,
                    tasks=int((own & counting).sum()),
                    few=result.few,
                    fixed=tuple(table.categories[code] for code in result.fixed),
                    only=tuple(shared) if len(shared) < len(needed) else (),
                    why=result.reason or result.unknown,
                    reading=_reading(result.mean, unknown=result.unknown, reason=result.reason),
                )
            )
        return _read(tests, higher=higher)

    def _category_intervals(self, code: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The 95% interval of each row's mean of one category, and whether it rests on few tasks: three [rows]."""
        table, ranked, rows = self.table, self.ranked, self.rows
        blocks = ranking.blocks(
            categories=table.codes,
            weights=weights,
            aggregate=table.suite["aggregate"],
            task_weights=self.counted,
            tasks=len(table.columns),
        )
        nothing = np.full(len(rows), np.nan)
        if not blocks:
            return nothing, nothing, np.zeros(len(rows), bool)
        parts = variance.by_category(
            scores=ranked.scores[rows],
            stderr=table.stderr[rows],
            categories=table.codes,
            parts=blocks,
            printed=np.column_stack([(ranked.marks[rows] & PRINTED) > 0, np.zeros(len(rows), bool)]),
        )
        spread, dof = variance.of_means(parts)
        known = np.isfinite(spread)
        half = nothing.copy()
        half[known] = variance.half_width(variance=spread[known], dof=dof[known])
        middle, column = ranked.category_means[rows, code], table.category_columns[code]
        few = known & (variance.fewest_tasks(parts) <= variance.FEW)
        return np.maximum(middle - half, column.lower), np.minimum(middle + half, column.upper), few


def _line(
    column: SuiteColumn,
    kind: Literal["category", "task"],
    about: str,
    values: Sequence[ComparedValue],
    tests: Sequence[PairedTest],
) -> ComparedLine:
    return ComparedLine(
        key=column.key,
        title=column.title,
        kind=kind,
        about=about,
        higher=column.higher,
        percent=column.scale == 100,
        digits=column.digits,
        values=tuple(values),
        tests=tuple(tests),
    )


def _within(end: float, widest: float) -> float:
    """An end of a difference's interval: no two scores lie further apart than the bounds of their metric."""
    return float(np.clip(end, -widest, widest))


def _reading(difference: float, *, unknown: str, reason: str) -> Reading:
    """What can be said before the p values of a line are looked at together."""
    if reason or np.isnan(difference):
        return "none"
    return "unknown" if unknown else "same"


def _read(tests: Sequence[PairedTest], *, higher: bool) -> tuple[PairedTest, ...]:
    """The tests of one line with their readings, by Holm's method over those whose noise is known."""
    known = [at for at, test in enumerate(tests) if test.reading == "same"]
    out = list(tests)
    if known:
        for at, passes in zip(known, holm([tests[at].p for at in known], alpha=ALPHA), strict=True):
            if passes:
                better = (tests[at].difference > 0) == higher
                out[at] = replace(tests[at], reading="better" if better else "worse")
    return tuple(out)


def names_of(table: SuiteTable, indices: list[int]) -> tuple[str, ...]:
    """Titles, with the origin where two rows share one."""
    titles = [str(table.models.loc[table.rows[row].model]["title"]) for row in indices]
    return tuple(
        f"{title} ({table.rows[row].origin})" if titles.count(title) > 1 else title
        for title, row in zip(titles, indices, strict=True)
    )
