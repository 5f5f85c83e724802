"""Two to six rows of a suite compared by their mean, a category or a task: values, paired differences, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from compute.analysis.comparison import Comparison, compared
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import listed
from compute.analysis.significance import holm
from compute.analysis.table import ALL, ScoreTable
from compute.types import ORIGINS, BadInput
from leaderboard.data.board_table import PEOPLE, BoardTable, SuiteColumn
from leaderboard.data.mean_rule import changed_rule, rule
from leaderboard.data.payload import NO_VOTES
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.labels import is_synthetic

MOST = 6
NO_ERROR = "the standard error of a score is not known"
Reading = Literal["better", "worse", "same", "unknown", "none"]


class ComparedValue(NamedTuple):
    """One row's value on one line, in shown units; NaN: none, or for the ends not known."""

    value: float
    low: float  # of the 95% interval
    high: float
    few: bool  # the interval rests on so few tasks that it covers at least 95%
    marks: int  # bits as of a cell of the board


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """A row minus the reference on one line, in shown units.

    `reading` is what the board of the mean or category as a whole says: significantly better or worse, the same as far
    as can be told, unknown noise, or none where nothing can be subtracted. Where the test is about items of the same
    tasks, of which no board is made, it holds at ALPHA over all tests of the line, by Holm's method.
    """

    name: str
    difference: float
    low: float  # of the 95% interval; NaN: not known
    high: float
    p: float  # two-sided, by itself; NaN: not known
    tasks: int  # that both have
    about: str  # what interval and p say: of other "tasks" of the kinds, or of other "items" of these tasks
    only: tuple[str, ...]  # the categories of a mean that both have scores in, where others count too; else empty
    why: str  # there is no difference, or no interval; else empty
    reading: Reading


@dataclass(frozen=True, kw_only=True)
class ComparedLine:
    """A mean, a category or a task: every row's value, and every other row's difference to the first.

    The parts of a mean are its categories, those of a category its tasks that count.
    """

    names: tuple[str, ...]  # of the rows; the first is the reference of the others
    key: str  # empty: the mean
    title: str
    group: str  # of a task: the category
    kind: Literal["mean", "category", "task"]
    about: str  # the rule of a mean, the metric of a column
    higher: bool
    percent: bool
    digits: int
    values: tuple[ComparedValue, ...]  # in the order of the names
    tests: tuple[PairedTest, ...]  # of the second name and those after it
    parts: tuple[ComparedLine, ...] = ()

    @property
    def tasks(self) -> list[ComparedLine]:
        """The lines of its tasks; of a task its own."""
        return [self] if self.kind == "task" else [task for part in self.parts for task in part.tasks]


def compare(
    table: BoardTable,
    ranked: Ranking | None,
    *,
    rows: Sequence[str],
    by: str = "",
) -> ComparedLine:
    """Compares every chosen row with the first. `by` is the key of a column, anything else means the mean.

    Raises BadInput unless two to six different rows are given.
    """
    chosen = list(dict.fromkeys(rows))
    if not 2 <= len(chosen) <= MOST:
        raise BadInput(f"A comparison takes two to {MOST} rows, not {len(chosen)}. Choose others")
    indices = [table.row(row_id) for row_id in chosen]
    lines = _Lines(table, ranked, rows=indices)
    column = table.by_key.get(by)
    if column is None and ranked is None:  # where people rank, their column is what the mean of others is
        column = table.columns[table.people or 0]
    if column is None:
        parts = tuple(lines.category(one) for one in table.category_columns if lines.counts(one))
        return replace(lines.mean(), parts=parts)
    return lines.category(column) if column.kind == "family" else lines.of_task(table.columns.index(column))


def mean_difference(table: BoardTable, ranked: Ranking, row: int, *, first: int) -> ComparedLine:
    """The mean line of two rows of a ranking, by their indices: `row` minus `first`."""
    return _Lines(table, ranked, rows=[first, row]).mean()


