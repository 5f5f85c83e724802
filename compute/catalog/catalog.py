"""Gathers every benchmark, suite, task, metric, model and dataset from assets/catalog, and cross-checks their keys."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from compute.io.tables import read_csv
from compute.metrics import METRICS
from compute.paths import CATALOG
from compute.types import ABILITIES, AGGREGATES, KINDS, BadInput, Benchmark, Metric, Model, Suite, Task, UnknownKey

GROUPS = ("", "general-purpose", "specialised", "multi-task")
# MIEB's task types that have their own category in its means; every other task keeps the category its table row names.
MIEB_CATEGORIES = {
    "Any2AnyMultilingualRetrieval": "Multilingual Retrieval",
    "VisualSTS(eng)": "Visual STS (en)",
    "VisualSTS(multi)": "Visual STS (cross & multi)",
}
MIEB_SUITES = {
    "in_MIEB_multilingual": "mieb",
    "in_MIEB_eng": "mieb-en",
    "in_MIEB_lite": "mieb-lite",
    "in_MIEB_img": "mieb-img",
    "in_ViDoRe_v1": "vidore-v1",
}
MTEB = ("mieb", "vidore")  # benchmarks whose tasks have mteb's names as titles
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
    "cluster",
    "revision",
    "eval_splits",
    "subsets",
    "languages",
    "main_score",
    "image_columns",
    "text_columns",
    "num_samples",
    "num_queries",
    "num_classes",
    "extra",
    "license",
    *MIEB_SUITES,
)
# MIEB's names of scores; its hit rate is printed as Recall@k in the paper's tables.
MIEB_METRICS = {
    "accuracy": "accuracy",
    "ndcg_at_10": "ndcg_at_10",
    "ndcg_at_5": "ndcg_at_5",
    "cosine_spearman": "cosine_spearman",
    "hit_rate_at_1": "hit_rate_at_1",
    "hit_rate_at_3": "hit_rate_at_3",
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
    names: tuple[str, ...] = ()  # others that statements of training data use, some of them for several data sets


@dataclass(frozen=True, kw_only=True)
class Alias:
    """A printed model name of one paper. `certainty` is `known` or `guess`."""

    benchmark: str
    printed: str
    model: str
    certainty: str
    note: str = ""


# Nouns, a column of theirs, and where what it names must be known.
REFERENCES = (
    ("suites", "benchmark", "benchmarks"),
    ("suites", "aggregate", "aggregates"),
    ("suites", "baselines", "models"),
    ("tasks", "benchmark", "benchmarks"),
    ("tasks", "metrics", "metrics"),
    ("tasks", "suites", "suites"),
    ("tasks", "dataset", "datasets"),
    ("datasets", "part_of", "datasets"),
    ("models", "kind", "kinds"),
    ("models", "group", "groups"),
    ("models", "abilities", "abilities"),
    ("models", "trained_on", "datasets"),
    ("aliases", "model", "models"),
)
# The files of the catalogue, a CSV each, and what their rows are. MIEB's own table of tasks is apart.
NOUNS = {
    "benchmarks": Benchmark,
    "suites": Suite,
    "tasks": Task,
    "models": Model,
    "datasets": Dataset,
    "aliases": Alias,
}


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
        return _find("task", key, self.tasks)

    def model(self, key: str) -> Model:
        """The model of that key. Raises UnknownKey."""
        return _find("model", key, self.models)

    def metric(self, key: str) -> Metric:
        """The metric of that key. Raises UnknownKey."""
        return _find("metric", key, self.metrics)

    def suite(self, key: str) -> Suite:
        """The suite of that key. Raises UnknownKey."""
        return _find("suite", key, self.suites)

    def dataset_keys(self, names: Iterable[str]) -> tuple[str, ...]:
        """The keys of data sets as others name them, by key, name or the hub's id; without those that are not here.

        An id that several data sets have names none of them.
        """
        ids = Counter(row.url.lower() for row in self.datasets)
        known = {row.url.lower(): [row.key] for row in self.datasets if ids[row.url.lower()] == 1}
        for row in self.datasets:
            for name in row.names:
                known.setdefault(name.lower(), []).append(row.key)
        known |= {row.key.lower(): [row.key] for row in self.datasets}
        return tuple(dict.fromkeys(key for name in names for key in known.get(name.lower(), ())))


def _find(noun: str, key: str, rows: tuple):
    known = {row.key: row for row in rows}
    if key not in known:
        raise UnknownKey(noun, key, known)
    return known[key]


def load(folder: Path = CATALOG) -> Catalog:
    """Reads the catalogue. Raises BadInput naming the file, the row and what is wrong."""
    nouns = {name: _nouns(noun, folder / f"{name}.csv") for name, noun in NOUNS.items()}
    mieb = read_csv(folder / "mieb_tasks.csv", columns=MIEB_COLUMNS).to_dict("records")
    nouns["tasks"] += tuple(_mieb_task(row) for row in mieb)
    catalog = Catalog(metrics=METRICS, **nouns)
    _check(catalog)
    return catalog


@lru_cache(maxsize=1)
def shipped() -> Catalog:
    """The catalogue that is part of the repository."""
    return load()


def _nouns(noun: type, path: Path) -> tuple:
    """The rows of a table that has the noun's fields as columns, and no others."""
    columns = tuple(field.name for field in fields(noun))
    frame = read_csv(path, columns=columns)
    unknown = [column for column in frame.columns if column not in columns]
    if unknown:
        raise BadInput(f"{path.name} has a column {unknown[0]!r} that is not known; known are: {', '.join(columns)}")
    return tuple(
        noun(**{column: PARSERS[column](row, column) if column in PARSERS else row[column] for column in columns})
        for row in frame.to_dict("records")
    )


