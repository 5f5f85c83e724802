"""The result of an import, and its storage for later builds: Parquet files in a folder, and `collection.json`.

The latter names the files. It is written last and moved into place, which is when a new import replaces an earlier one.
Imports with other names stay; if two contain the same run, the newer one's is used.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pydantic import BaseModel

from compute.database import store
from compute.io.files import discard, locked, read_record, validated, write_text
from compute.types import LABORATORY, BadInput, DatabaseError, Laboratory, Metric, Model, Run, Score, Task, first_line

TABLES = {
    "models": Model,
    "tasks": Task,
    "metrics": Metric,
    "laboratories": Laboratory,
    "runs": Run,
    "scores": Score,
}
LINKS = (  # columns that reference others, and the tables that must contain these
    ("runs", "model", "models"),
    ("runs", "task", "tasks"),
    ("scores", "metric", "metrics"),
    ("tasks", "benchmark", "benchmarks"),
    ("tasks", "suites", "suites"),
    ("tasks", "metrics", "metrics"),
)
MARK = "collection.json"  # its presence means that the folder is complete


class SkippedFile(NamedTuple):
    """A file or folder that was skipped, the reason, and a remedy."""

    path: str  # relative to the folder that was read
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}. {self.remedy}"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Runs and scores of one source. `models`, `tasks` and `metrics` are those missing from the catalogue.

    `problems` are invalid files; `skipped` are files of tasks outside the catalogue.
    """

    runs: tuple[Run, ...]
    scores: tuple[Score, ...]
    models: tuple[Model, ...] = ()
    tasks: tuple[Task, ...] = ()
    metrics: tuple[Metric, ...] = ()
    laboratories: tuple[Laboratory, ...] = ()
    notes: tuple[str, ...] = ()  # what was read and how, in sentences
    problems: tuple[SkippedFile, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # of all models, by the source's names
    rows: pd.DataFrame | None = field(default=None, compare=False, repr=False)  # of mteb's results, as shipped


def outside(value: float, metric: Metric) -> str:
    """Returns why a value (in stored units) is impossible for this metric; empty if it is possible."""
    if metric.lower is not None and value < metric.lower:
        return f"{value:g} is below {metric.lower:g}, the minimum of {metric.title}"
    if metric.upper is not None and value > metric.upper:
        return f"{value:g} is above {metric.upper:g}, the maximum of {metric.title}"
    return ""


def fingerprint(**identity: Any) -> str:
    """Returns the SHA-256 (hex) of everything that distinguishes runs."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Collection(BaseModel):
    """What is read of the mark."""

    files: dict[str, str]  # a file's name by table
    source: str = ""  # a path or an address; empty for collections of earlier versions
    digest: str = ""  # of source and content
    date: str = ""  # ISO, of the import


class Loaded(NamedTuple):
    """A collection as read: one frame per table."""

    name: str
    date: str
    tables: dict[str, pd.DataFrame]


def save(
    imported: Imported, *, folder: Path, name: str = "", kind: str = "", source: str = "", replace: bool = False
) -> tuple[Path, list[Path]]:
    """Writes one collection under `folder`; returns its path, and the others from the same source, which are removed if
    `replace`.

    By default it is named after its kind and a digest of its source and content. Raises BadInput if a collection with
    that name has other content, unless `replace`.
    """
    digest = hashlib.blake2b(
        repr((source, imported.runs, imported.scores, imported.models)).encode(), digest_size=16
    ).hexdigest()
    target = folder / (name or f"{kind}-{digest[:8]}")
    target.mkdir(parents=True, exist_ok=True)
    counts, files, import_id = {}, {}, secrets.token_hex(4)
    with locked(target):
        if (target / MARK).is_file() and not replace and mark(target).digest != digest:
            raise BadInput(
                f"A collection {target.name} with other content exists. Replace it with --replace, or choose another "
                "--name: collections are kept separately"
            )
        for table in TABLES:
            frame = store.frame(getattr(imported, table))
            counts[table] = len(frame)
            if len(frame):
                files[table] = f"{table}-{import_id}.parquet"
                store.write_parquet(target / files[table], frame=frame)
        date = datetime.now(UTC).isoformat(timespec="seconds")
        about = Collection(files=files, source=source, digest=digest, date=date)
        record = {"name": target.name, "counts": counts, **about.model_dump()}
        write_text(target / MARK, json.dumps(record, indent=1) + "\n")
        for left in target.glob("*.parquet"):
            if left.name not in files.values():
                discard(left)
    others = []
    for path in sorted(folder.glob(f"*/{MARK}")):
        with suppress(OSError, ValueError):  # an unreadable collection has no source
            if path.parent != target and mark(path.parent).source == source:
                others.append(path.parent)
    for other in others if replace else ():
        discard(other / MARK)  # first: a folder without it is not a collection
        shutil.rmtree(other, ignore_errors=True)
    return target, others


def mark(folder: Path) -> Collection:
    """Reads the record of a collection's folder. Raises OSError and ValueError."""
    return validated(read_record(folder / MARK, root=folder), Collection)


def load(folder: Path) -> tuple[list[Loaded], list[str]]:
    """Returns all complete collections under `folder`, and why others were skipped."""
    collections, problems = [], []
    for path in sorted(folder.glob(f"*/{MARK}")):
        own = path.parent
        try:
            about = mark(own)
            tables = {table: store.read_parquet(own / Path(file).name) for table, file in about.files.items()}
            if not {"runs", "scores"} <= set(tables) <= set(TABLES):
                raise ValueError("it has no runs or no scores, or an unknown table")
            for table, frame in tables.items():
                if other := sorted({each.name for each in fields(TABLES[table])} ^ set(frame.columns)):
                    raise ValueError(f"{table}: the column {other[0]!r} is unknown or missing")
            made = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
            collections.append(Loaded(name=own.name, date=about.date or made, tables=tables))
        except (OSError, ValueError, DatabaseError) as error:
            problems.append(refusal(own.name, error))
    return collections, problems


def refusal(name: str, error: Exception) -> str:
    """Returns why a collection is skipped, as a sentence."""
    return f"Imported collection {name} is skipped ({first_line(error)}): remove its folder, or import it again"


def joined(collections: Sequence[Loaded]) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]:
    """Joins the runs and scores of all collections, newest first; also returns how many runs of each are replaced by
    newer ones.

    Of runs with one id, the newest is used as a whole. Of two runs of a model on a task from one origin, the newer one
    is shown, unless it only has a part of the older one's scores. Runs that share no score are both shown.
    """
    runs, scores = (
        pd.concat([each.tables[table].assign(order=at) for at, each in enumerate(collections)], ignore_index=True)
        for table in ("runs", "scores")
    )
    twice = runs.duplicated("id")
    gone = Counter(runs[twice]["order"])
    runs = runs[~twice]
    scores = scores.merge(runs[["id", "order"]].rename(columns={"id": "run"}), on=["run", "order"])
    shown = runs[runs["main"].astype(bool)]
    cell_of = ["model", "task", "origin"]
    rivals = shown[shown.groupby(cell_of)["order"].transform("nunique") > 1]
    cells = {run: set() for run in rivals["id"]}
    some = scores[scores["run"].isin(cells)]
    for run, *cell in zip(some["run"], some["subset"], some["metric"], strict=True):
        cells[run].add(tuple(cell))
    hidden = set()
    for _, group in rivals.groupby(cell_of):
        newer = []
        for row in group.itertuples():
            own, there = cells[row.id], [each for each in newer if each.id not in hidden and each.order != row.order]
            others = [each.id for each in there if cells[each.id] & own]
            hidden |= {*others} if all(cells[other] < own for other in others) else {row.id}
            newer.append(row)
    is_hidden = runs["id"].isin(hidden)
    runs.loc[is_hidden, "main"] = False
    gone.update(runs[is_hidden]["order"])
    counts = {collections[order].name: count for order, count in sorted(gone.items())}
    return runs.drop(columns="order"), scores.drop(columns="order"), counts


