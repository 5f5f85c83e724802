"""A table of scores that somebody brings, checked and brought into arrays: wide or long, a frame or a file.

Wide: a row a model, a column a task; a column `<task>_stderr` holds the standard errors of `<task>`.
Long: a row a score, in the columns `model`, `task`, `value`, and optionally `stderr`, `n`, `category`,
`higher_is_better`.

What mteb gives is read as it is: a `BenchmarkResults`, and its frames, wide with a row a task or long. Names say which
columns describe the models, which sum up others, and where lower is better (`compute.io.column_names`); notes say so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np
import pandas as pd

from compute.analysis.table import ScoreTable, shown
from compute.interface import score_cells, score_frame
from compute.interface.score_frame import check_names
from compute.io.column_names import DOWN, LOWER, PERHAPS_SUM, UP, has_role, higher_is_better
from compute.io.tables import read_table
from compute.types import BadInput, argument, shortened

MIXED = 10.0  # times the largest score up to 1 of a column that its least one above 1 is where units may be mixed
APART = 20.0  # times the median score of the next task that one's is, from which on they have no mean
MOST_MODELS = 5000  # every two are compared: beyond this the comparisons take more than 2 GB
CUTOFF = re.compile(r"(?:@|_at_)\d+")  # recall@1, ndcg_at_10


class Framed(Protocol):
    """What turns itself into a frame, such as mteb's `BenchmarkResults`."""

    def to_dataframe(self) -> pd.DataFrame:
        """Its scores."""
        ...


TableOfScores = Annotated[
    pd.DataFrame | Path | str | Framed,
    "CSV, TSV, Excel, JSON Lines or Parquet: a row a model and a column a task, or the columns model, task, value and "
    "optionally stderr, n, category, higher_is_better.",
]


@dataclass(frozen=True, kw_only=True)
class ScoreReading:
    """How a table of scores is read: the arguments that rank, compare, correlate and lite share.

    A column whose name says that it sums up the others or describes the models, such as `Mean (Task)` or `Zero-shot`,
    is skipped unless an argument names it.
    """

    # Else `model`, a named index, or a first column of text.
    model: Annotated[str, "The column of models, where it is not named model."] = ""
    only: Annotated[Sequence[str], "The tasks to rank by, comma-separated; without it all."] = ()
    ignore: Annotated[Sequence[str], "Columns or tasks to omit, comma-separated."] = ()
    categories: Annotated[
        Mapping[str, Sequence[str]] | None, "A category and its tasks: NAME=TASK,TASK. Give it once for each."
    ] = None
    groups: Annotated[
        Mapping[str, Sequence[str]] | None,
        "Tasks that share their data, which intervals count as one: NAME=TASK,TASK, once for each.",
    ] = None
    # Here only the names in it count.
    weights: Annotated[Mapping[str, float] | None, "The weight of a category or task: NAME=NUMBER; others have 1."] = (
        None
    )
    lower_is_better: Annotated[Sequence[str], "Tasks of which lower is better, comma-separated."] = ()
    shares: Annotated[bool, "Values are shares of n correct answers, so their standard errors are known."] = False
    transpose: Annotated[bool, "The table has one row per task and one column per model."] = False

    @property
    def named(self) -> frozenset[str]:
        """Everything that an argument names as a task."""
        together = (*(self.categories or {}).values(), *(self.groups or {}).values())
        members = (task for tasks in together for task in tasks)
        return frozenset((*self.only, *self.lower_is_better, *members, *(self.weights or ())))

    def table(self, scores: TableOfScores) -> ScoreTable:
        """A frame, or a file (`compute.io.tables`), as arrays.

        Raises BadInput in one sentence that names the row, the column and what to do; of cells, all that are wrong.
        """
        frame, comma, notes = _opened(scores)
        frame, group_of = (frame, {}) if self.transpose else score_frame.grouped(score_frame.named(frame))
        frame, nameless = score_frame.without_nameless(score_frame.named(frame), model=self.model)
        model = self.model
        if self.transpose:
            first = model or frame.columns[0]
            check_names([first], frame.columns, what=argument("model"))
            frame, model = score_frame.named(frame.set_index(first).T.rename_axis("model")), ""
        elif model not in score_frame.MTEB_TASK:
            frame = score_frame.of_mteb(frame)
        if not len(frame):
            raise BadInput("The table has no rows below its heading. Add one for every model")
        shared = set(frame.columns[frame.columns.duplicated()])
        frame = frame.loc[:, ~frame.columns.duplicated()].reset_index(drop=True)
        roles = score_cells.roles_of(frame, model=model, ignore=self.ignore)
        if self.shares and "n" not in roles:
            raise BadInput("Shares need the number of answers behind each: a long table with the column n")
        how = {"model": model, "only": self.only, "ignore": self.ignore, "spoken": self.named}
        how |= {"comma": comma, "shared": shared}
        table = score_cells.long(frame, roles, shares=self.shares, **how) if roles else score_cells.wide(frame, **how)
        _check_units(table, named=self.named)
        if not table.tasks:
            raise BadInput("The table has no tasks: it needs a column of scores besides the column of models")
        if len(table.models) > MOST_MODELS:
            raise BadInput(
                f"The table has {len(table.models):,} models; at most {MOST_MODELS:,} can be compared. Choose some"
            )
        if perhaps := [task for task in table.tasks if has_role(task, PERHAPS_SUM)]:
            said = f"Counted as tasks: {shown(perhaps)}. Omit them ({argument('ignore')}) if they sum up the others."
            notes = (*notes, said)
        table = replace(table, notes=(*table.notes, *notes, *nameless))
        table = _directed(table, lower=self.lower_is_better, told="higher_is_better" in roles)
        if self.categories:
            of_task = _members(self.categories, table.tasks, noun="category")
            table = _categorised(table, of_task, order=self.categories)
        elif group_of:
            of_task = {task: group_of.get(task, task) for task in table.tasks}
            table = _categorised(table, of_task, order=dict.fromkeys(of_task.values()))
            said = f"Categories, by the first of two rows of headings: {shown(table.categories)}."
            table = replace(table, notes=(*table.notes, said))
        return _clustered(table, self.groups or {})


