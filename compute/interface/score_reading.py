"""A table of scores that somebody brings, checked and brought into arrays: wide or long, a frame or a file.

Wide: a row a model, a column a task; a column `<task>_stderr` holds the standard errors of `<task>`.
Long: a row a score, in the columns `model`, `task`, `value`, and optionally `stderr`, `n`, `category`,
`higher_is_better`.

What mteb gives is read as it is: a `BenchmarkResults`, and its frames, wide with a row a task or long.

Long tables may say `scenario`, `dataset` or `benchmark` for task, with a `metric` next to it, and `score`, `mean` or
`result` for value. `88.1 ± 0.4`, `70.1 (0.3)` and columns such as `<task>_std` are a score with its standard error. An
empty cell, `-`, `NA` or `nan` is not a score. Rows are counted from 1, below the heading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks.means import binomial_stderr
from compute.analysis.table import LARGEST, WHOLE, ScoreTable, shown
from compute.arrays import Floats, Ints
from compute.io.numbers import Numbers, has_decimal_comma, read_numbers
from compute.io.tables import read_table
from compute.types import BadInput, argument, shortened, suggestion

REQUIRED = ("model", "task", "value")  # of a long table
OPTIONAL = ("stderr", "n", "category", "higher_is_better")
ALIASES = {  # in long tables
    "task": ("scenario", "dataset", "benchmark"),
    "value": ("score", "mean", "result"),
    "stderr": ("std_err", "std", "se"),
}
MTEB_TASK = ("task_name", "split", "subset")  # the columns that name a task in mteb's frames, one or more of them
MIXED = 10.0  # times the largest score up to 1 of a column that its least one above 1 is where units may be mixed
NAMED = 10  # bad cells that an error names
TRUTHS = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
MOST_MODELS = 5000  # every two are compared: beyond this the comparisons take more than 2 GB
# Names of columns that sum up others, surely and perhaps; of those that describe a model, as the field's boards have
# them (Number of Parameters, Embedding Dimensions, Zero-shot, embed_dim, # params); and the end of a column of errors.
SUM = re.compile(
    r"(?:(?:(?:macro|micro|weighted)[ _-])?(?:avg|average|mean)\.?(?: (?:score|rank))?|total|(?:score )?rank"
    r"|(?:avg|average|mean|rank)\s*\(.*\))(?:\s*[↑↓])?|#",
    re.IGNORECASE,
)
SUMMARY = re.compile(r"(avg|average|mean|overall|total|rank)\b.*|#", re.IGNORECASE)
DESCRIPTION = re.compile(
    r"(?:#\s*|(?:n|num|number of|model|embed|embedding|release|max|memory|context)[ _])?"
    r"(?:params?|parameters|size|year|dims?|dimensions?|date|tokens|usage|length|window|licen[sc]e|organi[sz]ation|url"
    r"|link)(?:[ _](?:m|b|mb|gb))?(?:\s*[(\[].*)?|zero[- _]?shot|seed|epochs?|batch[ _]size|lr|learning[ _]rate|votes",
    re.IGNORECASE,
)
ERROR_OF = re.compile(r"(.+?)(?:[ _](?:stderr|std_err|std|se|sem)|(?<!\s)\s*(?:±|\((?:stderr|std|se|sem|±)\)))", re.I)
# Names of columns whose rows are tasks, and of models: gte-large, e5-mistral-7b, org/name.
# Measures of which lower is better: abbreviations as any word of a task's name (WER en, coco (FID)), the others as its
# last word or before a unit (val_loss, error rate).
ABBREVIATIONS = ("FID", "KID", "CMMD", "LPIPS", "WER", "CER", "RMSE", "MSE", "MAE", "ECE", "EER", "FPR")
LOWER = (*ABBREVIATIONS, "loss", "err", "error", "latency", "perplexity", "ppl", "Brier score", "toxicity")
IS_LOWER = re.compile(
    rf".*?\b(?:{'|'.join(ABBREVIATIONS)})\b.*"
    rf"|(?:.*[ _./-])?(?:{'|'.join(LOWER)})(?:[ _-](?:rate|ms|s|\d+k?))?(?:\s*[(\[].*)?(?:\s*[↑↓▲▼])?",
    re.IGNORECASE | re.DOTALL,
)
SAYS_LOWER, SAYS_HIGHER = (
    re.compile(rf"[{signs}]|\b{word}[ _]is[ _]better\b", re.IGNORECASE)
    for signs, word in (("↓▼", "lower"), ("↑▲", "higher"))
)
SUMMARY_ROWS = frozenset(("mean", "average", "avg", "median", "std", "stdev", "min", "max", "total"))  # of models
OF_TASKS = re.compile(r"(?:tasks?|datasets?|benchmarks?|scenarios?|metrics?|tests?|subsets?)", re.IGNORECASE)
OF_A_MODEL = re.compile(
    r".+[-_ /](?:v?\d+(?:\.\d+)*[bm]?|base|large|small|xl|instruct|mini|turbo|v\d.*)\b.*|.+/.+", re.I | re.S
)


class Framed(Protocol):
    """What turns itself into a frame, such as mteb's `BenchmarkResults`."""

    def to_dataframe(self) -> pd.DataFrame:
        """Its scores."""
        ...


