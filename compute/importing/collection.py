"""Keeps an import on disk, so that every later build has it: Parquet files in a folder, and `collection.json`.

The latter names the files: written last and moved into place, it is where a new import replaces an earlier one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import pandas as pd
from pydantic import BaseModel

from compute.database import store
from compute.importing.figures import Imported
from compute.io.files import discard, locked, read_record, validated, write_text
from compute.types import DatabaseError, Metric, Model, Run, Score, Task

TABLES = {"models": Model, "tasks": Task, "metrics": Metric, "runs": Run, "scores": Score}
MARK = "collection.json"  # its presence means that the folder is whole


class Collection(BaseModel):
    """What is read of the mark: a file's name by its table's."""

    files: dict[str, str]


def save(imported: Imported, *, name: str, folder: Path) -> Path:
    """Writes one collection under `folder`, replacing an earlier one of that name; returns where it is."""
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    counts, files, import_id = {}, {}, secrets.token_hex(4)
    with locked(target):
        for table in TABLES:
            frame = store.frame(getattr(imported, table))
            counts[table] = len(frame)
            if len(frame):
                files[table] = f"{table}-{import_id}.parquet"
                store.write_parquet(target / files[table], frame=frame)
        write_text(target / MARK, json.dumps({"name": name, "counts": counts, "files": files}, indent=1) + "\n")
        for left in target.glob("*.parquet"):
            if left.name not in files.values():
                discard(left)
    return target


def load(folder: Path) -> tuple[dict[str, dict[str, pd.DataFrame]], list[str]]:
    """Every whole collection under `folder` by name, one frame a table, and why others were left out."""
    collections, problems = {}, []
    for mark in sorted(folder.glob(f"*/{MARK}")):
        try:
            collections[mark.parent.name] = _read(mark)
        except (OSError, ValueError, DatabaseError) as error:
            problems.append(refusal(mark.parent.name, error))
    return collections, problems


def refusal(name: str, error: Exception) -> str:
    """Why a collection is left out, as a sentence."""
    reason = str(error).strip().partition("\n")[0]
    return f"Imported collection {name} is left out ({reason}): remove its folder, or import it again"


def _read(mark: Path) -> dict[str, pd.DataFrame]:
    """One collection. Raises OSError, ValueError or DatabaseError with what is wrong with it."""
    files = validated(read_record(mark, root=mark.parent), Collection).files
    tables = {table: store.read_parquet(mark.parent / Path(file).name) for table, file in files.items()}
    if not {"runs", "scores"} <= set(tables) <= set(TABLES):
        raise ValueError("it has no runs or no scores, or an unknown table")
    for table, frame in tables.items():
        if other := sorted({field.name for field in fields(TABLES[table])} ^ set(frame.columns)):
            raise ValueError(f"{table}: the column {other[0]!r} is unknown or missing")
    return tables


def check(tables: Mapping[str, pd.DataFrame], *, known: Mapping[str, set[str]]) -> None:
    """Raises ValueError for a collection that the database cannot take: it names what no catalogue has any more.

    known: the keys of benchmarks, suites, models, tasks and metrics, and the runs' ids, that are there already.
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
        _check_known("tasks: metric", tables["tasks"]["metrics"].explode(), known["metrics"] | own["metrics"])
    if set(runs["origin"]) - {"imported"}:
        raise ValueError("runs: a run is not marked as imported")
    for table, keys in {"runs": ["id"], "scores": ["run", "subset", "metric"]}.items():
        if tables[table].duplicated(keys).any():
            raise ValueError(f"{table}: two rows are of one {' and '.join(keys)}")


def _check_known(name: str, values: pd.Series, known: set[str]) -> None:
    unknown = next((value for value in values.unique() if value not in known), None)
    if unknown is not None:
        raise ValueError(f"{name} {unknown!r} is in no catalogue")