def _opened(scores: TableOfScores) -> tuple[pd.DataFrame, bool | None, tuple[str, ...]]:
    """The frame, whether its decimals have a comma as far as its file tells, and notes. Raises BadInput."""
    if hasattr(scores, "to_dataframe"):
        return scores.to_dataframe(), None, ()
    if isinstance(scores, pd.DataFrame):
        return scores, None, ()
    if not isinstance(scores, str | Path):
        raise BadInput(
            f"scores is a {type(scores).__name__}; give a pandas.DataFrame, such as pandas.DataFrame(scores) "
            "of columns, the path of a table, or mteb's results"
        )
    file = read_table(Path(scores), repeated=True)
    return file.frame, file.comma, file.notes


def _directed(table: ScoreTable, *, lower: Sequence[str], told: bool) -> ScoreTable:
    """The table with the direction of every task: as the table says (`told`), an option, or the task's name, which is
    noted; and a note of tasks of which nothing says it. Raises BadInput where two of these differ."""
    check_names(lower, table.tasks, what=argument("lower_is_better"))
    named = set() if told else {task for task in table.tasks if has_role(task, DOWN) or has_role(task, LOWER)}
    for task in () if told else table.tasks:
        if has_role(task, UP) and task in {*named, *lower}:
            other = argument("lower_is_better") if task in lower else "its name says lower too"
            raise BadInput(f"Is higher or lower better on {shortened(task)!r}? ↑ says higher, {other}. Rename it")
    said = [task for task in table.tasks if task in named and task not in lower]
    unknown = [task for task in table.tasks if not told and task not in lower and higher_is_better(task) is None]
    notes = list(table.notes)
    if said:
        notes.append(f"Lower is better, by their names: {shown(said)}. Where higher is, rename the column.")
    if unknown:
        about = f"Higher is assumed to be better on {shown(unknown, 3)}"
        notes.append(f"{about}: name those where lower is ({argument('lower_is_better')}).")
    return replace(table, higher=table.higher & ~np.isin(table.tasks, [*said, *lower]), notes=tuple(notes))


