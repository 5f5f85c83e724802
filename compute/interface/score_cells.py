"""The cells of a wide or a long table of scores as arrays; a fault names every cell that is wrong.

Long tables may say `scenario`, `dataset` or `benchmark` for task, with a `metric` next to it, and `score`, `mean` or
`result` for value. `88.1 ± 0.4`, `70.1 (0.3)` and columns such as `<task>_std` are a score with its standard error. An
empty cell, `-`, `NA` or `nan` is not a score. Rows are counted from 1, below the heading.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.means import binomial_stderr
from compute.analysis.table import LARGEST, WHOLE, ScoreTable, shown
from compute.arrays import Floats, Ints
from compute.interface.score_frame import check_names, filled, model_column, texts, told_apart
from compute.io.column_names import ERROR, FACT, ROW, SUM, errors_among, has_role, higher_is_better
from compute.io.numbers import Numbers, has_decimal_comma, read_numbers
from compute.types import BadInput, argument, shortened, suggestion

REQUIRED = ("model", "task", "value")  # of a long table
OPTIONAL = ("stderr", "n", "category", "higher_is_better")
ALIASES = {  # in long tables
    "task": ("scenario", "dataset", "benchmark"),
    "value": ("score", "mean", "result"),
    "stderr": ("std_err", "std", "se"),
}
NAMED = 10  # bad cells that an error names
TRUTHS = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
NO_TASKS = {SUM: "sums of others", FACT: "facts of the models", ERROR: "standard errors of no column"}


def roles_of(frame: pd.DataFrame, *, model: str, ignore: Collection[str]) -> dict[str, str]:
    """Of a long table, which column has which role; nothing for a wide one. Raises BadInput."""
    known = {name.lower(): name for name in reversed(frame.columns) if name not in (*ignore, model)}
    roles = {role: known[role] for role in ("task", "value", *OPTIONAL) if role in known}
    if {"task", "value"} <= {name.lower() for name in frame.columns}:
        return {
            role: next(name for name in frame.columns if name.lower() == role) for role in ("task", "value")
        } | roles
    if not model and "model" not in known:
        return {}
    for role, names in ALIASES.items():
        found = next((known[name] for name in names if name in known), "")
        if found and role not in roles and (role != "task" or not pd.api.types.is_numeric_dtype(frame[found])):
            roles[role] = found
    if "task" in roles and "value" in roles:
        return roles
    if len({"task", "value"} & known.keys()) == 1 and len(known) > 2:
        has, lacks = ("task", "value") if "task" in known else ("value", "task")
        raise BadInput(
            f"The table has a column {known[has]!r} but none named {lacks!r}; it has: {shown(known.values())}. "
            f"A long table has the columns {', '.join(REQUIRED)}; of a wide one, leave {known[has]!r} out "
            f"({argument('ignore')})"
        )
    return {}


def chosen(
    names: Sequence[str], *, only: Collection[str], ignore: Collection[str], spoken: Collection[str]
) -> tuple[list[str], list[str]]:
    """The tasks among names of columns, as options and the names themselves tell, and a note of what is skipped by its
    name: nothing that an option has `spoken` of, and not all."""
    tasks = [name for name in names if name not in ignore and (not only or name in only)]
    skipped: dict[str, list[str]] = {}
    for name in tasks:
        role = next((role for role in NO_TASKS if name not in spoken and has_role(name, role)), "")
        if role:
            skipped.setdefault(NO_TASKS[role], []).append(name)
    gone = {name for those in skipped.values() for name in those}
    if not gone or len(gone) == len(tasks):
        return tasks, []
    why = ", ".join(f"{shown(those)} ({why})" for why, those in skipped.items())
    note = f"Skipped by their names: {why}. To count one, rename it, or list the tasks ({argument('only')})."
    return [name for name in tasks if name not in gone], [note]


def wide(
    frame: pd.DataFrame,
    *,
    model: str,
    only: Collection[str],
    ignore: Collection[str],
    spoken: Collection[str],
    comma: bool | None,
    shared: Collection[str],
) -> ScoreTable:
    """A row a model, a column a task. `spoken`: what an option names as a task; `shared`: names of several columns."""
    label = model_column(frame, model)
    check_names(ignore, frame.columns, what=argument("ignore"))
    check_names(only, [name for name in frame.columns if name != label], what=argument("only"))
    models = filled(frame, label, "model")
    sums = models.map(lambda name: has_role(name, ROW)).to_numpy(bool)
    notes = []
    if sums.any() and not sums.all():
        notes = [f"Rows that are not models, by their names: {shown(models[sums])}."]
        frame, models = frame[~sums], models[~sums]
    columns = [name for name in frame.columns if name != label and name not in ignore]
    models, second = told_apart(models, frame[columns])
    if second:
        notes.append(f"Models are named by {label!r} and {second!r}, as rows repeat the first.")
        columns.remove(second)
    errors = {name: of for name, of in errors_among(columns).items() if name not in spoken}
    free = [name for name in columns if name not in errors]
    tasks, skipped = chosen(free, only=only, ignore=ignore, spoken=spoken)
    scored = {*tasks}
    read = [name for name in columns if errors.get(name, name) in scored]
    _check_once((label, *read), shared)
    decimal = has_decimal_comma((frame[name] for name in read), separator=comma)
    faults = _BadCells(models=models.tolist())
    numbers = {name: faults.numbers(frame[name], decimal) for name in read}
    known = {task: numbers[task].errors for task in tasks}
    known |= {errors[name]: faults.errors(numbers[name].values, name) for name in read if name in errors}
    faults.check()
    return ScoreTable(
        models=tuple(models),
        tasks=tuple(tasks),
        values=np.array([numbers[name].values for name in tasks]).reshape(len(tasks), len(models)).T,
        stderr=np.array([known[name] for name in tasks]).reshape(len(tasks), len(models)).T,
        notes=(
            *skipped,
            *notes,
            *_errors_said(
                [name for name in tasks if not np.isnan(numbers[name].errors).all()],
                [name for name in read if name in errors and not name.lower().endswith("stderr")],
            ),
        ),
    )


def long(
    frame: pd.DataFrame,
    roles: Mapping[str, str],
    *,
    model: str,
    only: Collection[str],
    ignore: Collection[str],
    spoken: Collection[str],
    shares: bool,
    comma: bool | None,
    shared: Collection[str],
) -> ScoreTable:
    """A row a score; `roles` as in `roles_of`, and whether values are `shares` of n answers."""
    label = model_column(frame, model)
    tasks, metric = _named_by_metric(frame, roles["task"], ignore=ignore)
    _check_once((label, metric, *roles.values()), shared)
    extra = [name for name in frame.columns if name not in (label, metric, *roles.values(), *ignore)]
    models, second = told_apart(filled(frame, label, "model"), frame[extra], tasks=tasks)
    notes = _unused([name for name in extra if name != second], roles)
    if second:
        notes.append(f"Models are named by {label!r} and {second!r}, as rows repeat the first.")
    if any(role != roles[role].lower() for role in REQUIRED[1:]):
        notes.append(f"Read as a long table: task is {roles['task']!r}, value is {roles['value']!r}.")
    columns = list(dict.fromkeys(tasks))
    check_names(only, columns, what=argument("only"))
    check_names(ignore, (*frame.columns, *columns), what=argument("ignore"))
    columns, skipped = chosen(columns, only=only, ignore=ignore, spoken=spoken)
    row, rows = pd.factorize(models)
    keep = tasks.isin(columns).to_numpy()
    frame, tasks, models, row = frame[keep], tasks[keep], models[keep], row[keep]
    column = pd.Index(columns).get_indexer(tasks)
    faults = _BadCells(models=models.tolist())
    decimal = has_decimal_comma((frame[roles[role]] for role in ("value", "stderr") if role in roles), separator=comma)
    read = faults.numbers(frame[roles["value"]], decimal, groups=column)
    notes += _errors_said([] if np.isnan(read.errors).all() else [roles["value"]], [])
    error = read.errors
    if "stderr" in roles:
        error = faults.errors(faults.numbers(frame[roles["stderr"]], decimal).values, roles["stderr"])
    if shares:
        count = faults.numbers(frame[roles["n"]], decimal).values
        faults.check()
        error = np.where(np.isnan(error), binomial_stderr(value=read.values, n=count), error)
        error = sampling_errors(values=read.values, stderr=error, share_of=count)
    elif "n" in roles and "stderr" not in roles:
        notes.append(
            "The column n alone does not give a standard error: say so where values are shares of n correct answers"
        )
    faults.check()
    table = np.full((2, len(rows), len(columns)), np.nan)
    table[:, row, column] = read.values, error
    of_task = {
        role: _one_a_task(texts(frame[roles[role]]), tasks)
        for role in ("category", "higher_is_better")
        if role in roles
    }
    categories = of_task.get("category", dict.fromkeys(columns, WHOLE))
    if unnamed := [task for task, name in categories.items() if not name]:
        raise BadInput(f"The task {shortened(unnamed[0])!r} has no category, others have one. Name it in every row")
    for task, truth in of_task.get("higher_is_better", {}).items():
        if truth.lower() not in TRUTHS:
            raise BadInput(f"higher_is_better of {shortened(task)!r} is {truth!r}; write true or false")
    names = tuple(dict.fromkeys(categories.values()))
    return ScoreTable(
        models=tuple(rows),
        tasks=tuple(columns),
        categories=names,
        codes=np.array([names.index(categories[task]) for task in columns], np.int64),
        higher=np.array([TRUTHS[of_task.get("higher_is_better", {}).get(task, "true").lower()] for task in columns]),
        values=table[0],
        stderr=table[1],
        notes=(*skipped, *notes),
    )


def _named_by_metric(frame: pd.DataFrame, task: str, *, ignore: Collection[str]) -> tuple[pd.Series, str]:
    """The tasks, each with its metric where a task has several or one has the direction; and the column of metrics."""
    names = filled(frame, task, "task")
    metric = next((name for name in frame.columns if name.lower() == "metric" and name not in ignore), "")
    if not metric:
        return names, ""
    metrics = texts(frame[metric])
    if metrics.groupby(names).nunique().max() > 1 or any(higher_is_better(one) is False for one in metrics.unique()):
        return names + " (" + metrics + ")", metric
    return names, ""


def _check_once(used: Collection[str], shared: Collection[str]) -> None:
    """Raises BadInput for a name that is used and that two columns have."""
    for name in used:
        if name in shared:
            raise BadInput(
                f"Two columns are named {shortened(name)!r}. Rename one of them, or omit both ({argument('ignore')})"
            )


def _errors_said(behind: Sequence[str], columns: Sequence[str]) -> list[str]:
    """What was taken for standard errors without being called so."""
    said = {"the columns": columns, "what stands behind ± or in parentheses in": behind}
    return [f"Read as standard errors: {what} {shown(names)}." for what, names in said.items() if names]


def _unused(extra: Sequence[str], roles: Mapping[str, str]) -> list[str]:
    """The extra columns of a long table. Raises BadInput for what looks like one of these misspelt."""
    for name in extra:
        near = suggestion(name, [role for role in OPTIONAL if role not in roles])
        if near:
            raise BadInput(
                f"A long table has no column {shortened(name)!r}.{near} Rename it, or omit it ({argument('ignore')})"
            )
    return [f"Columns that are not used: {shown(extra)}."] if extra else []


def _one_a_task(cells: pd.Series, tasks: pd.Series) -> dict[str, str]:
    """What a column says of every task. Raises BadInput where two rows of a task differ."""
    differ = cells != cells.groupby(tasks).transform("first")
    if differ.any():
        row = differ.idxmax()
        before = (tasks == tasks[row]).idxmax()
        raise BadInput(
            f"Rows {before + 1} and {row + 1} disagree on {shortened(tasks[row])!r}: column {cells.name!r} is "
            f"{cells[before]!r} and {cells[row]!r}. Write the same in both"
        )
    return dict(zip(tasks, cells, strict=True))


@dataclass(kw_only=True)
class _BadCells:
    """The cells that cannot be read, all of them."""

    models: Sequence[str]  # by row
    found: list[str] = field(default_factory=list)

    def numbers(self, column: pd.Series, comma: bool | None, *, groups: Ints | None = None) -> Numbers:
        """A column as numbers; `groups` says which rows are of one unit, without it all are."""
        read = read_numbers(column, comma=comma)
        wrong = dict(read.wrong)
        wrong |= {
            int(row): "is not a finite score. Write a plain number such as 0.851"
            for row in np.flatnonzero(np.abs(read.values) > LARGEST)
        }
        scored = np.flatnonzero(~np.isnan(read.values))
        share = pd.Series(read.percent[scored]).groupby(scored * 0 if groups is None else groups[scored])
        mixed = share.transform("nunique").to_numpy() > 1
        few = read.percent[scored] == (share.transform("mean") <= 0.5).to_numpy()
        for row in scored[mixed & few]:
            here, others = ("a", "none") if read.percent[row] else ("no", "one")
            wrong[int(row)] = f"has {here} percent sign, where others have {others}. Write one unit"
        self.found += [
            f"Row {column.index[row] + 1} ({shortened(self.models[row])!r}), column {shortened(str(column.name))!r}: "
            f"{shortened(str(column.iloc[row]))!r} {wrong[row]}"
            for row in sorted(wrong)
        ]
        return read

    def errors(self, values: Floats, name: str) -> Floats:
        """Standard errors, which are never negative."""
        self.found += [
            f"Row {row + 1} ({shortened(self.models[row])!r}), column {name!r}: {values[row]:g} is not a "
            "standard error (negative). Leave it empty where it is not known"
            for row in np.flatnonzero(values < 0)
        ]
        return values

    def check(self) -> None:
        """Raises BadInput with every fault, the first NAMED in full."""
        if self.found:
            more = f" And {len(self.found) - NAMED:,} cells more." if len(self.found) > NAMED else ""
            raise BadInput(
                f"{'. '.join(self.found[:NAMED])}.{more} Leave a cell empty where there is no score, or the column out "
                f"({argument('ignore')})"
            )
