"""Reads a user's table of scores and checks it: wide or long, a frame or a file.

Wide: a row per model, a column per task; a column `<task>_stderr` has the standard errors of `<task>`. Long: a row per
score, in the columns `model`, `task`, `value`, and optionally `stderr`, `n`, `category`, `higher_is_better` (the form
LONG). Other programs' column names are recognised, and a `metric` distinguishes tasks. `score_layouts` reads what
programs write.

Names determine which columns describe the models, which aggregate others, and for which tasks lower is better
(`compute.io.column_names`). Columns of text are skipped, and rows that differ in a seed are averaged. Notes report
this.

`88.1 ± 0.4`, `70.1 (0.3)` and columns such as `<task>_std` are a score with its standard error. An empty cell, `-`,
`NA` or `nan` is not a score. Rows are counted from 1, below the heading; an error names every wrong cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.means import binomial_stderr
from compute.analysis.table import LARGEST, WHOLE, ScoreTable, shown
from compute.arrays import Floats, Ints
from compute.interface.score_checks import categorised, check_names, check_units, clustered, directed, members
from compute.interface.score_layouts import LONG, MODELS, TableOfScores, laid_out, named, opened, plain, texts
from compute.io.column_names import (
    COMPLEMENT,
    ERROR,
    FACT,
    PERHAPS_SUM,
    ROW,
    SEED,
    SUM,
    TASKS,
    errors_among,
    has_role,
    higher_is_better,
)
from compute.io.numbers import Numbers, has_decimal_comma, read_numbers
from compute.types import BadInput, argument, shortened, suggestion

NAMED = 10  # wrong cells that an error names
TOO_LARGE = "is not a finite score. Write a plain number such as 0.851"
NEGATIVE = "is not a standard error (negative). Leave it empty where it is not known"
FEW = 20  # cells that are checked before the whole column
MOST_MODELS = 5000  # every two are compared: above this, the comparisons take more than 2 GB
TRUTHS = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
NO_TASKS = {SUM: "sums of others", FACT: "facts of the models", ERROR: "standard errors of no column"}
OPTIONAL = [field.name for field in LONG.fields if field.optional]
# Names of models: gte-large, e5-mistral-7b, org/name.
OF_A_MODEL = re.compile(
    r".+[-_ /](?:v?\d+(?:\.\d+)*[bm]?|base|large|small|xl|instruct|mini|turbo|v\d.*)\b.*|.+/.+", re.I | re.S
)


class TaskCells(NamedTuple):
    """The cells of one task: columns whose index is the row of the file, from 0."""

    task: str
    at: Ints  # the table's row of each
    value: pd.Series
    stderr: pd.Series | None = None
    n: pd.Series | None = None  # answers behind each, if values are shares of correct ones


def read_cells(
    cells: Sequence[TaskCells], rows: Sequence[str], *, comma: bool | None
) -> tuple[Floats, Floats, list[str]]:
    """Returns scores and standard errors [rows, tasks], and the tasks whose errors follow ± or are in parentheses.

    `rows`: the models' names; `comma` as in `TableFile`. Raises BadInput.
    """
    columns = [column for one in cells for column in (one.value, one.stderr) if column is not None]
    decimal = has_decimal_comma(columns, separator=comma)
    faults = []

    def numbers(column: pd.Series, at: Ints, *, is_error: bool = False) -> Numbers:
        """Returns a column of one unit as numbers; errors are added to the faults."""
        read = read_numbers(column, comma=decimal)
        wrong = dict(read.wrong) | dict.fromkeys(np.flatnonzero(np.abs(read.values) > LARGEST).tolist(), TOO_LARGE)
        if is_error:
            wrong |= dict.fromkeys(np.flatnonzero(read.values < 0).tolist(), NEGATIVE)
        scored = np.flatnonzero(~np.isnan(read.values))
        share = read.percent[scored].mean() if len(scored) else 0.0
        for row in scored[read.percent[scored] == (share <= 0.5)] if 0 < share < 1 else ():
            here, others = ("a", "none") if read.percent[row] else ("no", "one")
            wrong[int(row)] = f"has {here} percent sign, where others have {others}. Write one unit"
        faults.extend(
            f"Row {column.index[row] + 1} ({shortened(rows[at[row]])!r}), column {shortened(str(column.name))!r}: "
            f"{shortened(str(column.iloc[row]))!r} {wrong[row]}"
            for row in sorted(wrong)
        )
        return read

    found = np.full((2, len(rows), len(cells)), np.nan)
    read, behind = [], []
    for one in cells:
        value = numbers(one.value, one.at)
        behind += [one.task] * (not np.isnan(value.errors).all())
        errors = value.errors if one.stderr is None else numbers(one.stderr, one.at, is_error=True).values
        read.append((value.values, errors, None if one.n is None else numbers(one.n, one.at).values))
    if faults:
        more = f" And {len(faults) - NAMED:,} cells more." if len(faults) > NAMED else ""
        raise BadInput(
            f"{'. '.join(faults[:NAMED])}.{more} Leave a cell empty where there is no score, or the column out "
            f"({argument('ignore')})"
        )
    for column, (one, (values, errors, count)) in enumerate(zip(cells, read, strict=True)):
        if count is not None:
            errors = np.where(np.isnan(errors), binomial_stderr(value=values, n=count), errors)
            errors = sampling_errors(values=values, stderr=errors, share_of=count)
        found[:, one.at, column] = values, errors
    return found[0], found[1], behind


def mean_over_seeds(values: Floats, errors: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """Returns the mean of the rows of a group [groups, tasks], and its standard error from their spread, if there are
    two.
    """
    frame = pd.DataFrame(values).groupby(groups)
    spread = frame.sem().to_numpy()
    return frame.mean().to_numpy(), np.where(np.isnan(spread), pd.DataFrame(errors).groupby(groups).first(), spread)


def is_text(column: pd.Series) -> bool:
    """Returns whether a column has cells and none of them is a number."""
    if any(np.isfinite(read_numbers(cells).values).any() for cells in (column.head(FEW), column)):
        return False
    return bool(read_numbers(column).wrong) and not has_decimal_comma([column])


@dataclass(frozen=True, kw_only=True)
class ScoreReading:
    """How a table of scores is read: the arguments that rank, compare, correlate and lite share.

    A column whose name says that it sums up the others or describes the models, such as `Mean (Task)` or `Zero-shot`,
    is skipped unless an argument names it.
    """

    # By default `model`, a named index, or a first column of text.
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
    # From Python, only the names in it count.
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

    def table(self, scores: TableOfScores, *, mixed: bool = False) -> ScoreTable:
        """Returns the table that `score_layouts` reads, as arrays; `mixed` allows shares and percent in one task.

        Raises BadInput in one sentence with the row, the column and a remedy; for cells, with all that are wrong.
        """
        given = opened(scores)
        file, group_of = laid_out(given, model=self.model, transpose=self.transpose)
        frame, label = file.frame, self.model
        if self.transpose:
            first = label or frame.columns[0]
            check_names([first], frame.columns, what=argument("model"))
            frame, label = named(frame.set_index(first).T.rename_axis("model")), ""
        if not len(frame):
            raise BadInput("The table has no rows below its heading. Add one for every model")
        shared = {*frame.columns[frame.columns.duplicated()]}
        frame = frame.loc[:, ~frame.columns.duplicated()].reset_index(drop=True)
        roles = self._roles(frame)  # a row per score if there are any, else a row per model
        if self.shares and "n" not in roles:
            raise BadInput("Shares need the number of answers behind each: a long table with the column n")
        label, metric, notes = _model_column(frame, label), "", list[str]()
        models, tasks = _filled(frame, label, "model"), None
        if roles:
            tasks, metric = _named_by_metric(frame, roles["task"], ignore=self.ignore)
        elif (sums := models.map(lambda name: has_role(name, ROW)).to_numpy(bool)).any() and not sums.all():
            notes = [f"Rows that are not models, by their names: {shown(models[sums])}."]
            frame, models = frame[~sums], models[~sums]
        taken = {label, metric, *roles.values(), *self.ignore}
        columns = [name for name in frame.columns if name not in taken]
        models, second, seed = _told_apart(models, frame[columns], tasks=tasks)
        columns = [name for name in columns if name not in (second, seed)]
        if roles:
            notes += self._of_long(columns, roles)
        names = columns if tasks is None else list(dict.fromkeys(tasks))
        every = frame.columns.drop(label) if tasks is None else names
        check_names(self.only, every, what=argument("only"))
        check_names(self.ignore, (*map(str, given.frame.columns), *frame.columns, *names), what=argument("ignore"))
        errors = {} if roles else errors_among(columns)
        errors = {name: of for name, of in errors.items() if name not in self.named}
        names, skipped = self._chosen([name for name in names if name not in errors], None if roles else frame)
        error_of = {of: name for name, of in errors.items() if of in names}
        codes, rows = pd.factorize(models if not seed else models + "\0" + texts(frame[seed]))
        at, rows = pd.Series(codes, frame.index), [row.partition("\0")[0] for row in rows]
        if tasks is None:
            cells = [TaskCells(task, codes, frame[task], frame.get(error_of.get(task))) for task in names]
            about, used = {}, [label, *names, *error_of.values()]
        else:
            count = roles.get("n") if self.shares else None
            parts = dict(iter(frame.groupby(tasks)))
            cells = [
                TaskCells(
                    task,
                    at[part.index].to_numpy(),
                    part[roles["value"]],
                    part.get(roles.get("stderr")),
                    part.get(count),
                )
                for task in names
                for part in [parts[task]]
            ]
            about, used = _said_of_tasks(frame, tasks, names, roles), [label, *filter(None, (metric, *roles.values()))]
        for name in used:
            if name in shared:
                raise BadInput(
                    f"Two columns are named {shortened(name)!r}. Rename one, or omit both ({argument('ignore')})"
                )
        values, stderr, behind = read_cells(cells, rows, comma=file.comma)
        models, groups = pd.factorize(np.array(rows, object))[::-1]
        notes = [*skipped, *notes]
        if second:
            notes.append(f"Models are named by {label!r} and {second!r}, as rows repeat the first.")
        if taken_for := [name for name in error_of.values() if not name.lower().endswith("stderr")]:
            notes.append(f"Read as standard errors: the columns {shown(taken_for)}.")
        if behind:
            where = shown([roles["value"]] if roles else behind)
            notes.append(f"Read as standard errors: what stands behind ± or in parentheses in {where}.")
        if len(models) < len(rows):
            values, stderr = mean_over_seeds(values, stderr, groups)
            most = np.bincount(groups).max()
            notes.append(f"Means over up to {most} seeds ({seed!r}); standard errors are by their spread.")
        table = ScoreTable(
            models=tuple(models), tasks=tuple(one.task for one in cells), values=values, stderr=stderr, **about
        )
        if not mixed:
            check_units(table, named=self.named)
        return self._finished(table, group_of, notes=notes, more=file.notes, told="higher_is_better" in roles)

    def _finished(
        self, table: ScoreTable, group_of: Mapping[str, str], *, notes: list[str], more: Sequence[str], told: bool
    ) -> ScoreTable:
        """Returns the table with directions, categories and shared data, from options and names. Raises BadInput."""
        if not table.tasks:
            raise BadInput("The table has no tasks: it needs a column of scores besides the column of models")
        if len(table.models) > MOST_MODELS:
            raise BadInput(
                f"The table has {len(table.models):,} models; at most {MOST_MODELS:,} can be compared. Choose some"
            )
        if perhaps := [task for task in table.tasks if has_role(task, PERHAPS_SUM)]:
            notes.append(
                f"Counted as tasks: {shown(perhaps)}. Omit them ({argument('ignore')}) if they sum up the others."
            )
        table = replace(table, notes=(*notes, *more))
        table = directed(table, lower=self.lower_is_better, told=told)
        if self.categories:
            table = categorised(table, members(self.categories, table.tasks, noun="category"), order=self.categories)
        elif group_of:
            of_task = {task: group_of.get(task, task) for task in table.tasks}
            table = categorised(table, of_task, order=dict.fromkeys(of_task.values()))
            said = f"Categories, by the first of two rows of headings: {shown(table.categories)}."
            table = replace(table, notes=(*table.notes, said))
        return clustered(table, self.groups or {})

    def _of_long(self, extra: Sequence[str], roles: Mapping[str, str]) -> Iterator[str]:
        """Yields notes about a long table; `extra` are columns without a role. Raises BadInput for a name close to a
        role.
        """
        for name in extra:
            if near := suggestion(name, [role for role in OPTIONAL if role not in roles]):
                raise BadInput(
                    f"A long table has no column {shortened(name)!r}.{near} Rename it, or omit it "
                    f"({argument('ignore')})"
                )
        if extra:
            yield f"Columns that are not used: {shown(extra)}."
        if any(role != roles[role].lower() for role in ("task", "value")):
            yield f"Read as a long table: task is {roles['task']!r}, value is {roles['value']!r}."
        if "n" in roles and "stderr" not in roles and not self.shares:
            means = "where values are shares of n correct answers"
            yield f"The column n alone does not give a standard error: say so {means}"

    def _roles(self, frame: pd.DataFrame) -> dict[str, str]:
        """Returns the column of each role in a long table; empty for a wide one. Raises BadInput."""
        exact = {name.lower(): name for name in reversed(frame.columns)}
        present = [name for name in frame.columns if name not in self.ignore]
        roles = LONG.columns(present, {"model": self.model} if self.model else {})
        if {"task", "value"} <= exact.keys():
            return {**roles, "task": exact["task"], "value": exact["value"]}
        if "task" in roles and roles["task"].lower() != "task" and pd.api.types.is_numeric_dtype(frame[roles["task"]]):
            del roles["task"]
        lacks = [name for name in LONG.required if name not in roles]
        if not lacks:
            return roles
        has = {"task": "value", "value": "task"}.get(lacks[0] if len(lacks) == 1 else "", "")
        if has and roles[has].lower() == has and len(present) > 2:
            raise BadInput(
                f"The table has a column {roles[has]!r} but none named {lacks[0]!r}; it has: {shown(present)}. "
                f"A long table has the columns {', '.join(LONG.required)}; of a wide one, leave {roles[has]!r} out "
                f"({argument('ignore')})"
            )
        return {}

    def _chosen(self, names: Sequence[str], frame: pd.DataFrame | None = None) -> tuple[list[str], list[str]]:
        """Returns the tasks among column names, according to options and names, and a note about skipped columns.

        A column is skipped because of its name or, given a `frame`, because it is text. Columns that an option names
        are never skipped, and not all are.
        """
        tasks = [name for name in names if name not in self.ignore and (not self.only or name in self.only)]
        skipped = {}
        complements = errors_among(tasks, COMPLEMENT)
        for name in tasks:
            if name in self.named:
                continue
            why = next((why for role, why in NO_TASKS.items() if has_role(name, role)), "")
            why = f"1 - {complements[name]}" if name in complements else why
            if why := why or ("text" if frame is not None and is_text(frame[name]) else ""):
                skipped.setdefault(why, []).append(name)
        gone = {name for those in skipped.values() for name in those}
        if not gone or len(gone) == len(tasks):
            return tasks, []
        why = ", ".join(f"{shown(those)} ({why})" for why, those in skipped.items())
        note = f"Skipped: {why}. To count one, rename it, or list the tasks ({argument('only')})."
        return [name for name in tasks if name not in gone], [note]


def _said_of_tasks(
    frame: pd.DataFrame, tasks: pd.Series, names: Sequence[str], roles: Mapping[str, str]
) -> dict[str, object]:
    """Returns the categories and directions that a long table states, as fields of ScoreTable. Raises BadInput."""
    read = tasks.isin(names)
    said = {"category": dict.fromkeys(names, WHOLE), "higher_is_better": dict.fromkeys(names, "true")}
    said |= {role: _one_a_task(texts(frame[roles[role]])[read], tasks) for role in said if role in roles}
    categories, ways = said.values()
    if unnamed := [task for task, name in categories.items() if not name]:
        raise BadInput(f"The task {shortened(unnamed[0])!r} has no category, others have one. Name it in every row")
    for task, truth in ways.items():
        if truth.lower() not in TRUTHS:
            raise BadInput(f"higher_is_better of {shortened(task)!r} is {truth!r}; write true or false")
    listed = tuple(dict.fromkeys(categories.values()))
    return {
        "categories": listed,
        "codes": np.array([listed.index(categories[name]) for name in names], np.int64),
        "higher": np.array([TRUTHS[ways[name].lower()] for name in names], bool),
    }


def _named_by_metric(frame: pd.DataFrame, task: str, *, ignore: Sequence[str]) -> tuple[pd.Series, str]:
    """Returns the tasks and the column of metrics.

    The metric is part of a task's name if a task has several metrics, or if lower is better for one.
    """
    names = _filled(frame, task, "task")
    metric = next((name for name in frame.columns if name.lower() == "metric" and name not in ignore), "")
    if not metric:
        return names, ""
    metrics = texts(frame[metric])
    if metrics.groupby(names).nunique().max() > 1 or any(higher_is_better(one) is False for one in metrics.unique()):
        return names + " (" + metrics + ")", metric
    return names, ""


def _one_a_task(cells: pd.Series, tasks: pd.Series) -> dict[str, str]:
    """Returns the value of a column for every task. Raises BadInput if two rows of a task differ."""
    tasks = tasks[cells.index]
    differ = cells != cells.groupby(tasks).transform("first")
    if differ.any():
        row = differ.idxmax()
        before = (tasks == tasks[row]).idxmax()
        raise BadInput(
            f"Rows {before + 1} and {row + 1} disagree on {shortened(tasks[row])!r}: column {cells.name!r} is "
            f"{cells[before]!r} and {cells[row]!r}. Write the same in both"
        )
    return dict(zip(tasks, cells, strict=True))


def _model_column(frame: pd.DataFrame, model: str) -> str:
    """Returns the column that names the models: `model`, one of MODELS, or the first of text. Raises BadInput."""
    has = f"The table has the columns {shown(frame.columns)}"
    if model:
        if model not in frame.columns:
            raise BadInput(f"No column {model!r} of models.{suggestion(model, frame.columns)} {has}")
        return model
    known = {name.lower(): name for name in reversed(frame.columns)}
    if name := next((known[name] for name in MODELS if name in known), ""):
        return name
    first = next((name for name in frame.columns if not has_role(name, SUM)), frame.columns[0])
    if pd.to_numeric(frame[first].astype(object), errors="coerce").notna().any():
        raise BadInput(
            f"Which column names the models? Name it 'model', or say which it is ({argument('model')}). {has}"
        )
    rows, others = texts(frame[first]), [name for name in frame.columns if name != first]
    models = [sum(OF_A_MODEL.fullmatch(name) is not None for name in names) for names in (rows, others)]
    if has_role(first, TASKS) or (models[1] > len(others) / 2 and models[0] <= len(rows) / 3):
        raise BadInput(
            f"The table looks transposed: its rows seem to be tasks ({shown(rows, 2)}), its columns models "
            f"({shown(others, 2)}). If so, read it with {argument('transpose', True)}; if {first!r} names the models, "
            f"with {argument('model', first)}"
        )
    return first


def _filled(frame: pd.DataFrame, column: str, noun: str) -> pd.Series:
    """Returns the texts of a column that names models or tasks. Raises BadInput for an empty one."""
    names = texts(frame[column]).map(plain)
    empty = np.flatnonzero(names == "")
    if len(empty):
        raise BadInput(f"Row {empty[0] + 1} has no {noun} in the column {column!r}. Name it, or remove the row")
    return names


def _told_apart(
    names: pd.Series, others: pd.DataFrame, *, tasks: pd.Series | None = None
) -> tuple[pd.Series, str, str]:
    """Returns the models' names, the second column that was added to them, and the column of seeds; empty if there is
    none.

    A second column is added if rows repeat: the first column of text that makes them distinct. A seed at the end of a
    name is removed. Raises BadInput with two rows that are the same.
    """
    on = pd.DataFrame({"model": names, "task": "" if tasks is None else tasks})
    seed = next((name for name in others.columns if has_role(name, SEED)), "")
    if seed:
        on["seed"] = texts(others[seed])
        bare = [
            re.sub(rf"[-_ /.]+(?:seed|s)[-_ =]?{re.escape(own)}$", "", name) or name
            for name, own in zip(names, on["seed"], strict=True)
        ]
        on["model"] = names = pd.Series(bare, index=names.index)
    if not on.duplicated().any():
        return names, "", seed
    for column in others.columns:
        second = texts(others[column])
        both = (names + " " + second).str.strip()
        if pd.to_numeric(second, errors="coerce").isna().all() and not on.assign(model=both).duplicated().any():
            return both, column, seed
    model, task = on[on.duplicated(keep=False)].iloc[0][["model", "task"]]
    first, second = on.index[(on["model"] == model) & (on["task"] == task)][:2]
    where = f" on {shortened(task)!r}" if task else ""
    raise BadInput(f"Rows {first + 1} and {second + 1} are both {shortened(model)!r}{where}. Leave one, or rename it")
