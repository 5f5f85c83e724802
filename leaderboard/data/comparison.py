"""Comparison of two to six rows of a suite by their mean, a category or a task: values, paired differences,
sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from compute.analysis.comparison import Comparison, compared
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import listed
from compute.analysis.significance import ALPHA, holm
from compute.analysis.table import ALL, ScoreTable
from compute.types import BadInput, counted, origins_in
from leaderboard.data.board_table import PEOPLE, BoardTable, SuiteColumn
from leaderboard.data.mean_rule import changed_rule, rule
from leaderboard.data.payload import NO_VOTES
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import number
from leaderboard.html.labels import is_synthetic

MOST = 6
MOST_NAMED = 6  # categories or tasks in a sentence; of more the number is given
NO_ERROR = "the standard error of a score is not known"
# Of the names of several rows, in one sentence; {0} is they, then come the verbs of one and of more.
SEVERAL = {
    "better": ("{0} {1} significantly better", "is", "are"),
    "worse": ("{0} {1} significantly worse", "is", "are"),
    "alone": ("{0} {1} significantly by itself only", "differs", "differ"),
    "same": ("{0} {1} not differ significantly", "does", "do"),
    "unknown": ("the difference {1} of unknown significance for {0}", "is", "is"),
    "none": ("{0} cannot be compared", "", ""),
}


class ComparedValue(NamedTuple):
    """One row's value on one line, in shown units; NaN for a missing value or an unknown end."""

    value: float
    low: float  # of the 95% interval
    high: float
    few: bool  # the interval rests on so few tasks that it covers at least 95%
    marks: int = 0  # bits as of a cell of the board


@dataclass(frozen=True, kw_only=True)
class ComparedLine:
    """A mean, a category or a task: the value of every row, and every other row compared with the first, in shown
    units.

    The parts of a mean are its categories, those of a category its tasks that count. Tests are read as the board of the
    mean or category decides; those about items of the same tasks, of which no board is made, by Holm's method over the
    line.
    """

    names: tuple[str, ...]  # of the rows; the first is the reference of the others
    column: SuiteColumn  # without a key: the mean
    kind: Literal["mean", "category", "task"]
    about: str  # the rule of a mean, the metric of a column
    values: tuple[ComparedValue, ...]  # in the order of the names
    tests: tuple[Comparison, ...]  # of the second name and those after it
    parts: tuple[ComparedLine, ...] = ()

    @property
    def tasks(self) -> list[ComparedLine]:
        """Returns the lines of its tasks; for a task, its own line."""
        return [self] if self.kind == "task" else [task for part in self.parts for task in part.tasks]

    @property
    def place(self) -> str:
        """Returns its title for use within a sentence."""
        return {"Mean": "the mean", "Your mean": "your mean"}.get(self.column.title, self.column.title)

    @property
    def widest(self) -> float:
        """Returns the largest absolute difference to the first row; −1 if none is known."""
        return max((abs(test.difference) for test in self.tests if test.reading != "none"), default=-1.0)

    def text(self, value: float) -> str:
        """Formats a difference with its sign and one more digit than the scores have."""
        return number(value, digits=self.column.digits + 1, sign=True)

    def of_pair(self, test: Comparison, place: str) -> str:
        """Returns the sentence of one of its tests."""
        return test.sentence(place, text=self.text, unit=" points" * bool(self.column.unit), counts=self.kind != "task")

    def sentence(self) -> str:
        """Describes which rows are better than the first; for two rows, also by how much and with what certainty."""
        if len(self.tests) == 1:
            return self.of_pair(self.tests[0], self.place)
        parts = []
        for kind, (words, of_one, of_many) in SEVERAL.items():
            those = [test for test in self.tests if _kind(test) == kind]
            if those:
                words = words.format(listed([test.a for test in those]), of_one if len(those) == 1 else of_many)
                partial, reasons = [test.a for test in those if test.only], {test.reason for test in those}
                because = {"unknown": ", because {}", "none": " ({})"}.get(kind, "") if len(reasons) == 1 else ""
                scope = f" ({listed(partial)} over fewer categories)" if partial else ""
                parts.append(words + scope + because.format(*reasons))
        return f"Compared with {self.names[0]} in {self.place}, {'; '.join(parts)}."

    def ahead(self) -> str:
        """Describes which rows are significantly ahead of the first in which categories, or tasks if only one category
        is compared. Empty for a task, and if no noise is known.
        """
        lines, noun = self.parts, "category"
        if self.kind != "mean" or len(lines) < 2:
            lines, noun = self.tasks, "task"
        known = {test.reading for line in lines for test in line.tests} & {"better", "worse", "same"}
        if self.kind == "task" or not known:
            return ""
        first, *others = self.names
        sentences, level = [], []
        for at, name in enumerate(others):
            parts = []
            for words, reading in (("ahead", "better"), ("behind", "worse")):
                if titles := [line.column.title for line in lines if line.tests[at].reading == reading]:
                    place = listed(titles) if len(titles) <= MOST_NAMED else counted(len(titles), noun)
                    parts.append(f"{words} in {place}")
            if parts:
                sentences.append(f"{name} is {' and '.join(parts)}")
            else:
                level.append(name)
        if len(others) == 1:
            for words, readings in (("not significant", ("same",)), ("of unknown significance", ("unknown", "none"))):
                if count := sum(line.tests[0].reading in readings for line in lines):
                    sentences.append(f"the difference is {words} in {counted(count, noun)}")
        elif level:
            sentences.append(f"{listed(level)} {'is' if len(level) == 1 else 'are'} not significantly ahead or behind")
        return f"Compared with {first}, {'; '.join(sentences)}."