def common_ground(suite_cache: SuiteCache, models: Sequence[str], *, suite: str, origin: str) -> tuple[str, str]:
    """The suite and the origin in which the models share most tasks, of those that are left open (empty).

    First come those in which most of the models have scores, of one origin before ALL, of real items before synthetic
    ones; of equals, the suite with fewest other tasks.
    """
    best: tuple[Any, ...] = ()
    for key in [suite] if suite else suite_cache.suites():
        table = suite_cache.table(key)
        for each in [origin] if origin else dict.fromkeys((table.origin, *ORIGINS, ALL)):
            rows = [row for row in rows_of(table, models, origin=each) if row is not None]
            counting = np.array([column.ranked for column in table.columns])
            counting = counting if counting.any() else ~counting
            shared = int((~np.isnan(table.scores.values[rows]).any(axis=0) & counting).sum()) if rows else 0
            real = not is_synthetic(table.suite["benchmark"])
            merit = (len(rows), shared > 0, each != ALL, real, shared, -int(counting.sum()))
            if not best or merit > best[0]:
                best = (merit, key, each)
    return best[1:]


def rows_of(table: BoardTable, models: Sequence[str], *, origin: str) -> list[int | None]:
    """The row of each model: of the origin in its name, else of `origin`; of ALL, its fullest."""
    at = {row.id: index for index, row in enumerate(table.rows)}
    everything = np.ones(len(table.columns), bool)

    def row(name: str) -> int | None:
        own = [at[key] for key in (name, *(f"{name}~{each}" for each in ORIGINS)) if key in at]
        if "~" not in name and origin != ALL:
            own = [index for index in own if table.rows[index].origin == origin]
        return table.fullest_row(own, columns=everything) if own else None

    return [row(name) for name in models]


class _Lines:
    """Makes the lines of one comparison."""

    def __init__(self, table: BoardTable, ranked: Ranking | None, *, rows: list[int]) -> None:
        self.table, self.ranked, self.rows, self.names = table, ranked, rows, names_of(table, rows)
        # Those behind the means
        self.scores = table.scores if ranked is None else replace(ranked.table, values=ranked.scores)

    def counts(self, category: SuiteColumn) -> bool:
        """Whether a category has a weight and a task that counts."""
        scores = self.ranked.table
        return bool(scores.counted[scores.codes == scores.categories.index(category.key)].any())

    def mean(self) -> ComparedLine:
        ranked, changed = self.ranked, changed_rule(self.table, self.ranked)
        title = "Your mean" if changed else "Mean"
        column = replace(self.table.category_columns[0], key="", title=title, higher=ranked.higher_is_better)
        ends = [each[self.rows] for each in (ranked.mean, ranked.mean_low, ranked.mean_high)]
        tests = self._tests(self.scores, column, board=ranked)
        return self._line(column, "mean", rule(self.table, changed), ends, tests, few=ranked.few[self.rows])

    def category(self, column: SuiteColumn) -> ComparedLine:
        """A category with its tasks that count."""
        ranked, scores = self.ranked, self.scores.within(column.key)
        code = scores.categories.index(column.key)
        own = Ranking.of(replace(ranked.table.within(column.key).rows(self.rows), least=0.0))
        has_score = ~np.isnan(self.table.scores.values[self.rows]).all(axis=0)
        inside = (scores.codes == code) & ranked.table.chosen & has_score
        return self._line(
            column,
            "category",
            f"Mean of its tasks, {column.metric_title}",
            [ranked.category_means[self.rows, code], own.mean_low, own.mean_high],
            self._tests(scores, column, board=ranked.by_category[code]),
            few=own.few & ~np.isnan(own.mean_low),
            marks=self.table.mean_marks(ranked)[self.rows, code],
            parts=tuple(map(self.of_task, np.flatnonzero(inside).tolist())),
        )

    def of_task(self, index: int) -> ComparedLine:
        """A task by its items: the rows' own scores, though a category may take a printed mean instead."""
        column, scores = self.table.columns[index], self.table.scores.values[self.rows, index]
        low, high = np.array([self.table.interval(row, index) for row in self.rows]).T
        rule = {"aggregate": "task-mean", "weights": None, "task_weights": None}  # that of a human suite has no mean
        task = replace(self.table.scores.columns([index]), codes=None, categories=(column.title,), printed=None, **rule)
        tests = []
        for at, name in enumerate(self.names[1:], start=1):
            one = compared(task, self.rows[at], self.rows[0])
            why = one.reason and (NO_VOTES if column.group == PEOPLE else NO_ERROR)
            if np.isnan(one.difference):
                without = [self.names[one] for one in (0, at) if np.isnan(scores[one])]
                why = f"{listed(without)} {'has' if len(without) == 1 else 'have'} no score"
            tasks = int(not np.isnan(one.difference))
            tests.append(replace(_test(name, one, task, column, tasks=tasks), why=why))
        tests = _read(tests, higher=column.higher)
        marks = self.table.marks[self.rows, index]
        return self._line(column, "task", column.metric_title, [scores, low, high], tests, marks=marks)

    def _line(
        self,
        column: SuiteColumn,
        kind: Literal["mean", "category", "task"],
        about: str,
        ends: list[np.ndarray],  # the rows' values and the ends of their intervals, in stored units
        tests: list[PairedTest],
        *,
        few: np.ndarray | None = None,
        marks: np.ndarray | None = None,
        parts: tuple[ComparedLine, ...] = (),
    ) -> ComparedLine:
        nothing = np.zeros(len(self.rows), int)
        few, marks = (nothing > 0 if few is None else few).tolist(), (nothing if marks is None else marks).tolist()
        shown = zip((column.scale * np.stack(ends)).T.tolist(), few, marks, strict=True)
        return ComparedLine(
            **{name: getattr(column, name) for name in ("key", "title", "group", "higher", "digits")},
            names=self.names,
            kind=kind,
            about=about,
            percent=column.scale == 100,
            values=tuple(ComparedValue(*numbers, *more) for numbers, *more in shown),
            tests=tuple(tests),
            parts=parts,
        )

    def _tests(self, scores: ScoreTable, column: SuiteColumn, *, board: Ranking | None) -> list[PairedTest]:
        """Every other row against the first, over the tasks that count in `scores`, read as the board does."""
        first, stands_in, counting = self.rows[0], self.ranked.stands_in, scores.counted
        tests = []
        for name, row in zip(self.names[1:], self.rows[1:], strict=True):
            pair = [row, first]
            one = compared(scores, row, first, stands_in=stands_in[pair].any(axis=0))
            both, own = (~np.isnan(each.values[pair].sum(axis=0)) & counting for each in (scores, self.table.scores))
            of = {name: scores.codes == code for code, name in enumerate(scores.categories)}
            needed = [name for name, inside in of.items() if counting[inside].any()]
            shared = tuple(name for name in needed if both[of[name]].any())
            only = shared if len(shared) < len(needed) else ()
            tests.append(_test(name, one, scores, column, tasks=int(own.sum()), only=only))
        tests = _read(tests, higher=bool(scores.higher[counting].all()))
        for at, row in enumerate(self.rows[1:]):
            if board is not None and board.decided[row, first]:
                reading = "better" if board.better[row, first] else "worse" if board.better[first, row] else "same"
                tests[at] = replace(tests[at], reading=reading)
        return tests


