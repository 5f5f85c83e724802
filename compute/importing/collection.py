"""Keeps an import on disk, so that every later build has it: Parquet files in a folder, and `collection.json`.

The latter names the files: written last and moved into place, it is where a new import replaces an earlier one.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import drafts, records
from compute.database import store
from compute.importing.figures import Imported
from compute.types import BadInput, LikenessError, Metric, Model, Run, Score, Task

TABLES = {"models": Model, "tasks": Task, "metrics": Metric, "runs": Run, "scores": Score}
MARK = "collection.json"  # its presence means that the folder is whole
FILE = re.compile(r"[a-z]+(-[0-9a-f]+)?\.parquet")
MAX_BYTES = 512 << 20  # of a file; MIEB's results have 5 MB
MAX_ROWS = 5_000_000
MAX_TEXT = 4000  # characters of any text but settings and options


def save(imported: Imported, *, name: str, folder: Path) -> Path:
    """Writes one collection under `folder`, replacing an earlier one of that name; returns where it is."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", name):
        raise BadInput(f"{name!r} cannot name a collection: use lower-case letters, digits, dots, dashes")
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    counts, files, import_id = {}, {}, secrets.token_hex(4)
    with drafts.alone(target):
        for table in TABLES:
            frame = store.frame(getattr(imported, table))
            counts[table] = len(frame)
            if len(frame):
                files[table] = f"{table}-{import_id}.parquet"
                store.write_parquet(target / files[table], frame=frame)
        drafts.write_text(target / MARK, json.dumps({"name": name, "counts": counts, "files": files}, indent=1) + "\n")
        for left in target.glob("*.parquet"):
            if left.name not in files.values():
                drafts.remove(left)
    return target


def load(folder: Path) -> tuple[dict[str, dict[str, pd.DataFrame]], list[str]]:
    """Every whole collection under `folder` by name, one frame a table, and why others were left out."""
    collections, problems = {}, []
    for mark in sorted(folder.glob(f"*/{MARK}")):
        if mark.parent.name.startswith("."):
            continue
        try:
            collections[mark.parent.name] = _read(mark, root=folder)
        except (OSError, ValueError, TypeError, LikenessError) as error:
            problems.append(refusal(mark.parent.name, error))
    return collections, problems


def refusal(name: str, error: Exception) -> str:
    """Why a collection is left out, as a sentence."""
    reason = str(error).strip().partition("\n")[0]
    return f"Imported collection {name} is left out ({reason}): remove its folder, or import it again"


def _read(mark: Path, *, root: Path) -> dict[str, pd.DataFrame]:
    """One collection. Raises OSError, ValueError or DatabaseError with what is wrong with it."""
    files = records.read(mark, root=root).get("files")
    if files is None:  # as it was written before the mark named them
        files = {table: f"{table}.parquet" for table in TABLES if (mark.parent / f"{table}.parquet").is_file()}
    tables = {}
    for table, file in files.items() if isinstance(files, dict) else ():
        if table not in TABLES or not isinstance(file, str) or not FILE.fullmatch(file):
            raise ValueError(f"{MARK} names {records.short(table)} in {records.short(file)}")
        path = mark.parent / file
        records.check_file(path, root=root, most=MAX_BYTES)
        tables[table] = store.read_parquet(path, most_rows=MAX_ROWS)
        if table == "scores":  # earlier collections have no intervals
            tables[table] = tables[table].assign(**{end: None for end in ("low", "high") if end not in tables[table]})
        _check_columns(table, tables[table])
    if not {"runs", "scores"} <= set(tables):
        raise ValueError("it has no runs or no scores")
    return tables


def _check_columns(table: str, frame: pd.DataFrame) -> None:
    """Raises ValueError for a column that the noun lacks, a missing one, and a text that is too long."""
    names = {field.name for field in fields(TABLES[table])}
    unknown, missing = sorted(set(frame.columns) - names), sorted(names - set(frame.columns))
    if unknown or missing:
        raise ValueError(f"{table}: {f'no column {missing[0]!r}' if missing else f'unknown column {unknown[0]!r}'}")
    for column in frame.columns:
        most = records.MAX_BYTES if column in store.JSON_COLUMNS else MAX_TEXT
        for value in frame[column].dropna() if pd.api.types.is_object_dtype(frame[column]) else ():
            for text in value if isinstance(value, np.ndarray | list) else (value,):
                if isinstance(text, str):
                    records.check_text(text, name=f"{table}: {column}", most=most)
        if column in store.JSON_COLUMNS:
            for text in frame[column].unique():
                records.parse(text, name=f"{table}: {column}")