def _kind(test: Comparison) -> str:
    """Returns the key of a test's outcome in SEVERAL."""
    return "alone" if test.reading == "same" and test.p <= ALPHA else test.reading


def compare(table: BoardTable, ranked: Ranking | None, rows: Sequence[int], *, by: str = "") -> ComparedLine:
    """Compares every chosen row with the first. `by` is the key of a column; anything else means the mean.

    Raises BadInput unless two to six different rows are given.
    """
    chosen = list(dict.fromkeys(rows))
    if not 2 <= len(chosen) <= MOST:
        raise BadInput(f"A comparison takes two to {MOST} rows, not {len(chosen)}. Choose others")
    column = table.by_key.get(by)
    if column is None and ranked is None:  # where people rank, their column is what the mean of others is
        column = table.columns[table.people or 0]
    if column is not None:
        index = -1 if column.kind == "family" else table.columns.index(column)
        return _category(table, ranked, chosen, column) if index < 0 else _of_task(table, chosen, index)
    counted = ranked.table.codes[ranked.table.counted]
    own = [one for code, one in enumerate(table.category_columns) if code in counted]
    return replace(of_mean(table, ranked, chosen), parts=tuple(_category(table, ranked, chosen, one) for one in own))


def of_mean(table: BoardTable, ranked: Ranking, rows: Sequence[int]) -> ComparedLine:
    """Returns the mean line of some rows of a ranking, by their indices."""
    changed = changed_rule(table, ranked)
    column = table.category_columns[0]._replace(
        key="", title="Your mean" if changed else "Mean", higher=ranked.higher_is_better
    )
    ends = [each[rows] for each in (ranked.mean, ranked.mean_low, ranked.mean_high, ranked.few)]
    scores = replace(ranked.table, values=ranked.scores)
    return _line(table, rows, column, "mean", rule(table, changed), ends, scores, ranked.stands_in, board=ranked)


def _category(table: BoardTable, ranked: Ranking, rows: Sequence[int], column: SuiteColumn) -> ComparedLine:
    """Returns the line of a category, with its tasks that count."""
    code = ranked.table.categories.index(column.key)
    scores = replace(ranked.table, values=ranked.scores).within(column.key)
    own = Ranking.of(replace(ranked.table.within(column.key).rows(rows), least=0.0))
    has_score = ~np.isnan(table.scores.values[rows]).all(axis=0)
    inside = np.flatnonzero((scores.codes == code) & ranked.table.chosen & has_score)
    means, marks = (each[rows, code] for each in (ranked.category_means, table.mean_marks(ranked)))
    ends = [means, own.mean_low, own.mean_high, own.few & ~np.isnan(own.mean_low), marks]
    about, board = f"Mean of its tasks, {column.metric_title}", ranked.by_category[code]
    line = _line(table, rows, column, "category", about, ends, scores, ranked.stands_in, board=board)
    return replace(line, parts=tuple(_of_task(table, rows, index) for index in inside.tolist()))


def _of_task(table: BoardTable, rows: Sequence[int], index: int) -> ComparedLine:
    """Returns the line of a task, by its items: the rows' own scores, even if a category uses a printed mean
    instead.
    """
    column, scores = table.columns[index], table.scores
    rule = {"aggregate": "task-mean", "weights": None, "task_weights": None}  # that of a human suite has no mean
    task = replace(scores.columns([index]), codes=None, categories=(column.title,), printed=None, **rule)
    values, low, high, marks = (each[rows, index] for each in (scores.values, table.low, table.high, table.marks))
    return _line(table, rows, column, "task", column.metric_title, [values, low, high, values < values, marks], task)


