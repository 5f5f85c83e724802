"""A table of scores that somebody brings, checked and brought into arrays: wide or long, a frame or a file.

Wide: a row a model, a column a task; a column `<task>_stderr` holds the standard errors of `<task>`.
Long: a row a score, in the columns `model`, `task`, `value`, and optionally `stderr`, `n`, `category`,
`higher_is_better`.

An empty cell, `-`, `NA` or `nan` is no score. Rows are counted from 1, below the heading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.ranking import binomial_stderr
from compute.arrays import Floats, Ints
from compute.delimited import heading
from compute.interface.score_table import LARGEST, WHOLE, ScoreTable, shown
from compute.types import BadInput, shortened, suggestion

REQUIRED = ("model", "task", "value")  # of a long table
OPTIONAL = ("stderr", "n", "category", "higher_is_better")
NO_SCORE = frozenset(("", "-", "–", "—", "na", "n/a", "nan", "none", "null", "<na>"))
TRUTHS = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
MOST_MODELS = 5000  # every two are compared: beyond this the comparisons take more than 2 GB
# Names of columns that sum up others, surely and perhaps, and of those that describe a model: year, Params (M),
# embed_dim, # parameters.
SUM = re.compile(r"(?:(?:avg|average|mean)\.?(?: (?:score|rank))?|total|rank)(?:\s*[↑↓])?|#", re.IGNORECASE)
SUMMARY = re.compile(r"(avg|average|mean|overall|total|rank)\b.*|#", re.IGNORECASE)
DESCRIPTION = re.compile(
    r"(?:#\s*|(?:n|num|number of|model|embed|embedding|release)[ _])?"
    r"(?:params?|parameters|size|year|dims?|dimensions?|date)(?:[ _](?:m|b|mb|gb))?(?:\s*[(\[].*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class ScoreReading:
    """How a table of scores is read: the arguments that rank, compare, correlate and lite share.

    A task whose name says that it sums up the others, such as `average`, is left out unless an argument names it.
    """

    model: str = ""  # the column of models; else `model`, a named index, or a first column of text
    only: Sequence[str] = ()  # the tasks to take; empty: all
    ignore: Sequence[str] = ()  # columns (of a wide table) or tasks to leave out
    categories: Mapping[str, Sequence[str]] | None = None  # names of categories and their tasks, every task in one
    weights: Mapping[str, float] | None = None  # by category or task, others 1; here only the names in it count
    lower_is_better: Sequence[str] = ()  # tasks
    shares: bool = False  # every value is a share of `n` right answers: where no standard error is given, the binomial

    @property
    def named(self) -> frozenset[str]:
        """Everything that an argument names as a task."""
        in_categories = (task for tasks in (self.categories or {}).values() for task in tasks)
        return frozenset((*self.only, *self.lower_is_better, *in_categories, *(self.weights or ())))

    def table(self, scores: pd.DataFrame | str | Path) -> ScoreTable:
        """A frame, or a CSV, TSV or Parquet file, as arrays.

        Raises BadInput in one sentence that names the row, the column and what to do.
        """
        frame = _named(scores if isinstance(scores, pd.DataFrame) else _file(Path(scores)))
        known = {name.lower(): name for name in frame.columns}
        if {"task", "value"} <= known.keys():
            table = _long(frame, self, known=known)
        else:
            if "model" in known and ("task" in known) != ("value" in known) and len(known) > 2:
                has, lacks = ("task", "value") if "task" in known else ("value", "task")
                raise BadInput(
                    f"The table has a column {known[has]!r} but none named {lacks!r}; it has: {shown(known.values())}. "
                    f"A long table has the columns {', '.join(REQUIRED)}; of a wide one, ignore {known[has]!r}"
                )
            table = _wide(frame, self)
        table = _chosen(table, only=self.only, ignore=self.ignore, columns=frame.columns)
        table = _without_sums(table, named=self.named)
        if not table.tasks:
            raise BadInput("The table has no tasks: it needs a column of scores beside the column of models")
        if len(table.models) > MOST_MODELS:
            raise BadInput(
                f"The table has {len(table.models):,} models; at most {MOST_MODELS:,} can be compared. Choose some"
            )
        if self.lower_is_better:
            _check_names(self.lower_is_better, table.tasks, what="lower is better")
            table = replace(table, higher=table.higher & ~np.isin(table.tasks, list(self.lower_is_better)))
        if self.categories:
            table = _in_categories(table, self.categories)
        return replace(table, notes=(*table.notes, *_summaries(table)))


def _file(path: Path) -> pd.DataFrame:
    """A file as a frame; of a text file every cell as text."""
    kind = path.suffix.lower()
    if kind not in (".csv", ".tsv", ".txt", ".parquet"):
        raise BadInput(f"{path.name} cannot be read as a table: save it as CSV, TSV or Parquet")
    try:
        if kind == ".parquet":
            return pd.read_parquet(path)
        separator, names = heading(path)
        _check_unlike(names)
        frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise BadInput(f"There is no file {path}. Check the path") from error
    except BadInput:
        raise
    except (ValueError, OSError) as error:  # pandas' and Arrow's errors are ValueErrors
        reason = (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0].rstrip(".")
        raise BadInput(f"{path.name} cannot be read as a table: {reason}. Save it again as CSV or Parquet") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise BadInput(f"{path.name}: rows have more cells than the heading; name every column, or quote the commas")
    return frame


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns' names as text, and an index that names models as a column."""
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise BadInput("The table has several levels of columns or rows. Flatten it: frame.reset_index()")
    names = [str(name).strip() for name in frame.columns]
    _check_unlike(names)
    frame = frame.set_axis(names, axis=1)
    index = frame.index
    title = str(index.name).strip() if index.name is not None else "model"
    if not pd.api.types.is_numeric_dtype(index.dtype) and "model" not in map(str.lower, names) and title not in names:
        frame = frame.reset_index(names=title)
    return frame


