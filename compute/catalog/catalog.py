"""Gathers every benchmark, suite, task, metric, model and dataset from assets/catalog, and cross-checks their keys."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

import pandas as pd

from compute.metrics import METRICS
from compute.paths import CATALOG
from compute.tables import read_csv
from compute.types import ABILITIES, AGGREGATES, KINDS, BadInput, Benchmark, Metric, Model, Suite, Task, UnknownKey

GROUPS = ("", "general-purpose", "specialised", "multi-task")
# MIEB's task types that stand apart in its means; every other task keeps the category its table row names.
MIEB_CATEGORIES = {
    "Any2AnyMultilingualRetrieval": "Multilingual Retrieval",
    "VisualSTS(eng)": "Visual STS (en)",
    "VisualSTS(multi)": "Visual STS (cross & multi)",
}
MIEB_SUITES = {"in_MIEB_multilingual": "mieb", "in_MIEB_eng": "mieb-en", "in_MIEB_lite": "mieb-lite"}
MIEB_PROCEDURES = {
    "AbsTaskClassification": "probe",
    "AbsTaskMultilabelClassification": "probe",
    "AbsTaskClusteringLegacy": "clustering",
    "AbsTaskImageTextPairClassification": "matching",
    "AbsTaskRetrieval": "retrieval",
    "AbsTaskSTS": "sts",
    "AbsTaskAggregate": "sts",
    "AbsTaskZeroShotClassification": "zero_shot",
}
MIEB_COLUMNS = (
    "name",
    "abstask_type",
    "mteb_task_type",
    "mieb_category",
    "modalities",
    "hf_dataset_path",
    "revision",
    "eval_splits",
    "subsets",
    "languages",
    "main_score",
    "num_samples",
    "num_queries",
    "num_classes",
    "extra",
    "license",
    *MIEB_SUITES,
)
# MIEB's names of scores; its hit rate is what the paper's tables call recall.
MIEB_METRICS = {
    "accuracy": "accuracy",
    "ndcg_at_10": "ndcg_at_10",
    "ndcg_at_5": "ndcg_at_5",
    "cosine_spearman": "cosine_spearman",
    "hit_rate_at_1": "recall_at_1",
    "hit_rate_at_3": "recall_at_3",
    "map_at_5": "map_at_5",
    "nmi": "nmi",
    "lrap": "lrap",
    "text_acc": "text_accuracy",
    "image_acc": "image_accuracy",
}


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set that tasks use or models were trained on."""

    key: str
    title: str
    url: str = ""
    license: str = ""
    citation: str = ""
    notes: str = ""
    part_of: tuple[str, ...] = ()  # data sets whose items it takes: a model trained on those has seen its like