TableOfScores = pd.DataFrame | str | Path | Framed


@dataclass(frozen=True, kw_only=True)
class ScoreReading:
    """How a table of scores is read: the arguments that rank, compare, correlate and lite share.

    A column whose name says that it sums up the others or describes the models, such as `Mean (Task)` or `Zero-shot`,
    is skipped unless an argument names it.
    """

    model: str = ""  # the column of models; else `model`, a named index, or a first column of text
    only: Sequence[str] = ()  # the tasks to take; empty: all
    ignore: Sequence[str] = ()  # columns (of a wide table) or tasks to omit
    categories: Mapping[str, Sequence[str]] | None = None  # names of categories and their tasks, every task in one
    groups: Mapping[str, Sequence[str]] | None = None  # names of groups and their tasks, which share their data
    weights: Mapping[str, float] | None = None  # by category or task, others 1; here only the names in it count
    lower_is_better: Sequence[str] = ()  # tasks
    transpose: bool = False  # a row a task and a column a model
    shares: bool = False  # every value is a share of `n` right answers: where no standard error is given, the binomial

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
        notes: tuple[str, ...] = ()
        comma = None
        if hasattr(scores, "to_dataframe"):
            scores = scores.to_dataframe()
        if not isinstance(scores, pd.DataFrame):
            if not isinstance(scores, str | Path):
                raise BadInput(
                    f"scores is a {type(scores).__name__}; give a pandas.DataFrame, such as pandas.DataFrame(scores) "
                    "of columns, the path of a table, or mteb's results"
                )
            file = read_table(Path(scores), repeated=True)
            scores, comma, notes = file.frame, file.comma, file.notes
        frame = _named(scores)
        if not self.transpose and self.model not in MTEB_TASK:
            frame = _of_mteb(frame)
        if self.transpose:
            first = self.model or frame.columns[0]
            _check_names([first], frame.columns, what=argument("model"))
            frame = _named(frame.set_index(first).T.rename_axis("model"))
        if not len(frame):
            raise BadInput("The table has no rows below its heading. Add one for every model")
        shared = set(frame.columns[frame.columns.duplicated()])
        frame = frame.loc[:, ~frame.columns.duplicated()]
        reading = replace(self, model="") if self.transpose else self
        roles = _roles(frame, reading)
        table = _long(frame, reading, roles, comma, shared) if roles else _wide(frame, reading, comma, shared)
        table = _chosen(table, only=self.only, ignore=self.ignore, columns=frame.columns)
        table = _without_summaries(table, named=self.named)
        _check_units(table, named=self.named)
        if not table.tasks:
            raise BadInput("The table has no tasks: it needs a column of scores besides the column of models")
        if len(table.models) > MOST_MODELS:
            raise BadInput(
                f"The table has {len(table.models):,} models; at most {MOST_MODELS:,} can be compared. Choose some"
            )
        if self.lower_is_better:
            _check_names(self.lower_is_better, table.tasks, what=argument("lower_is_better"))
        higher = table.higher & ~np.isin(table.tasks, list(self.lower_is_better))
        said = [] if "higher_is_better" in roles else _lower_by_name(table.tasks, named=self.lower_is_better)
        if said:
            notes = (
                *notes,
                f"Lower is better, by their names: {shown(said)}. Where higher is, rename the column "
                f"(names that say so: {', '.join(LOWER)}, ↓).",
            )
        table = replace(table, higher=higher & ~np.isin(table.tasks, said))
        if self.categories:
            table = _in_categories(table, self.categories)
        if self.groups:
            group = _members(self.groups, table.tasks, noun="group")
            alone = range(len(self.groups), len(self.groups) + len(table.tasks))
            clusters = [group.get(task, other) for task, other in zip(table.tasks, alone, strict=True)]
            table = replace(table, clusters=np.array(clusters, np.int64))
        return replace(table, notes=(*table.notes, *notes, *_summaries(table)))


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its columns' names as text, and an index that names models as a column."""
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise BadInput("The table has several levels of columns or rows. Flatten it: frame.reset_index()")
    names = ["model" if name == "__index_level_0__" else str(name).strip() for name in frame.columns]  # pandas' index
    frame = frame.set_axis(names, axis=1)
    index = frame.index
    title = str(index.name).strip() if index.name is not None else "model"
    if not pd.api.types.is_numeric_dtype(index.dtype) and "model" not in map(str.lower, names) and title not in names:
        frame = frame.reset_index(names=title)
    return frame