def _check_unlike(names: Sequence[str]) -> None:
    """Raises BadInput for a name that two columns have."""
    seen: set[str] = set()
    for name in (name.strip() for name in names):
        if name in seen:
            raise BadInput(f"Two columns are named {shortened(name)!r}. Rename one of them")
        seen.add(name)


def _model_column(frame: pd.DataFrame, model: str) -> str:
    has = f"The table has the columns {shown(frame.columns)}"
    if model:
        if model not in frame.columns:
            raise BadInput(f"No column {model!r} of models.{suggestion(model, frame.columns)} {has}")
        return model
    for name in frame.columns:
        if name.lower() == "model":
            return name
    if len(frame.columns) and len(frame):
        first = frame.columns[0]
        if pd.to_numeric(frame[first].astype(object), errors="coerce").isna().all():
            return first
    raise BadInput(f"Which column names the models? Name it 'model', or say which it is (model). {has}")


def _models(column: pd.Series) -> list[str]:
    names = column.astype("str").str.strip()
    empty = np.flatnonzero((names.isna() | (names == "")).to_numpy())
    if len(empty):
        raise BadInput(f"Row {empty[0] + 1} names no model in the column {column.name!r}. Name it, or remove the row")
    return names.tolist()


def _wide(frame: pd.DataFrame, reading: ScoreReading) -> ScoreTable:
    label = _model_column(frame, reading.model)
    _check_names(reading.ignore, frame.columns, what="ignore")
    _check_names(reading.only, [name for name in frame.columns if name != label], what="only")
    if reading.shares:
        raise BadInput("Shares need the number of answers behind each: give a long table with the column n")
    models = _models(frame[label])
    twice = pd.Series(models).duplicated(keep=False)
    if twice.any():
        rows = np.flatnonzero(np.array(models) == models[int(twice.argmax())])[:2] + 1
        raise BadInput(
            f"Rows {rows[0]} and {rows[1]} are both {shortened(models[rows[0] - 1])!r}. Leave one, or rename it"
        )
    columns = [name for name in frame.columns if name != label and name not in reading.ignore]
    errors = {f"{task}{end}": task for task in columns for end in ("_stderr", " stderr")}
    tasks = [name for name in columns if name not in errors and (not reading.only or name in reading.only)]
    columns = [name for name in columns if name in tasks or errors.get(name) in tasks]
    nothing = np.full(len(models), np.nan)
    unread = _sums(tasks, named=reading.named)  # they may be text, such as 51.2%
    values = {
        name: nothing if errors.get(name, name) in unread else _numbers(frame[name], models=models) for name in columns
    }
    known = {errors[name]: _checked_errors(values[name], name, models) for name in columns if name in errors}
    return ScoreTable(
        models=tuple(models),
        tasks=tuple(tasks),
        categories=(WHOLE,),
        codes=np.zeros(len(tasks), np.int64),
        higher=np.ones(len(tasks), bool),
        values=np.array([values[name] for name in tasks]).reshape(len(tasks), len(models)).T,
        stderr=np.array([known.get(name, nothing) for name in tasks]).reshape(len(tasks), len(models)).T,
    )