def check(tables: Mapping[str, pd.DataFrame], *, known: Mapping[str, set[str]], metrics: pd.DataFrame) -> None:
    """Raises ValueError for a collection that the database cannot take: unknown keys, or numbers that cannot be.

    known: the keys of benchmarks, suites, models, tasks and metrics, and the runs' ids, that are there already;
    metrics: the rows of those metrics, with their bounds.
    """
    own = {name: set(tables[name]["key"]) if name in tables else set() for name in ("models", "tasks", "metrics")}
    runs, scores = tables["runs"], tables["scores"]
    _check_known("runs: model", runs["model"], known["models"] | own["models"])
    _check_known("runs: task", runs["task"], known["tasks"] | own["tasks"])
    _check_known("scores: run", scores["run"], set(runs["id"]) - known["runs"])
    _check_known("scores: metric", scores["metric"], known["metrics"] | own["metrics"])
    if "tasks" in tables:
        _check_known("tasks: benchmark", tables["tasks"]["benchmark"], known["benchmarks"])
        _check_known("tasks: suite", tables["tasks"]["suites"].explode().dropna(), known["suites"])
        metric = tables["tasks"]["metrics"].explode().dropna()
        _check_known("tasks: metric", metric, known["metrics"] | own["metrics"])
    if set(runs["origin"]) - {"imported"}:
        raise ValueError("runs: a run is not marked as imported")
    for table, keys in {"runs": ["id"], "scores": ["run", "subset", "metric"]}.items():
        if tables[table].duplicated(keys).any() or tables[table][keys].isna().any(axis=None):
            raise ValueError(f"{table}: two rows are of one {' and '.join(keys)}, or a row lacks it")
    limits = pd.concat(
        [part[["key", "lower", "upper"]] for part in (metrics, tables.get("metrics")) if part is not None]
    )
    limits = limits.drop_duplicates("key").set_index("key").astype(float)
    low = scores["metric"].map(limits["lower"]).fillna(-np.inf).to_numpy(float)
    high = scores["metric"].map(limits["upper"]).fillna(np.inf).to_numpy(float)
    _check_numbers("value", scores["value"], low, high, may_lack=False)
    _check_numbers("lower_bound", scores["lower_bound"], low, high)
    _check_numbers("low", scores["low"], low, high)
    _check_numbers("high", scores["high"], low, high)
    ends = scores[["low", "high"]].apply(pd.to_numeric)
    if (ends["low"].isna() != ends["high"].isna()).any() or (ends["low"] > ends["high"]).any():
        raise ValueError("scores: an interval has one end, or ends before it begins")
    _check_numbers("stderr", scores["stderr"], np.zeros(len(scores)), high - low)
    _check_numbers("coverage", scores["coverage"], np.zeros(len(scores)), np.ones(len(scores)))
    _check_numbers("n", scores["n"], np.zeros(len(scores)), np.full(len(scores), float(records.MAX_INTEGER)))


def _check_known(name: str, values: pd.Series, known: set[str]) -> None:
    unknown = next((value for value in values.unique() if value not in known), None)
    if unknown is not None:
        raise ValueError(f"{name} {records.short(unknown)} is in no catalogue")


def _check_numbers(name: str, values: Any, low: np.ndarray, high: np.ndarray, *, may_lack: bool = True) -> None:
    numbers = pd.to_numeric(values, errors="raise").to_numpy(float, na_value=np.nan)
    wrong = np.isinf(numbers) | (numbers < low - 1e-9) | (numbers > high + 1e-9)
    if not may_lack:
        wrong |= np.isnan(numbers)
    if wrong.any():
        raise ValueError(f"scores: {name} is {numbers[wrong][0]:g}, which no such figure can be")
