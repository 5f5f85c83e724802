"""Reads a table of scores from any file; every row is checked before any is stored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from compute.catalog import Catalog
from compute.importing.figures import Imported, fingerprint, outside
from compute.io import forms
from compute.io.column_names import higher_is_better
from compute.io.forms import Form, FormField
from compute.io.numbers import number
from compute.io.tables import read_table
from compute.types import KINDS, BadInput, LikenessError, Metric, Model, Run, Score, Task, UnknownKey, unknown

REQUIRED = ("benchmark", "model", "task", "metric", "value")
OPTIONAL = ("subset", "n", "stderr", "low", "high", "source", "printed")
# The columns that declare what is not in the catalogue, all of a noun or none.
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


def read_scores_csv(path: Path, *, catalog: Catalog) -> Imported:
    """Rows of benchmark, model, task, metric, value (in stored units: proportions as fractions) as runs.

    Optional columns: subset, n, stderr, low and high (the ends of a 95% interval that is not value ± 1.96 stderr),
    source, printed. A model that is not in the catalogue is declared by a row that fills `model_title` and
    `model_kind`; a task by `task_title`, `task_category` and `higher_is_better`, which also declares its metric where
    that is new. What the catalogue lists may be declared again in its own words. Raises BadInput naming the file, the
    row (from 1, below the heading) and what next.
    """
    table = read_table(path)
    known = [field.name for field in SCORES.fields]
    if others := [column for column in table.frame if column.strip().lower() not in known]:
        raise BadInput(f"{path.name}: {unknown('column', others[0], known, listed=True)}")
    _, frame, _ = forms.read(table, [SCORES])
    reader = _ScoresReader(catalog=catalog, name=path.name)
    for row, cells in enumerate(frame.to_dict("records"), start=1):
        try:
            reader.read(cells)
        except LikenessError as error:
            raise BadInput(f"{path.name}, row {row}: {error}") from error
    new = {f"{noun}s": tuple(rows.values()) for noun, rows in reader.new.items()}
    return Imported(runs=tuple(reader.runs.values()), scores=tuple(reader.scores.values()), **new)


class _ScoresReader:
    """Collects while it reads rows; one instance reads one file. Its errors name what is wrong in the row."""

    def __init__(self, *, catalog: Catalog, name: str) -> None:
        self.name = name
        self.benchmarks = [benchmark.key for benchmark in catalog.benchmarks]
        self.aliases = {(alias.benchmark, alias.printed): alias.model for alias in catalog.aliases}
        self.known: dict[str, dict[str, Any]] = {
            noun: {row.key: row for row in getattr(catalog, f"{noun}s")} for noun in (*DECLARING, "metric")
        }
        self.new: dict[str, dict[str, Any]] = {noun: {} for noun in self.known}
        self.runs: dict[str, Run] = {}
        self.scores: dict[tuple[str, str, str], Score] = {}

    def read(self, row: dict[str, str]) -> None:
        """Adds one row. Raises BadInput with the reason alone."""
        benchmark, metrics = row["benchmark"], self.known["metric"]
        if benchmark not in self.benchmarks:
            raise BadInput(unknown("benchmark", benchmark, self.benchmarks, listed=True))
        model = self.find("model", self.aliases.get((benchmark, row["model"]), row["model"].lower()), row)
        task = self.find("task", row["task"].lower(), row)
        if task.benchmark != benchmark:
            raise BadInput(f"task {task.key!r} is of the benchmark {task.benchmark!r}, not {benchmark!r}")
        if row["metric"] not in metrics:
            raise UnknownKey("metric", row["metric"], metrics)
        self.add(row, model=model.key, task=task, metric=metrics[row["metric"]])

    def find(self, noun: str, key: str, row: dict[str, str]) -> Any:
        """The row of that key: the catalogue's, which may be declared again in its own words, or this file's."""
        columns, known = DECLARING[noun], self.known[noun]
        filled = {column: row[column] for column in columns if row.get(column)}
        if key not in known:
            if not filled:
                raise BadInput(f"{UnknownKey(noun, key, known)}, or declare it: fill {', '.join(columns)}")
            if missing := [column for column in columns if column not in filled]:
                raise BadInput(f"{missing[0]} is empty; a new {noun} needs {', '.join(columns)}")
            made = (self.declared_model if noun == "model" else self.declared_task)(_checked_key(key), row)
            known[key] = self.new[noun][key] = made
        listed = known[key]
        if noun == "model":
            facts = (listed.title, listed.kind)
        else:
            higher = self.known["metric"][listed.metrics[0]].higher_is_better
            facts = (listed.title, listed.category, str(higher).lower())
        for column, fact in zip(columns, facts, strict=True):
            value = filled.get(column, fact)
            if (value.lower() if value.lower() in TRUTHS else value) != fact:
                raise BadInput(
                    f"{noun} {key!r} is there already, and its {column} is {fact!r}, not {value[:60]!r}; leave "
                    f"{column} empty, or choose another key for another {noun}"
                )
        return listed

    def declared_model(self, key: str, row: dict[str, str]) -> Model:
        """A new model."""
        if row["model_kind"] not in KINDS:
            raise BadInput(f"model_kind is {row['model_kind']!r}; use one of {', '.join(KINDS)}")
        organisation = key.partition("/")[0] if "/" in key else ""
        return Model(key=key, title=row["model_title"], kind=row["model_kind"], organisation=organisation)

    def declared_task(self, key: str, row: dict[str, str]) -> Task:
        """A new task, and its metric where that is new too: unbounded, shown as it is."""
        name, metrics, higher = row["metric"], self.known["metric"], TRUTHS.get(row["higher_is_better"].lower())
        if higher is None:
            raise BadInput(f"higher_is_better is {row['higher_is_better']!r}; write true or false")
        told = metrics[name].higher_is_better if name in metrics else higher_is_better(name)
        if told is (not higher):
            better = "less" if higher else "more"
            raise BadInput(f"higher_is_better is {row['higher_is_better']}, but of {name} {better} is better")
        if name not in metrics:
            metrics[name] = self.new["metric"][name] = Metric(
                key=_checked_key(name), title=name, higher_is_better=higher, lower=None, upper=None, unit=""
            )
        return Task(
            key=key,
            title=row["task_title"],
            benchmark=row["benchmark"],
            category=row["task_category"],
            dataset="",
            metrics=(name,),
            ranked=False,
        )

    def add(self, row: dict[str, str], *, model: str, task: Task, metric: Metric) -> None:
        """Adds the score of a row. Raises BadInput."""
        columns = ("value", "low", "high", "n", "stderr")
        numbers = {column: number(row[column], name=column) for column in columns if row.get(column)}
        ends = [numbers[end] for end in ("low", "high") if end in numbers]
        for column in numbers.keys() - {"n", "stderr"}:
            if reason := outside(numbers[column], metric):
                raise BadInput(f"{column} {reason}; proportions are fractions, 0.851 for 85.1%")
        if "n" in numbers and (numbers["n"] < 1 or numbers["n"] % 1):
            raise BadInput(f"n is {row['n']!r}; give the whole number of items, or leave it empty")
        if numbers.get("stderr", 0) < 0:
            raise BadInput(f"stderr is {row['stderr']!r}; it cannot be negative")
        if len(ends) == 1 or ends != sorted(ends):
            raise BadInput(f"low is {row.get('low')!r} and high {row.get('high')!r}; give both in order, or neither")
        source, subset = row.get("source") or self.name, row.get("subset") or "default"
        mark = fingerprint(model=model, task=task.key, source=source, file=self.name)
        run = Run(
            id=f"csv/{model}/{task.key}/{mark[:12]}",
            model=model,
            task=task.key,
            procedure=task.procedure,
            origin="imported",
            source=source,
            settings={"file": self.name},
            fingerprint=mark,
        )
        if (run.id, subset, metric.key) in self.scores:
            raise BadInput(
                f"{model} on {task.key}, {subset}, {metric.key} appears twice; keep one row, or tell them "
                "apart by subset or source"
            )
        if "n" in numbers:
            numbers["n"] = int(numbers["n"])
        self.runs.setdefault(run.id, run)
        self.scores[run.id, subset, metric.key] = Score(
            run=run.id, subset=subset, metric=metric.key, printed=row.get("printed", ""), **numbers
        )


def _checked_key(key: str) -> str:
    if not KEY.fullmatch(key):
        raise BadInput(f"{key[:60]!r} cannot be a key; use small letters, digits and . _ / + -")
    return key