def _of_mteb(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of mteb's results with its models as rows, or long, under the names that we use; others as they are."""
    names = [name for name in MTEB_TASK if name in frame.columns]
    if "task_name" not in names:
        return frame
    tasks = frame[names].astype("str").agg(" ".join, axis=1)
    rest = frame.drop(columns=[*names, "is_public"], errors="ignore")
    if not {"model", "model_name"}.isdisjoint(rest.columns):
        return rest.rename(columns={"score": "value"}).assign(task=tasks)
    return rest.set_axis(tasks).T.rename_axis("model").reset_index()


def _check_once(used: Iterable[str], shared: Collection[str]) -> None:
    """Raises BadInput for a name that is used and that two columns have."""
    for name in used:
        if name in shared:
            raise BadInput(
                f"Two columns are named {shortened(name)!r}. Rename one of them, or omit both ({argument('ignore')})"
            )


def _lower_by_name(tasks: Sequence[str], *, named: Sequence[str]) -> list[str]:
    """The tasks of which ↓ or LOWER says that lower is better, without those named so. Raises BadInput where ↑ says
    the opposite of the name or the option."""
    found = []
    for task in tasks:
        down = SAYS_LOWER.search(task) is not None
        lower = task in named or IS_LOWER.fullmatch(SAYS_HIGHER.sub("", task).strip()) is not None
        if (up := SAYS_HIGHER.search(task)) and (down or lower):
            other = argument("lower_is_better") if task in named else "↓" if down else "its name"
            raise BadInput(
                f"Is higher or lower better on {shortened(task)!r}? {up[0]} says higher, {other} says lower. Rename it"
            )
        if (down or lower) and task not in named:
            found.append(task)
    return found


def _roles(frame: pd.DataFrame, reading: ScoreReading) -> dict[str, str]:
    """Of a long table, which column has which role; nothing for a wide one. Raises BadInput."""
    unused = (*reading.ignore, reading.model)
    known = {name.lower(): name for name in reversed(frame.columns) if name not in unused}
    roles = {role: known[role] for role in ("task", "value", *OPTIONAL) if role in known}
    if {"task", "value"} <= {name.lower() for name in frame.columns}:
        return {
            role: next(name for name in frame.columns if name.lower() == role) for role in ("task", "value")
        } | roles
    if reading.model or "model" in known:
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


def _model_column(frame: pd.DataFrame, model: str) -> str:
    has = f"The table has the columns {shown(frame.columns)}"
    if model:
        if model not in frame.columns:
            raise BadInput(f"No column {model!r} of models.{suggestion(model, frame.columns)} {has}")
        return model
    for name in frame.columns:
        if name.lower() == "model":
            return name
    first = frame.columns[0]
    if pd.to_numeric(frame[first].astype(object), errors="coerce").notna().any():
        raise BadInput(
            f"Which column names the models? Name it 'model', or say which it is ({argument('model')}). {has}"
        )
    rows, others = frame[first].astype("str").fillna(""), list(frame.columns[1:])
    models = [sum(OF_A_MODEL.fullmatch(name) is not None for name in names) for names in (rows, others)]
    if OF_TASKS.fullmatch(first) or (models[1] > len(others) / 2 and models[0] <= len(rows) / 3):
        raise BadInput(
            f"The table looks transposed: its rows seem to be tasks ({shown(rows, 2)}), its columns models "
            f"({shown(others, 2)}). If so, read it with {argument('transpose', True)}; if {first!r} names the models, "
            f"with {argument('model', first)}"
        )
    return first


def _models(column: pd.Series) -> list[str]:
    names = column.astype("str").str.strip()
    empty = np.flatnonzero((names.isna() | (names == "")).to_numpy())
    if len(empty):
        raise BadInput(f"Row {empty[0] + 1} has no model in the column {column.name!r}. Name it, or remove the row")
    return names.tolist()


def _wide(frame: pd.DataFrame, reading: ScoreReading, comma: bool | None, shared: Collection[str]) -> ScoreTable:
    label = _model_column(frame, reading.model)
    _check_names(reading.ignore, frame.columns, what=argument("ignore"))
    _check_names(reading.only, [name for name in frame.columns if name != label], what=argument("only"))
    if reading.shares:
        raise BadInput("Shares need the number of answers behind each: give a long table with the column n")
    models = _models(frame[label])
    summaries = [name for name in models if name.lower() in SUMMARY_ROWS]
    if summaries and len(summaries) < len(models):
        frame = frame[[name not in summaries for name in models]]
        models = _models(frame[label])
    twice = pd.Series(models).duplicated(keep=False)
    if twice.any():
        rows = np.flatnonzero(np.array(models) == models[int(twice.argmax())])[:2] + 1
        raise BadInput(
            f"Rows {rows[0]} and {rows[1]} are both {shortened(models[rows[0] - 1])!r}. Leave one, or rename it"
        )
    columns = [name for name in frame.columns if name != label and name not in reading.ignore]
    errors = {}
    for name in columns:
        found = ERROR_OF.fullmatch(name)
        of = next((task for end in ("", "_mean", " mean") if found and (task := found[1] + end) in columns), "")
        if of and name not in reading.named:
            errors[name] = of
    tasks = [name for name in columns if name not in errors and (not reading.only or name in reading.only)]
    left_out = {name for names in _left_out(tasks, named=reading.named) for name in names}  # they may be text
    read = [
        name
        for name in columns
        if name in {*tasks, *errors} - left_out and errors.get(name, name) in {*tasks} - left_out
    ]
    _check_once((label, *read), shared)
    decimal = has_decimal_comma((frame[name] for name in read), separator=comma)
    faults = _BadCells(models=models)
    numbers = {name: faults.numbers(frame[name], decimal) for name in read}
    known = {task: numbers[task].errors for task in tasks if task in numbers}
    known |= {errors[name]: faults.errors(numbers[name].values, name) for name in read if name in errors}
    faults.check()
    nothing = np.full(len(models), np.nan)
    values = {name: numbers[name].values if name in numbers else nothing for name in tasks}
    return ScoreTable(
        models=tuple(models),
        tasks=tuple(tasks),
        values=np.array([values[name] for name in tasks]).reshape(len(tasks), len(models)).T,
        stderr=np.array([known.get(name, nothing) for name in tasks]).reshape(len(tasks), len(models)).T,
        notes=(
            *[f"Rows that are not models, by their names: {shown(summaries)}."] * bool(summaries),
            *_errors_said(
                [name for name in tasks if name in numbers and not np.isnan(numbers[name].errors).all()],
                [name for name in read if name in errors and not name.lower().endswith("stderr")],
            ),
        ),
    )


def _errors_said(behind: Sequence[str], columns: Sequence[str]) -> list[str]:
    """What was taken for standard errors without being called so."""
    said = {"the columns": columns, "what stands behind ± or in parentheses in": behind}
    return [f"Read as standard errors: {what} {shown(names)}." for what, names in said.items() if names]


def _long(
    frame: pd.DataFrame, reading: ScoreReading, roles: Mapping[str, str], comma: bool | None, shared: Collection[str]
) -> ScoreTable:
    label = _model_column(frame, reading.model)
    metric = next((name for name in frame.columns if name.lower() == "metric" and name not in reading.ignore), "")
    several = metric and frame.groupby(roles["task"])[metric].nunique().max() > 1
    if metric and (
        several or frame[metric].astype("str").map(IS_LOWER.fullmatch).notna().any()
    ):  # it has the direction
        cells = frame[roles["task"]].astype("str") + " (" + frame[metric].astype("str") + ")"
        frame = frame.assign(**{roles["task"]: cells})
    elif metric not in roles.values():
        metric = ""
    _check_once((label, metric, *roles.values()), shared)
    notes = _unused(
        [name for name in frame.columns if name not in (label, metric, *roles.values(), *reading.ignore)], roles
    )
    if any(role != roles[role].lower() for role in REQUIRED[1:]):
        notes.append(f"Read as a long table: task is {roles['task']!r}, value is {roles['value']!r}.")
    names = _models(frame[label])
    tasks = frame[roles["task"]].astype("str").str.strip()
    unnamed = np.flatnonzero((tasks.isna() | (tasks == "")).to_numpy())
    if len(unnamed):
        raise BadInput(f"Row {unnamed[0] + 1} has no task. Name it, or remove the row")
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
    faults = _BadCells(models=names)
    decimal = has_decimal_comma((frame[roles[role]] for role in ("value", "stderr") if role in roles), separator=comma)
    read = faults.numbers(frame[roles["value"]], decimal, groups=column)
    value, error = read.values, read.errors
    notes += _errors_said([] if np.isnan(error).all() else [roles["value"]], [])
    if "stderr" in roles:
        error = faults.errors(faults.numbers(frame[roles["stderr"]], decimal).values, roles["stderr"])
    faults.check()
    if reading.shares:
        if "n" not in roles:
            raise BadInput("Shares need the number of answers behind each: a column n")
        count = faults.numbers(frame[roles["n"]], decimal).values
        faults.check()
        error = np.where(np.isnan(error), binomial_stderr(value=value, n=count), error)
        error = sampling_errors(values=value, stderr=error, share_of=count)
    elif "n" in roles and "stderr" not in roles:
        notes.append(
            "The column n alone does not give a standard error: say so where values are shares of n correct answers"
        )
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
    """The extra columns of a long table. Raises BadInput for what looks like one of these misspelt."""
    for name in extra:
        near = suggestion(name, [role for role in OPTIONAL if role not in roles])
        if near:
            raise BadInput(
                f"A long table has no column {shortened(name)!r}.{near} Rename it, or omit it ({argument('ignore')})"
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
            f"Row {row + 1} ({shortened(self.models[row])!r}), column {shortened(str(column.name))!r}: "
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


def _chosen(table: ScoreTable, *, only: Sequence[str], ignore: Sequence[str], columns: Collection[str]) -> ScoreTable:
    """The table with the chosen tasks. Raises BadInput for names it does not have."""
    _check_names(only, table.tasks, what=argument("only"))
    _check_names(ignore, (*columns, *table.tasks), what=argument("ignore"))
    keep = [index for index, task in enumerate(table.tasks) if task not in ignore and (not only or task in set(only))]
    if len(keep) == len(table.tasks):
        return table
    return _categorised(table.columns(keep), [table.categories[code] for code in table.codes[keep]])


def _without_summaries(table: ScoreTable, *, named: Collection[str]) -> ScoreTable:
    """The table without the tasks whose names say that they are none, and a note of them before the others."""
    sums, facts = _left_out(table.tasks, named=named)
    if not sums and not facts:
        return table
    why = [f"{shown(sums)} (sums of others)"] * bool(sums) + [f"{shown(facts)} (facts of the models)"] * bool(facts)
    note = f"Skipped by their names: {', '.join(why)}. To count one, rename it, or list the tasks ({argument('only')})."
    return replace(_chosen(table, only=(), ignore=[*sums, *facts], columns=()), notes=(note, *table.notes))


def _left_out(tasks: Sequence[str], *, named: Collection[str]) -> tuple[list[str], list[str]]:
    """The tasks that by their names sum up the others, and those that describe the models, as far as no option names
    them; none without others."""
    free = [task for task in tasks if task not in named]
    sums = [task for task in free if SUM.fullmatch(task)]
    facts = [
        task
        for task in free
        if task not in sums and (DESCRIPTION.fullmatch(task) or re.search("(?i)[ _]std(err)?$", task))
    ]
    return ([], []) if len(sums) + len(facts) == len(tasks) else (sums, facts)


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


def _members(named: Mapping[str, Sequence[str]], known: Collection[str], *, noun: str) -> dict[str, int]:
    """The number of the category or group that each named task is in. Raises BadInput for a task in two."""
    code_of: dict[str, int] = {}
    for code, (name, tasks) in enumerate(named.items()):
        if isinstance(tasks, str) or not tasks:
            raise BadInput(f"The {noun} {name!r} needs a list of tasks, got {tasks!r}")
        _check_names(tasks, known, what=f"{noun} {name}")
        for task in tasks:
            if code_of.setdefault(task, code) != code:
                first = list(named)[code_of[task]]
                raise BadInput(f"The task {task!r} is in the {noun} {first!r} and in {name!r}. Choose one")
    return code_of


def _in_categories(table: ScoreTable, categories: Mapping[str, Sequence[str]]) -> ScoreTable:
    code_of = _members(categories, table.tasks, noun="category")
    for task in table.tasks:
        if task not in code_of:
            raise BadInput(f"The task {task!r} is in no category. Add it to one, or omit it ({argument('ignore')})")
    names = [str(name) for name in categories]
    return _categorised(table, [names[code_of[task]] for task in table.tasks], order=names)


def _categorised(table: ScoreTable, of_task: Sequence[str], *, order: Sequence[str] = ()) -> ScoreTable:
    """The table with the category of every task; categories in this order, or in that of the tasks."""
    categories = tuple(order or dict.fromkeys(of_task))
    codes = np.array([categories.index(name) for name in of_task], np.int64)
    return replace(table, categories=categories, codes=codes, weights=None, printed=None)


def _summaries(table: ScoreTable) -> list[str]:
    """A sentence where columns are named as if they were means of the others, or ranks."""
    named = [task for task in table.tasks if SUMMARY.fullmatch(task)]
    return [f"Counted as tasks: {shown(named)}. Omit them ({argument('ignore')}) if they sum up the others."][
        : len(named)
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