def _long(frame: pd.DataFrame, reading: ScoreReading, *, known: Mapping[str, str]) -> ScoreTable:
    label = _model_column(frame, reading.model)
    roles = {
        role: known[role]
        for role in ("task", "value", *OPTIONAL)
        if role in known and known[role] not in reading.ignore
    }
    notes = _unused([name for name in frame.columns if name not in (label, *roles.values(), *reading.ignore)], roles)
    names = _models(frame[label])
    tasks = frame[roles["task"]].astype("str").str.strip()
    unnamed = np.flatnonzero((tasks.isna() | (tasks == "")).to_numpy())
    if len(unnamed):
        raise BadInput(f"Row {unnamed[0] + 1} names no task. Name it, or remove the row")
    row, models = pd.factorize(np.array(names, object))
    column, keys = pd.factorize(tasks.to_numpy(object))
    cells = row * len(keys) + column
    again = pd.Series(cells).duplicated()
    if again.any():
        second = int(again.argmax())
        first = int(np.flatnonzero(cells == cells[second])[0])
        raise BadInput(
            f"Rows {first + 1} and {second + 1} are both {shortened(names[second])!r} on "
            f"{shortened(tasks.iloc[second])!r}. Leave one row for each model and task"
        )
    value = _numbers(frame[roles["value"]], models=names)
    error = np.full(len(frame), np.nan)
    if "stderr" in roles:
        error = _checked_errors(_numbers(frame[roles["stderr"]], models=names), roles["stderr"], names)
    if reading.shares:
        if "n" not in roles:
            raise BadInput("Shares need the number of answers behind each: a column n")
        count = _numbers(frame[roles["n"]], models=names)
        error = np.where(np.isnan(error), binomial_stderr(value=value, n=count), error)
        error = sampling_errors(values=value, stderr=error, share_of=count)
    elif "n" in roles and "stderr" not in roles:
        notes.append("The column n alone gives no standard error: say so where values are shares of n right answers")
    of_task = [str(key) for key in keys]
    categories: tuple[str, ...] = (WHOLE,)
    codes = np.zeros(len(keys), np.int64)
    if "category" in roles:
        named = _one_a_task(frame[roles["category"]].astype("str").str.strip().fillna(""), column, of_task)
        for task, category in zip(of_task, named, strict=True):
            if not category:
                raise BadInput(f"The task {shortened(task)!r} has no category, others have one. Name it in every row")
        categories = tuple(dict.fromkeys(named))
        codes = np.array([categories.index(category) for category in named], np.int64)
    higher = np.ones(len(keys), bool)
    if "higher_is_better" in roles:
        told = _one_a_task(frame[roles["higher_is_better"]].astype("str").str.strip().str.lower(), column, of_task)
        for task, truth in zip(of_task, told, strict=True):
            if truth not in TRUTHS:
                raise BadInput(f"higher_is_better of {shortened(task)!r} is {truth!r}; write true or false")
        higher = np.array([TRUTHS[truth] for truth in told], bool)
    table = np.full((2, len(models), len(keys)), np.nan)
    table[:, row, column] = value, error
    return ScoreTable(
        models=tuple(map(str, models)),
        tasks=tuple(of_task),
        categories=categories,
        codes=codes,
        higher=higher,
        values=table[0],
        stderr=table[1],
        notes=tuple(notes),
    )