@dataclass(frozen=True, kw_only=True)
class Alias:
    """A printed model name of one paper. `certainty` is `known` or `guess`."""

    benchmark: str
    printed: str
    model: str
    certainty: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Everything there is to score, and with what. Keys are unique and every reference resolves."""

    benchmarks: tuple[Benchmark, ...]
    suites: tuple[Suite, ...]
    tasks: tuple[Task, ...]
    metrics: tuple[Metric, ...]
    models: tuple[Model, ...]
    datasets: tuple[Dataset, ...]
    aliases: tuple[Alias, ...]

    def task(self, key: str) -> Task:
        """The task of that key. Raises UnknownKey."""
        return _find("task", key, {task.key: task for task in self.tasks})

    def model(self, key: str) -> Model:
        """The model of that key. Raises UnknownKey."""
        return _find("model", key, {model.key: model for model in self.models})

    def metric(self, key: str) -> Metric:
        """The metric of that key. Raises UnknownKey."""
        return _find("metric", key, {metric.key: metric for metric in self.metrics})

    def suite(self, key: str) -> Suite:
        """The suite of that key. Raises UnknownKey."""
        return _find("suite", key, {suite.key: suite for suite in self.suites})


def _find(noun: str, key: str, known: dict):
    if key not in known:
        raise UnknownKey(noun, key, known)
    return known[key]


def load(folder: Path = CATALOG) -> Catalog:
    """Reads the catalogue. Raises BadInput naming the file, the row and what is wrong."""
    nouns = {
        "benchmarks": Benchmark,
        "suites": Suite,
        "datasets": Dataset,
        "models": Model,
        "tasks": Task,
        "aliases": Alias,
    }
    rows = {
        name: _rows(folder / f"{name}.csv", columns=tuple(field.name for field in fields(noun)))
        for name, noun in nouns.items()
    }
    rows["mieb_tasks"] = _rows(folder / "mieb_tasks.csv", columns=MIEB_COLUMNS, others=True)
    catalog = Catalog(
        benchmarks=tuple(Benchmark(**row) for row in rows["benchmarks"]),
        suites=tuple(_suite(row) for row in rows["suites"]),
        tasks=(*(_task(row) for row in rows["tasks"]), *(_mieb_task(row) for row in rows["mieb_tasks"])),
        metrics=METRICS,
        models=tuple(_model(row) for row in rows["models"]),
        datasets=tuple(Dataset(**{**row, "part_of": _list(row["part_of"])}) for row in rows["datasets"]),
        aliases=tuple(Alias(**row) for row in rows["aliases"]),
    )
    _check(catalog)
    return catalog


@lru_cache(maxsize=1)
def shipped() -> Catalog:
    """The catalogue that is part of the repository."""
    return load()


def _rows(path: Path, *, columns: tuple[str, ...], others: bool = False) -> list[dict[str, str]]:
    """A table with exactly these columns; `others` allows more."""
    frame = read_csv(path, columns=columns)
    unknown = [column for column in frame.columns if column not in columns]
    if unknown and not others:
        raise BadInput(f"{path.name} has a column {unknown[0]!r} that is not known; known are: {', '.join(columns)}")
    return frame.to_dict("records")


def _list(text: str, *, separator: str = ";") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _number(row: dict[str, str], column: str, kind: type) -> float | int | None:
    text = row[column].strip()
    if not text:
        return None
    try:
        return kind(_finite(float(text)))
    except ValueError as error:
        raise BadInput(f"{row['key']}: {column} is {text!r}, not a number") from error


def _finite(value: float) -> float:
    """The value itself. Raises ValueError for an infinite one or NaN."""
    if not math.isfinite(value):
        raise ValueError(value)
    return value


def _named(row: dict[str, str], column: str, known: dict[str, str]) -> str:
    if row[column] not in known:
        raise BadInput(f"{row['key']}: {column} is {row[column]!r}; known are: {', '.join(known)}")
    return known[row[column]]


def _truth(row: dict[str, str], column: str) -> bool | None:
    known = {"true": True, "false": False, "": None}
    text = row[column].strip().lower()
    if text not in known:
        raise BadInput(f"{row['key']}: {column} is {text!r}; write true, false or leave it empty")
    return known[text]


def _suite(row: dict[str, str]) -> Suite:
    return Suite(
        **{**row, "minimum_coverage": _number(row, "minimum_coverage", float), "baselines": _list(row["baselines"])}
    )


def _model(row: dict[str, str]) -> Model:
    lists = {name: _list(row[name]) for name in ("abilities", "modalities", "trained_on")}
    sizes = {name: _number(row, name, int) for name in ("embed_dim", "image_size")}
    try:
        options = json.loads(row["options"] or "{}")
    except json.JSONDecodeError as error:
        raise BadInput(f"models.csv, {row['key']}: options is not JSON ({error})") from error
    return Model(
        **{
            **row,
            **lists,
            **sizes,
            "parameters_m": _number(row, "parameters_m", float),
            "open_weights": _truth(row, "open_weights"),
            "options": options,
        }
    )


def _task(row: dict[str, str]) -> Task:
    lists = {name: _list(row[name]) for name in ("subsets", "metrics", "modalities", "languages", "suites")}
    return Task(
        **{
            **row,
            **lists,
            "chance": _number(row, "chance", float),
            "n_items": _number(row, "n_items", int),
            "ranked": _truth(row, "ranked") is not False,
        }
    )


def _mieb_task(row: dict[str, str]) -> Task:
    """One row of MIEB's own task table as our noun; sizes and chance levels follow from its columns."""
    named = {**row, "key": f"mieb/{row['name'].lower()}"}
    classes = _number(named, "num_classes", int)
    procedure = _named(named, "abstask_type", MIEB_PROCEDURES)
    if row["mteb_task_type"] == "VisionCentricQA":
        procedure = "multiple_choice"
    metric = _named(named, "main_score", MIEB_METRICS)
    if row["name"] == "Winoground":
        metric = "group_accuracy"
    counted = "num_queries" if row["abstask_type"] == "AbsTaskRetrieval" else "num_samples"  # else: corpus included
    guessable = metric == "accuracy" and procedure in ("probe", "zero_shot") and classes
    return Task(
        key=named["key"],
        title=row["name"],
        benchmark="mieb",
        procedure=procedure,
        category=MIEB_CATEGORIES.get(row["mteb_task_type"], row["mieb_category"]),
        dataset=row["hf_dataset_path"],
        revision=row["revision"],
        split=row["eval_splits"],
        subsets=_list(row["subsets"], separator="|"),
        metrics=(metric,),
        chance=1 / classes if guessable else None,
        n_items=_number(named, counted, int),
        modalities=_list(row["modalities"], separator="+"),
        languages=_list(row["languages"], separator="|"),
        license=row["license"],
        notes=row["extra"],
        suites=tuple(suite for flag, suite in MIEB_SUITES.items() if row[flag] == "1"),
    )


