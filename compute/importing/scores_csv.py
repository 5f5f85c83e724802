"""Reads a table of scores from any file; every row is checked before any is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.catalog import Catalog
from compute.importing.collection import Imported, fingerprint, outside
from compute.io import forms
from compute.io.column_names import higher_is_better
from compute.io.forms import Form, FormField
from compute.io.numbers import number
from compute.io.tables import read_table
from compute.types import KINDS, BadInput, LikenessError, Metric, Model, Run, Score, Task, UnknownKey, unknown

REQUIRED = ("benchmark", "model", "task", "metric", "value")
OPTIONAL = ("subset", "n", "stderr", "low", "high", "source", "printed")
# Columns that declare what is not in the catalogue: all of a noun or none.
DECLARING = {
    "model": ("model_title", "model_kind"),
    "task": ("task_title", "task_category", "higher_is_better"),
}
SCORES = Form(
    "scores",
    (
        *map(FormField, REQUIRED),
        *(FormField(name, optional=True) for name in (*OPTIONAL, *DECLARING["model"], *DECLARING["task"])),
    ),
)
KEY = re.compile(r"[a-z0-9][a-z0-9._/+-]{0,119}")
TRUTHS = {"true": True, "false": False}
Known = Mapping[str, dict[str, Any]]  # rows by key, by noun


def read_scores_csv(path: Path, *, catalog: Catalog) -> Imported:
    """Reads rows of benchmark, model, task, metric, value (in stored units: proportions as fractions) as runs.

    Optional columns: subset, n, stderr, low and high (the ends of a 95% interval other than value ± 1.96 stderr),
    source, printed. A model outside the catalogue is declared by a row with `model_title` and `model_kind`, a task by
    `task_title`, `task_category` and `higher_is_better`, which also declares its metric if that is new. Existing
    entries may be declared again with identical values. Raises BadInput with the file, the row (from 1, below the
    heading) and a remedy.
    """
    table = read_table(path)
    columns = [field.name for field in SCORES.fields]
    if others := [column for column in table.frame if column.strip().lower() not in columns]:
        raise BadInput(f"{path.name}: {unknown('column', others[0], columns, listed=True)}")
    _, frame, _ = forms.read(table, [SCORES])
    benchmarks = [benchmark.key for benchmark in catalog.benchmarks]
    aliases = catalog.printed_names
    nouns = (*DECLARING, "metric")
    listed = {noun: [row.key for row in getattr(catalog, f"{noun}s")] for noun in nouns}
    known = {noun: {row.key: row for row in getattr(catalog, f"{noun}s")} for noun in nouns}
    runs = {}
    scores = {}  # by run, subset and metric
    for at, row in enumerate(frame.to_dict("records"), start=1):
        try:
            if row["benchmark"] not in benchmarks:
                raise BadInput(unknown("benchmark", row["benchmark"], benchmarks, listed=True))
            named = aliases.get((row["benchmark"], row["model"]), row["model"].lower())
            run, score = _score(row, known, model=_found("model", named, row, known), file=path.name)
            if (cell := (run.id, score.subset, score.metric)) in scores:
                raise BadInput(
                    f"{run.model} on {run.task}, {score.subset}, {score.metric} appears twice; keep one row, or tell "
                    "them apart by subset or source"
                )
        except LikenessError as error:
            raise BadInput(f"{path.name}, row {at}: {error}") from error
        runs.setdefault(run.id, run)
        scores[cell] = score
    new = {f"{noun}s": tuple(row for key, row in known[noun].items() if key not in listed[noun]) for noun in nouns}
    return Imported(runs=tuple(runs.values()), scores=tuple(scores.values()), **new)


def _found(noun: str, key: str, row: dict[str, str], known: Known) -> Any:
    """Returns the row with that key: an existing one, which may be declared again with identical values, or a new one
    that is added to `known`.

    Raises BadInput with the reason only.
    """
    columns = DECLARING[noun]
    filled = {column: row[column] for column in columns if row.get(column)}
    if key not in known[noun]:
        if not filled:
            raise BadInput(f"{UnknownKey(noun, key, known[noun])}, or declare it: fill {', '.join(columns)}")
        if missing := [column for column in columns if column not in filled]:
            raise BadInput(f"{missing[0]} is empty; a new {noun} needs {', '.join(columns)}")
        known[noun][key] = _declared(noun, _checked_key(key), row, known)
    of = known[noun][key]
    if noun == "model":
        facts = (of.title, of.kind)
    else:
        facts = (of.title, of.category, str(known["metric"][of.metrics[0]].higher_is_better).lower())
    for column, fact in zip(columns, facts, strict=True):
        value = filled.get(column, fact)
        if (value.lower() if value.lower() in TRUTHS else value) != fact:
            raise BadInput(
                f"{noun} {key!r} is there already, and its {column} is {fact!r}, not {value[:60]!r}; leave {column} "
                f"empty, or choose another key for another {noun}"
            )
    return of


def _declared(noun: str, key: str, row: dict[str, str], known: Known) -> Model | Task:
    """Returns a new model, or a new task and its metric if that is new too, which is unbounded and shown unscaled."""
    if noun == "model":
        if row["model_kind"] not in KINDS:
            raise BadInput(f"model_kind is {row['model_kind']!r}; use one of {', '.join(KINDS)}")
        organisation = key.partition("/")[0] if "/" in key else ""
        return Model(key=key, title=row["model_title"], kind=row["model_kind"], organisation=organisation)
    name, metrics, stated = row["metric"], known["metric"], row["higher_is_better"]
    higher = TRUTHS.get(stated.lower())
    if higher is None:
        raise BadInput(f"higher_is_better is {stated!r}; write true or false")
    told = metrics[name].higher_is_better if name in metrics else higher_is_better(name)
    if told is (not higher):
        raise BadInput(f"higher_is_better is {stated}, but of {name} {'less' if higher else 'more'} is better")
    metrics.setdefault(
        name, Metric(key=_checked_key(name), title=name, higher_is_better=higher, lower=None, upper=None, unit="")
    )
    about = {"title": row["task_title"], "benchmark": row["benchmark"], "category": row["task_category"]}
    return Task(key=key, **about, dataset="", metrics=(name,), ranked=False)


def _score(row: dict[str, str], known: Known, *, model: Model, file: str) -> tuple[Run, Score]:
    """Returns the score of a row, and its run. Raises BadInput with the reason only."""
    task = _found("task", row["task"].lower(), row, known)
    if task.benchmark != row["benchmark"]:
        raise BadInput(f"task {task.key!r} is of the benchmark {task.benchmark!r}, not {row['benchmark']!r}")
    if row["metric"] not in known["metric"]:
        raise UnknownKey("metric", row["metric"], known["metric"])
    metric = known["metric"][row["metric"]]
    columns = ("value", "low", "high", "n", "stderr")
    numbers = {column: number(row[column], name=column) for column in columns if row.get(column)}
    ends = [numbers[end] for end in ("low", "high") if end in numbers]
    for column in numbers.keys() - {"n", "stderr"}:
        if reason := outside(numbers[column], metric):
            raise BadInput(f"{column} {reason}; proportions are fractions, 0.851 for 85.1%")
    if numbers.get("n", 1) < 1 or numbers.get("n", 1) % 1:
        raise BadInput(f"n is {row['n']!r}; give the whole number of items, or leave it empty")
    if numbers.get("stderr", 0) < 0:
        raise BadInput(f"stderr is {row['stderr']!r}; it cannot be negative")
    if len(ends) == 1 or ends != sorted(ends):
        raise BadInput(f"low is {row.get('low')!r} and high {row.get('high')!r}; give both in order, or neither")
    if "n" in numbers:
        numbers["n"] = int(numbers["n"])
    source = row.get("source") or file
    mark = fingerprint(model=model.key, task=task.key, source=source, file=file)
    run = Run(
        id=f"csv/{model.key}/{task.key}/{mark[:12]}",
        model=model.key,
        task=task.key,
        procedure=task.procedure,
        origin="imported",
        source=source,
        settings={"file": file},
        fingerprint=mark,
    )
    about = {"subset": row.get("subset") or "default", "metric": metric.key, "printed": row.get("printed", "")}
    return run, Score(run=run.id, **about, **numbers)


def _checked_key(key: str) -> str:
    if not KEY.fullmatch(key):
        raise BadInput(f"{key[:60]!r} cannot be a key; use small letters, digits and . _ / + -")
    return key