def _unused(extra: Sequence[str], roles: Mapping[str, str]) -> list[str]:
    """What a long table has beside its own columns. Raises BadInput for what looks like one of these misspelt."""
    for name in extra:
        near = suggestion(name, [role for role in OPTIONAL if role not in roles])
        if near:
            raise BadInput(
                f"A long table knows no column {shortened(name)!r}.{near} Rename it, or leave it out (ignore)"
            )
    return [f"Columns that are not used: {shown(extra)}."] if extra else []


def _one_a_task(cells: pd.Series, column: Ints, tasks: Sequence[str]) -> list[str]:
    """What a column says of every task. Raises BadInput where two rows of a task differ."""
    first = pd.Series(np.arange(len(cells))).groupby(column).first().to_numpy()
    text = cells.to_numpy(object)
    other = np.flatnonzero(text[first][column] != text)
    if len(other):
        row = int(other[0])
        before = int(first[column[row]])
        raise BadInput(
            f"Rows {before + 1} and {row + 1} disagree on {shortened(tasks[column[row]])!r}: column {cells.name!r} is "
            f"{text[before]!r} and {text[row]!r}. Write the same in both"
        )
    return [str(text[row]) for row in first]


def _numbers(column: pd.Series, *, models: Sequence[str]) -> Floats:
    """A column as numbers, NaN where there is no score. Raises BadInput naming the first cell that is none."""
    kind = column.dtype
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) and kind.kind != "c":
        values = column.to_numpy(float, na_value=np.nan)
    else:
        text = column.astype("str").str.strip()
        empty = text.isna() | text.str.lower().isin(NO_SCORE)
        values = pd.to_numeric(text.where(~empty).astype(object), errors="coerce").to_numpy(float)
        wrong = np.flatnonzero(np.isnan(values) & ~empty.to_numpy(bool))
        if len(wrong):
            raise _bad_cell(column, int(wrong[0]), models, _no_number(text.iloc[wrong[0]]))
    wrong = np.flatnonzero(np.abs(values) > LARGEST)
    if len(wrong):
        raise _bad_cell(column, int(wrong[0]), models, "is not a finite score. Write a plain number such as 0.851")
    return values


def _no_number(text: str) -> str:
    """Why a cell is no number, and what to write."""
    if re.fullmatch(r"[+-]?[\d.]*\d\s?%", text):
        return f"has a percent sign. Write {text.rstrip('% ')}, a plain number in the unit of the other scores"
    if re.fullmatch(r"[+-]?[\d.]*\d,\d[\d,.]*", text):
        return "has a comma. Write decimals with a point, such as 50.5, nothing between thousands"
    return "is not a number. Write a plain number such as 0.851"


def _bad_cell(column: pd.Series, row: int, models: Sequence[str], problem: str) -> BadInput:
    return BadInput(
        f"Row {row + 1} ({shortened(models[row])!r}), column {shortened(str(column.name))!r}: "
        f"{shortened(str(column.iloc[row]))!r} {problem}, nothing where there is no score, or leave the column out "
        "(ignore)"
    )


