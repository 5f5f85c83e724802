"""Reads a table of scores from any file; every row is checked before any is stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

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

Noun = TypeVar("Noun", Model, Task)


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
    return Imported(
        runs=tuple(reader.runs.values()),
        scores=tuple(reader.scores.values()),
        models=tuple(reader.new_models.values()),
        tasks=tuple(reader.new_tasks.values()),
        metrics=tuple(reader.new_metrics.values()),
    )


class _ScoresReader:
    """Collects while it reads rows; one instance reads one file. Its errors name what is wrong in the row."""

    def __init__(self, *, catalog: Catalog, name: str) -> None:
        self.name = name
        self.benchmarks = [benchmark.key for benchmark in catalog.benchmarks]
        self.models = {model.key: model for model in catalog.models}
        self.tasks = {task.key: task for task in catalog.tasks}
        self.metrics = {metric.key: metric for metric in catalog.metrics}
        self.aliases = {(alias.benchmark, alias.printed): alias.model for alias in catalog.aliases}
        self.new_models: dict[str, Model] = {}
        self.new_tasks: dict[str, Task] = {}
        self.new_metrics: dict[str, Metric] = {}
        self.runs: dict[str, Run] = {}
        self.scores: dict[tuple[str, str, str], Score] = {}

    def read(self, row: dict[str, str]) -> None:
        """Adds one row. Raises BadInput with the reason alone."""
        benchmark = row["benchmark"]
        if benchmark not in self.benchmarks:
            raise BadInput(unknown("benchmark", benchmark, self.benchmarks, listed=True))
        model = self.aliases.get((benchmark, row["model"]), row["model"].lower())
        self.find("model", model, row, known=self.models, new=self.new_models, make=self.declare_model)
        task = self.find("task", row["task"].lower(), row, known=self.tasks, new=self.new_tasks, make=self.declare_task)
        if task.benchmark != benchmark:
            raise BadInput(f"task {task.key!r} is of the benchmark {task.benchmark!r}, not {benchmark!r}")
        if row["metric"] not in self.metrics:
            raise UnknownKey("metric", row["metric"], self.metrics)
        self.add(row, model=model, task=task, metric=self.metrics[row["metric"]])

    def find(
        self,
        noun: str,
        key: str,
        row: dict[str, str],
        *,
        known: dict[str, Noun],
        new: dict[str, Noun],
        make: Callable[[str, dict[str, str]], Noun],
    ) -> Noun:
        """The catalogue's row of that key, or the one this file declares."""
        columns = DECLARING[noun]
        filled = [column for column in columns if row.get(column)]
        if key in known:
            self.check_same(noun, known[key], {column: row[column] for column in filled})
            return known[key]
        if filled and len(filled) < len(columns):
            missing = next(column for column in columns if column not in filled)
            raise BadInput(f"{missing} is empty; a new {noun} needs {', '.join(columns)}")
        if filled:
            made = make(_checked_key(key), row)
            if new.setdefault(key, made) != made:
                raise BadInput(f"{noun} {key!r} is declared in two ways; declare it once")
        if key not in new:
            raise BadInput(f"{UnknownKey(noun, key, known)}, or declare it: fill {', '.join(columns)}")
        return new[key]

    def check_same(self, noun: str, row: Model | Task, declared: dict[str, str]) -> None:
        """Raises BadInput where a file declares a row of the catalogue as another one; the same again does no harm."""
        if isinstance(row, Model):
            listed = {"model_title": row.title, "model_kind": row.kind}
        else:
            higher = self.metrics[row.metrics[0]].higher_is_better
            listed = {"task_title": row.title, "task_category": row.category, "higher_is_better": str(higher).lower()}
        for column, value in declared.items():
            if (value.lower() if value.lower() in TRUTHS else value) != listed[column]:
                raise BadInput(
                    f"{noun} {row.key!r} is in the catalogue already, and its {column} is {listed[column]!r}, not "
                    f"{value[:60]!r}; leave {column} empty, or choose another key for another {noun}"
                )

    def declare_model(self, key: str, row: dict[str, str]) -> Model:
        """A new model."""
        if row["model_kind"] not in KINDS:
            raise BadInput(f"model_kind is {row['model_kind']!r}; use one of {', '.join(KINDS)}")
        return Model(
            key=key,
            title=row["model_title"],
            kind=row["model_kind"],
            organisation=key.partition("/")[0] if "/" in key else "",
        )

    def declare_task(self, key: str, row: dict[str, str]) -> Task:
        """A new task, and its metric where that is new too: unbounded, shown as it is."""
        higher = TRUTHS.get(row["higher_is_better"].lower())
        if higher is None:
            raise BadInput(f"higher_is_better is {row['higher_is_better']!r}; write true or false")
        if row["metric"] not in self.metrics and higher_is_better(row["metric"]) is (not higher):
            better = "less" if higher else "more"
            raise BadInput(f"higher_is_better is {row['higher_is_better']}, but of {row['metric']} {better} is better")
        name = row["metric"]
        if name not in self.metrics:
            self.metrics[name] = self.new_metrics[name] = Metric(
                key=_checked_key(name), title=name, higher_is_better=higher, lower=None, upper=None, unit=""
            )
        metric = self.metrics[name]
        if metric.higher_is_better != higher:
            better = "more" if metric.higher_is_better else "less"
            raise BadInput(f"higher_is_better is {row['higher_is_better']}, but of {name} {better} is better")
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
        numbers = {
            column: number(row[column], name=column)
            for column in ("value", "n", "stderr", "low", "high")
            if row.get(column)
        }
        for column in numbers.keys() - {"n", "stderr"}:
            if reason := outside(numbers[column], metric):
                raise BadInput(f"{column} {reason}; proportions are fractions, 0.851 for 85.1%")
        n, ends = numbers.get("n"), [numbers[end] for end in ("low", "high") if end in numbers]
        if n is not None and (n < 1 or n != int(n)):
            raise BadInput(f"n is {row['n']!r}; give the whole number of items, or leave it empty")
        if numbers.get("stderr", 0) < 0:
            raise BadInput(f"stderr is {row['stderr']!r}; it cannot be negative")
        if len(ends) == 1 or ends != sorted(ends):
            raise BadInput(f"low is {row.get('low')!r} and high {row.get('high')!r}; give both in order, or neither")
        source, subset = row.get("source") or self.name, row.get("subset") or "default"
        identity = {"model": model, "task": task.key, "source": source, "file": self.name}
        mark = fingerprint(**identity)
        run = f"csv/{model}/{task.key}/{mark[:12]}"
        if (run, subset, metric.key) in self.scores:
            raise BadInput(
                f"{model} on {task.key}, {subset}, {metric.key} appears twice; keep one row, or tell them "
                "apart by subset or source"
            )
        self.runs.setdefault(
            run,
            Run(
                id=run,
                model=model,
                task=task.key,
                procedure=task.procedure,
                origin="imported",
                source=source,
                settings={"file": self.name},
                fingerprint=mark,
            ),
        )
        self.scores[(run, subset, metric.key)] = Score(
            run=run,
            subset=subset,
            metric=metric.key,
            printed=row.get("printed", ""),
            **{**numbers, "n": None if n is None else int(n)},
        )


def _checked_key(key: str) -> str:
    if not KEY.fullmatch(key):
        raise BadInput(f"{key[:60]!r} cannot be a key; use small letters, digits and . _ / + -")
    return key
