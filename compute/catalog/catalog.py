"""Reads every benchmark, suite, task, metric, model and dataset from assets/catalog, and cross-checks their keys.

Users add models in a table `models.csv` in LIKENESS_HOME, which upgrades of the package do not touch.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from compute import paths
from compute.io.nouns import read_rows, wrong_cell
from compute.metrics import METRICS
from compute.models.files.weights import with_folders
from compute.models.registry import ADAPTERS
from compute.paths import CATALOG
from compute.types import (
    ABILITIES,
    AGGREGATES,
    KINDS,
    Benchmark,
    Metric,
    Model,
    Suite,
    Task,
    UnknownKey,
    suggestion,
)

MODEL_KEY = re.compile(r"[a-z0-9][a-z0-9._/+-]*")
NEEDED = ("key", "title")  # required columns of a user's table of models

GROUPS = ("", "general-purpose", "specialised", "multi-task")
MTEB = ("mieb", "vidore")  # benchmarks whose tasks have mteb's names as titles


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set that tasks use or models were trained on."""

    key: str
    title: str
    url: str = ""
    license: str = ""
    citation: str = ""
    notes: str = ""
    part_of: tuple[str, ...] = ()  # data sets that contain these items: a model trained on them has seen similar items
    names: tuple[str, ...] = ()  # other names in statements of training data, some shared by several data sets
    private: bool | None = None  # only its maintainers can measure a model on it


@dataclass(frozen=True, kw_only=True)
class Alias:
    """A model name as one paper prints it. `certainty` is `known` or `guess`."""

    benchmark: str
    printed: str
    model: str
    certainty: str
    note: str = ""


# The columns of a noun that refer to others: the noun referred to, or the allowed names.
REFERENCES = {
    "benchmarks": {},
    "suites": {"benchmark": "benchmarks", "aggregate": AGGREGATES, "baselines": "models"},
    "tasks": {"benchmark": "benchmarks", "metrics": "metrics", "suites": "suites", "dataset": "datasets"},
    "datasets": {"part_of": "datasets"},
    "models": {
        "kind": KINDS,
        "group": GROUPS,
        "adapter": ("", *ADAPTERS),
        "abilities": ABILITIES,
        "trained_on": "datasets",
    },
    "aliases": {"model": "models"},
}
# The files of the catalogue, one CSV each, and the types of their rows.
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
    """Everything that can be scored, and the models and metrics. Keys are unique and every reference resolves."""

    benchmarks: tuple[Benchmark, ...]
    suites: tuple[Suite, ...]
    tasks: tuple[Task, ...]
    metrics: tuple[Metric, ...]
    models: tuple[Model, ...]
    datasets: tuple[Dataset, ...]
    aliases: tuple[Alias, ...]

    @property
    def printed_names(self) -> dict[tuple[str, str], str]:
        """The key of each model, by benchmark and the name that its paper prints."""
        return {(alias.benchmark, alias.printed): alias.model for alias in self.aliases}

    def task(self, key: str) -> Task:
        """Returns the task with that key. Raises UnknownKey."""
        return _find("task", key, self.tasks)

    def model(self, key: str) -> Model:
        """Returns the model with that key. Raises UnknownKey."""
        return _find("model", key, self.models)

    def metric(self, key: str) -> Metric:
        """Returns the metric with that key. Raises UnknownKey."""
        return _find("metric", key, self.metrics)

    def suite(self, key: str) -> Suite:
        """Returns the suite with that key. Raises UnknownKey."""
        return _find("suite", key, self.suites)

    def dataset_keys(self, names: Iterable[str]) -> tuple[str, ...]:
        """Returns the keys of data sets given by key, name or hub id; unknown names are skipped.

        An id that several data sets share identifies none of them.
        """
        ids = Counter(row.url.lower() for row in self.datasets)
        known = {row.url.lower(): [row.key] for row in self.datasets if ids[row.url.lower()] == 1}
        for row in self.datasets:
            for name in row.names:
                known.setdefault(name.lower(), []).append(row.key)
        known |= {row.key.lower(): [row.key] for row in self.datasets}
        return tuple(dict.fromkeys(key for name in names for key in known.get(name.lower(), ())))


def _find(noun: str, key: str, rows: tuple):
    for row in rows:
        if row.key == key:
            return row
    raise UnknownKey(noun, key, [row.key for row in rows])


def load(folder: Path = CATALOG) -> Catalog:
    """Reads the catalogue. Raises BadInput with the file, the row and the error."""
    nouns = {name: read_rows(folder / f"{name}.csv", noun) for name, noun in NOUNS.items()}
    catalog = Catalog(metrics=METRICS, **nouns)
    for noun, rows in nouns.items():
        _check(catalog, noun, rows, path=folder / f"{noun}.csv")
    return catalog


@lru_cache(maxsize=1)
def shipped() -> Catalog:
    """Returns the shipped catalogue."""
    return load()


def known() -> Catalog:
    """Returns the shipped catalogue with the models of the user's table, if there is one.

    Its columns are those of assets/catalog/models.csv; only NEEDED are required. Folders are relative to the table's
    folder. Raises BadInput with the row and the column.
    """
    catalog, path = shipped(), paths.USER_MODELS
    if not path.is_file():
        return catalog
    models = tuple(
        with_folders(row, lambda way: os.path.normpath(path.parent / way))
        for row in read_rows(path, Model, required=NEEDED)
    )
    catalog = replace(catalog, models=(*catalog.models, *models))
    for number, row in enumerate(models, 1):
        if not MODEL_KEY.fullmatch(row.key):
            raise wrong_cell(path, number, "key", f"{row.key!r} is not lower-case letters, digits and . _ / + -")
        if row.adapter and not row.abilities:
            raise wrong_cell(path, number, "abilities", f"an adapter needs some of {', '.join(ABILITIES)}")
    _check(catalog, "models", models, path=path)
    return catalog


def _check(catalog: Catalog, noun: str, rows: Sequence[Any], *, path: Path) -> None:
    """Checks that no key of a table's rows is listed twice, and that every reference is in the catalogue."""
    if noun != "aliases":
        counts = Counter(row.key for row in getattr(catalog, noun))
        for number, row in enumerate(rows, 1):
            if counts[row.key] > 1:
                raise wrong_cell(path, number, "key", f"{row.key!r} is listed already. Choose another key")
    for column, referred in REFERENCES[noun].items():
        keys = {row.key for row in getattr(catalog, referred)} if isinstance(referred, str) else referred
        for number, row in enumerate(rows, 1):
            value = getattr(row, column)
            for name in (value,) if isinstance(value, str) else value:
                if name not in keys:
                    raise wrong_cell(path, number, column, f"{name!r} is not known.{suggestion(name, keys)}")