def _checked_errors(values: Floats, name: str, models: Sequence[str]) -> Floats:
    wrong = np.flatnonzero(values < 0)
    if len(wrong):
        row = int(wrong[0])
        raise BadInput(
            f"Row {row + 1} ({shortened(models[row])!r}), column {name!r}: {values[row]:g} is no standard error; it is "
            "never negative. Leave it empty where it is not known"
        )
    return values


def _chosen(table: ScoreTable, *, only: Sequence[str], ignore: Sequence[str], columns: Collection[str]) -> ScoreTable:
    """The table with the chosen tasks. Raises BadInput for names it does not have."""
    _check_names(only, table.tasks, what="only")
    _check_names(ignore, (*columns, *table.tasks), what="ignore")
    keep = [index for index, task in enumerate(table.tasks) if task not in ignore and (not only or task in set(only))]
    if len(keep) == len(table.tasks):
        return table
    used = list(dict.fromkeys(table.codes[keep].tolist()))
    return replace(
        table,
        tasks=tuple(table.tasks[index] for index in keep),
        categories=tuple(table.categories[code] for code in used),
        codes=np.array([used.index(code) for code in table.codes[keep]], np.int64),
        higher=table.higher[keep],
        values=table.values[:, keep],
        stderr=table.stderr[:, keep],
    )


def _without_sums(table: ScoreTable, *, named: Collection[str]) -> ScoreTable:
    """The table without the tasks whose name says that they sum up the others, and a note of them before the others."""
    sums = _sums(table.tasks, named=named)
    if not sums:
        return table
    which, them = ("which by its name sums", "it") if len(sums) == 1 else ("which by their names sum", "them")
    note = f"Left out: {shown(sums)}, {which} up the others. To count {them}, rename {them}, or list the tasks (only)."
    return replace(_chosen(table, only=(), ignore=sums, columns=()), notes=(note, *table.notes))


def _sums(tasks: Sequence[str], *, named: Collection[str]) -> list[str]:
    """The tasks whose name says that they sum up the others, which no option names; none where there are no others."""
    sums = [task for task in tasks if SUM.fullmatch(task) and task not in named]
    return [] if len(sums) == len(tasks) else sums


def _in_categories(table: ScoreTable, categories: Mapping[str, Sequence[str]]) -> ScoreTable:
    code_of: dict[str, int] = {}
    for code, (category, tasks) in enumerate(categories.items()):
        if isinstance(tasks, str) or not tasks:
            raise BadInput(f"The category {category!r} needs a list of tasks, got {tasks!r}")
        _check_names(tasks, table.tasks, what=f"category {category}")
        for task in tasks:
            if code_of.setdefault(task, code) != code:
                first = list(categories)[code_of[task]]
                raise BadInput(f"The task {task!r} is in two categories, {first!r} and {category!r}. Choose one")
    for task in table.tasks:
        if task not in code_of:
            raise BadInput(f"The task {task!r} is in no category. Add it to one, or leave it out (ignore)")
    return replace(
        table, categories=tuple(map(str, categories)), codes=np.array([code_of[task] for task in table.tasks], np.int64)
    )


def _summaries(table: ScoreTable) -> list[str]:
    """A sentence where columns are named as if they were means of the others, or ranks; or facts of the models."""
    kinds = ((SUMMARY, "sum up the others"), (DESCRIPTION, "describe the models"))
    named = [(what, [task for task in table.tasks if names.fullmatch(task)]) for names, what in kinds]
    return [
        f"Counted as tasks: {shown(tasks)}. Leave them out (ignore) if they {what}." for what, tasks in named if tasks
    ]


def _check_names(names: Iterable[str], known: Collection[str], *, what: str) -> None:
    if isinstance(names, str):
        raise BadInput(f"{what} needs a list of names, got the text {shortened(names)!r}: write [{names!r}]")
    for name in names:
        if name not in known:
            raise BadInput(
                f"No column or task {shortened(str(name))!r} ({what}).{suggestion(str(name), known)} The table has: "
                f"{shown(known)}"
            )