def _test(
    name: str, one: Comparison, scores: ScoreTable, column: SuiteColumn, *, tasks: int, only: tuple[str, ...] = ()
) -> PairedTest:
    """A comparison in shown units, before Holm's method over its line."""
    widest = float((scores.upper - scores.lower)[scores.counted].max())  # no two scores lie further apart
    low, high = (float(end) * column.scale for end in np.clip([one.low, one.high], -widest, widest))
    return PairedTest(
        name=name,
        difference=one.difference * column.scale,
        low=low,
        high=high,
        p=one.p,
        tasks=tasks,
        about=one.about,
        only=only,
        why=one.reason,
        reading="none" if np.isnan(one.difference) else "unknown" if one.reason else "same",
    )


def _read(tests: Sequence[PairedTest], *, higher: bool) -> list[PairedTest]:
    """The tests of one line with their readings: of those about items, by Holm's method."""
    known = [at for at, test in enumerate(tests) if test.reading == "same" and test.about == "items"]
    out = list(tests)
    if known:
        for at, passes in zip(known, holm([tests[at].p for at in known]), strict=True):
            if passes:
                better = (tests[at].difference > 0) == higher
                out[at] = replace(tests[at], reading="better" if better else "worse")
    return out


def names_of(table: BoardTable, indices: list[int]) -> tuple[str, ...]:
    """Titles, with the origin where the rows are of several."""
    rows = [table.rows[row] for row in indices]
    several = len({row.origin for row in rows}) > 1
    return tuple(f"{table.models.loc[row.model, 'title']}{f' ({row.origin})' * several}" for row in rows)