def common_ground(
    suite_cache: SuiteCache, models: Sequence[str], *, suite: str, origin: str, by: str = ""
) -> tuple[str, str]:
    """Returns the suite and the origin in which the models share most tasks, for those not given (empty), among suites
    with a column `by`, if there are any.

    Suites in which most of the models have scores come first, then one origin before ALL, then real items before
    synthetic ones. Ties go to the suite with fewest other tasks.
    """
    found: list[tuple[Any, ...]] = []
    for key in [suite] if suite else suite_cache.suites():
        table = suite_cache.table(key)
        counting = np.array([column.ranked for column in table.columns], bool)
        counting = counting if counting.any() else ~counting
        real = not is_synthetic(table.suite["benchmark"])
        for each in [origin] if origin else dict.fromkeys((table.origin, *origins_in(table.scores.origins), ALL)):
            rows = [row for row in rows_of(table, models, origin=each) if row is not None]
            shared = int((~np.isnan(table.scores.values[rows]).any(axis=0) & counting).sum()) if rows else 0
            found.append(
                (
                    (by in table.by_key, len(rows), shared > 0, each != ALL, real, shared, -int(counting.sum())),
                    key,
                    each,
                )
            )
    return max(found, key=itemgetter(0))[1:]


def rows_of(table: BoardTable, models: Sequence[str], *, origin: str) -> list[int | None]:
    """Returns the row of each model: of the origin in its name, else of `origin`; for ALL, its most complete row."""
    at = {row.id: index for index, row in enumerate(table.rows)}

    origins = origins_in(table.scores.origins)

    def row(name: str) -> int | None:
        own = [at[key] for key in (name, *(f"{name}~{each}" for each in origins)) if key in at]
        if "~" not in name and origin != ALL:
            own = [index for index in own if table.rows[index].origin == origin]
        return table.fullest_row(own) if own else None

    return [row(name) for name in models]


def _line(
    table: BoardTable,
    rows: Sequence[int],
    column: SuiteColumn,
    kind: Literal["mean", "category", "task"],
    about: str,
    ends: Sequence[np.ndarray],  # [rows] each, as in ComparedValue, in stored units
    scores: ScoreTable,
    stands_in: np.ndarray | None = None,  # [rows of the table, categories], of a mean
    *,
    board: Ranking | None = None,
) -> ComparedLine:
    """Compares every other row with the first over the tasks that count in `scores`; `n` is the number of tasks with
    own scores.
    """
    own = [table.rows[row] for row in rows]
    several = len({row.origin for row in own}) > 1
    names = tuple(f"{row.title}{f' ({row.origin})' * several}" for row in own)
    tests = []
    for at, row in enumerate(rows[1:], start=1):
        pair = [row, rows[0]]
        one = compared(scores, *pair, stands_in=None if stands_in is None else stands_in[pair].any(axis=0))
        reason = one.reason
        if kind == "task" and reason:
            without = [names[which] for which in (0, at) if np.isnan(ends[0][which])]
            why = NO_VOTES if column.group == PEOPLE else NO_ERROR
            reason = f"{listed(without)} {'has' if len(without) == 1 else 'have'} no score" if without else why
        values = (scores if kind == "task" else table.scores).values[pair].sum(axis=0)
        one = replace(
            one,
            a=names[at],
            b=names[0],
            n=int((~np.isnan(values) & scores.counted).sum()),
            reason=reason,
            decided="unknown" if reason else "same",
            **{end: getattr(one, end) * column.scale for end in ("difference", "low", "high")},
        )
        tests.append(one)
    known = [at for at, test in enumerate(tests) if test.reading == "same" and test.about == "items"]
    for at, passes in zip(known, holm([tests[at].p for at in known]), strict=True):
        if passes:
            tests[at] = replace(tests[at], decided=replace(tests[at], decided=None).reading)
    if board is not None:
        tests = [test.on_board(board, row, rows[0]) for test, row in zip(tests, rows[1:], strict=True)]
    values = tuple(
        ComparedValue(value * column.scale, low * column.scale, high * column.scale, *more)
        for value, low, high, *more in zip(*(end.tolist() for end in ends), strict=True)
    )
    return ComparedLine(names=names, column=column, kind=kind, about=about, values=values, tests=tuple(tests))