def _clustered(table: ScoreTable, groups: Mapping[str, Sequence[str]]) -> ScoreTable:
    """The table with the tasks that share their data: those of a group, and those whose names differ in a cutoff
    alone, which is noted."""
    group = _members(groups, table.tasks, noun="group")
    keys = [f"group {group[task]}" if task in group else CUTOFF.sub("@", task) for task in table.tasks]
    if len(set(keys)) == len(keys):
        return table
    codes = pd.factorize(np.array(keys))[0]
    alike = [task for task, key in zip(table.tasks, keys, strict=True) if task not in group and keys.count(key) > 1]
    note = (
        f"Tasks whose names differ in a cutoff alone share their data, and intervals count them as one: {shown(alike)}."
    )
    return replace(table, clusters=codes, notes=(*table.notes, *[note] * bool(alike)))


def _check_units(table: ScoreTable, *, named: Collection[str]) -> None:
    """Raises BadInput for a task whose scores seem to be shares and percent, such as 0.936 and 91."""
    for column, task in enumerate(table.tasks):
        values = table.values[:, column]
        values = values[~np.isnan(values) & (values != 0)]
        small, large = values[values <= 1], values[values > 1]
        if task in named or not len(small) or not len(large) or small.min() < 0 or large.max() > 100:
            continue
        if (
            large.min() >= MIXED * small.max()
            and small.min() / 2 <= large.min() / 100
            and large.max() / 100 <= 2 * small.max()
        ):
            raise BadInput(
                f"The column {shortened(task)!r} has scores such as {small[0]:g} and {large[0]:g}: are they shares and "
                f"percent? Write one unit. If they have one unit, say so by naming it: {argument('weights', {task: 1})}"
            )


def check_scales(table: ScoreTable, *, told: Collection[str]) -> None:
    """Raises BadInput where a mean would follow one task alone, whose scores are far above all others, and no option
    has `told` that they share a unit."""
    task = far_apart(table)
    if task and task not in told:
        raise BadInput(
            f"Scores on {shortened(task)!r} are over {APART:g} times those on every other task: a mean would follow it "
            f"alone. If it is a fact of the models, omit it ({argument('ignore')}); else rank by Borda points. If all "
            f"share a unit, say so by naming it: {argument('weights', {task: 1})}"
        )


def far_apart(table: ScoreTable) -> str:
    """The task whose median score is over APART times that of every other one; empty where there is none, and where
    all may be shares, or percent."""
    sizes = pd.DataFrame(np.abs(table.values[:, table.counted])).replace(0.0, np.nan)
    medians, most = sizes.median(), sizes.max()
    first = medians.argmax() if medians.notna().sum() > 1 else 0
    others = medians.drop(first), most.drop(first)
    if not medians[first] > APART * others[0].max() or most[first] <= 1 or others[1].max() > 1 and most[first] <= 100:
        return ""
    return table.tasks[np.flatnonzero(table.counted)[first]]


def _members(named: Mapping[str, Sequence[str]], known: Collection[str], *, noun: str) -> dict[str, str]:
    """The category or group that each named task is in. Raises BadInput for a task in two."""
    of_task: dict[str, str] = {}
    for name, tasks in named.items():
        if isinstance(tasks, str) or not tasks:
            raise BadInput(f"The {noun} {name!r} needs a list of tasks, got {tasks!r}")
        check_names(tasks, known, what=f"{noun} {name}")
        for task in tasks:
            first = of_task.setdefault(task, str(name))
            if first != str(name):
                raise BadInput(f"The task {task!r} is in the {noun} {first!r} and in {name!r}. Choose one")
    return of_task


def _categorised(table: ScoreTable, of_task: Mapping[str, str], *, order: Iterable[str]) -> ScoreTable:
    """The table with the category of every task, in this order. Raises BadInput for a task without one."""
    categories = tuple(map(str, order))
    for task in table.tasks:
        if task not in of_task:
            raise BadInput(f"The task {task!r} is in no category. Add it to one, or omit it ({argument('ignore')})")
    codes = np.array([categories.index(of_task[task]) for task in table.tasks], np.int64)
    return replace(table, categories=categories, codes=codes, weights=None, printed=None)