def check(tables: Mapping[str, pd.DataFrame], *, known: Mapping[str, set[str]]) -> None:
    """Raises ValueError for a collection that the database cannot take because it references unknown keys.

    known: the existing keys of benchmarks, suites, models, tasks and metrics, and the runs' ids.
    """
    own = {name: set(tables[name]["key"]) for name in ("models", "tasks", "metrics") if name in tables}
    runs = tables["runs"]
    links = [(table, column, known[noun] | own.get(noun, set())) for table, column, noun in LINKS if table in tables]
    for table, column, keys in (*links, ("scores", "run", set(runs["id"]) - known["runs"])):
        for cell in tables[table][column]:
            if unknown := {cell} - keys if isinstance(cell, str) else {*cell} - keys:
                raise ValueError(f"{table}: {column} {min(unknown)!r} is in no catalogue")
    named = {LABORATORY + key for key in tables["laboratories"]["key"]} if "laboratories" in tables else set()
    if set(runs["origin"]) - {"imported", *named}:
        raise ValueError("runs: a run is not marked as imported")
    for table, keys in {"runs": ["id"], "scores": ["run", "subset", "metric"]}.items():
        if tables[table].duplicated(keys).any():
            raise ValueError(f"{table}: two rows are of one {' and '.join(keys)}")