def _list(text: str, *, separator: str = ";") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())


def _number(row: dict[str, str], column: str) -> float | None:
    text = row[column].strip()
    if not text:
        return None
    try:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(value)
    except ValueError as error:
        raise BadInput(f"{row['key']}: {column} is {text!r}, not a number") from error
    return value


def _count(row: dict[str, str], column: str) -> int | None:
    value = _number(row, column)
    return None if value is None else int(value)


def _named(row: dict[str, str], column: str, known: dict[str, str]) -> str:
    if row[column] not in known:
        raise BadInput(f"{row['key']}: {column} is {row[column]!r}; known are: {', '.join(known)}")
    return known[row[column]]


def _truth(row: dict[str, str], column: str) -> bool | None:
    known = {"true": True, "false": False, "": None}
    text = row[column].strip().lower()
    if text not in known:
        raise BadInput(f"{row['key']}: {column} is {text!r}; write true or false, or leave it empty")
    return known[text]


def _options(row: dict[str, str], column: str) -> dict[str, Any]:
    try:
        return json.loads(row[column] or "{}")
    except json.JSONDecodeError as error:
        raise BadInput(f"{row['key']}: {column} is not JSON ({error})") from error


# How a cell becomes a field's value, where it is not simply its text.
LISTS = (
    "abilities",
    "baselines",
    "languages",
    "metrics",
    "modalities",
    "names",
    "part_of",
    "subsets",
    "suites",
    "trained_on",
)
PARSERS: dict[str, Callable[[dict[str, str], str], Any]] = {
    **dict.fromkeys(LISTS, lambda row, column: _list(row[column])),
    **dict.fromkeys(("parameters_m", "memory_mb", "chance", "minimum_coverage"), _number),
    **dict.fromkeys(("embed_dim", "max_tokens", "image_size", "n_items"), _count),
    **dict.fromkeys(("late_interaction", "instructions", "open_weights"), _truth),
    "ranked": lambda row, column: _truth(row, column) is not False,
    **dict.fromkeys(("options", "category_weights"), _options),
}


def _mieb_task(row: dict[str, str]) -> Task:
    """One row of MIEB's own task table as our noun; sizes and chance levels follow from its columns."""
    named = {**row, "key": f"mieb/{row['name'].lower()}"}
    classes = _count(named, "num_classes")
    procedure = _named(named, "abstask_type", MIEB_PROCEDURES)
    if row["mteb_task_type"] == "VisionCentricQA":
        procedure = "multiple_choice"
    metric = _named(named, "main_score", MIEB_METRICS)
    if row["name"] == "Winoground":
        metric = "group_accuracy"
    counted = "num_queries" if row["abstask_type"] == "AbsTaskRetrieval" else "num_samples"  # else: corpus included
    return Task(
        key=named["key"],
        title=row["name"],
        benchmark="mieb",
        procedure=procedure,
        category=MIEB_CATEGORIES.get(row["mteb_task_type"], row["mieb_category"]),
        dataset=row["hf_dataset_path"],
        cluster=row["cluster"],
        revision=row["revision"],
        split=row["eval_splits"],
        subsets=_list(row["subsets"], separator="|"),
        metrics=(metric,),
        chance=_mieb_chance(row, procedure=procedure, metric=metric, classes=classes),
        n_items=_count(named, counted),
        modalities=_list(row["modalities"], separator="+"),
        languages=_list(row["languages"], separator="|"),
        license=row["license"],
        notes=row["extra"],
        suites=tuple(suite for flag, suite in MIEB_SUITES.items() if row[flag] == "1"),
    )


def _mieb_chance(row: dict[str, str], *, procedure: str, metric: str, classes: int | None) -> float | None:
    """What guessing scores by construction; None where that does not follow from the task's row."""
    if procedure in ("probe", "zero_shot") and metric == "accuracy" and classes:
        return 1 / classes
    if procedure != "matching":
        return None
    images, captions = (len(_list(row[column], separator="|")) for column in ("image_columns", "text_columns"))
    if metric == "group_accuracy":
        # Two images and two captions: of the 24 orders of their four similarities, 4 have both right pairs on top.
        return 1 / 6 if images == captions == 2 else None
    return 1 / (captions if metric == "text_accuracy" else images)


def _check(catalog: Catalog) -> None:
    known: dict[str, Any] = {
        "aggregates": AGGREGATES,
        "kinds": KINDS,
        "groups": GROUPS,
        "abilities": ABILITIES,
    }
    for noun in ("benchmarks", "suites", "tasks", "metrics", "models", "datasets"):
        keys = pd.Series([row.key for row in getattr(catalog, noun)])
        if keys.duplicated().any():
            raise BadInput(f"{noun}: {keys[keys.duplicated()].iloc[0]!r} is listed twice")
        known[noun] = set(keys)
    known["datasets"] |= {""}  # a task may name none
    for nouns, column, referred in REFERENCES:
        for row in getattr(catalog, nouns):
            value = getattr(row, column)
            for name in (value,) if isinstance(value, str) else value:
                if name not in known[referred]:
                    noun, key = (
                        ("alias", f"{row.benchmark}: {row.printed}") if nouns == "aliases" else (nouns[:-1], row.key)
                    )
                    raise BadInput(f"{noun} {key!r}: {column} names {name!r}, which is in no catalogue")