def _check(catalog: Catalog) -> None:
    for noun in ("benchmarks", "suites", "tasks", "metrics", "models", "datasets"):
        keys = pd.Series([row.key for row in getattr(catalog, noun)])
        if keys.duplicated().any():
            raise BadInput(f"{noun}: {keys[keys.duplicated()].iloc[0]!r} is listed twice")
    known = {
        noun: {row.key for row in getattr(catalog, noun)}
        for noun in ("benchmarks", "suites", "metrics", "models", "datasets")
    }
    for suite in catalog.suites:
        _refer("suite", suite.key, "benchmark", (suite.benchmark,), known["benchmarks"])
        _refer("suite", suite.key, "aggregate", (suite.aggregate,), AGGREGATES)
        _refer("suite", suite.key, "baselines", suite.baselines, known["models"])
    for task in catalog.tasks:
        _refer("task", task.key, "benchmark", (task.benchmark,), known["benchmarks"])
        _refer("task", task.key, "metrics", task.metrics, known["metrics"])
        _refer("task", task.key, "suites", task.suites, known["suites"])
        _refer("task", task.key, "dataset", (task.dataset,) if task.dataset else (), known["datasets"])
    for dataset in catalog.datasets:
        _refer("dataset", dataset.key, "part_of", dataset.part_of, known["datasets"])
    for model in catalog.models:
        _refer("model", model.key, "kind", (model.kind,), KINDS)
        _refer("model", model.key, "group", (model.group,), GROUPS)
        _refer("model", model.key, "abilities", model.abilities, ABILITIES)
        _refer("model", model.key, "trained_on", model.trained_on, known["datasets"])
    for alias in catalog.aliases:
        _refer("alias", f"{alias.benchmark}: {alias.printed}", "model", (alias.model,), known["models"])


def _refer(noun: str, key: str, column: str, values: tuple[str, ...], known: set[str] | tuple[str, ...]) -> None:
    for value in values:
        if value not in known:
            raise BadInput(f"{noun} {key!r}: {column} names {value!r}, which is in no catalogue")
