"""What an import yields; and how it is kept on disk, so that every later build has it: Parquet files in a folder, and
`collection.json`.

The latter names the files: written last and moved into place, it is where a new import replaces an earlier one. Imports
of other names stay next to it; what two of them hold is the newer one's.
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
LINKS = (  # columns that name others, and where these must be known
    ("runs", "model", "models"),
    ("runs", "task", "tasks"),
    ("scores", "metric", "metrics"),
    ("tasks", "benchmark", "benchmarks"),
    ("tasks", "suites", "suites"),
    ("tasks", "metrics", "metrics"),
)
MARK = "collection.json"  # its presence means that the folder is whole


class SkippedFile(NamedTuple):
    """A file or folder that was skipped, why, and what to do about it."""

    path: str  # relative to the folder that was read
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}. {self.remedy}"


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Runs and scores of one source. `models`, `tasks` and `metrics` are those missing from the catalogue.

    `problems` are files that are not what they should be; `skipped` are files of tasks that are not in the catalogue.
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
    facts: dict[str, Any] = field(default_factory=dict)  # by the source's own names of models: those of all
    rows: pd.DataFrame | None = field(default=None, compare=False, repr=False)  # of mteb's results, as they are shipped


def outside(value: float, metric: Metric) -> str:
    """Why a value (in stored units) cannot be one of this metric, or the empty text when it can."""
    if metric.lower is not None and value < metric.lower:
        return f"{value:g} is below {metric.lower:g}, the minimum of {metric.title}"
    if metric.upper is not None and value > metric.upper:
        return f"{value:g} is above {metric.upper:g}, the maximum of {metric.title}"
    return ""


def fingerprint(**identity: Any) -> str:
    """SHA-256 (hex) of everything that distinguishes runs."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Collection(BaseModel):
    """What is read of the mark."""

    files: dict[str, str]  # a file's name by its table's
    source: str = ""  # a path or an address; unknown of collections of earlier versions
    digest: str = ""  # of source and content
    date: str = ""  # ISO, of the import


class Loaded(NamedTuple):
    """A collection as it is read: one frame per table."""

    name: str
    date: str
    tables: dict[str, pd.DataFrame]


def save(
    imported: Imported, *, folder: Path, name: str = "", kind: str = "", source: str = "", replace: bool = False
) -> tuple[Path, list[Path]]:
    """Writes one collection under `folder`; returns where it is, and the others that were imported from the source,
    which are removed if `replace`.

    Without a `name` it is called after its kind, and a digest of its source and content. Raises BadInput if a
    collection of that name has other content, unless `replace`.
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
        with suppress(OSError, ValueError):  # one that cannot be read is of no source
            if path.parent != target and mark(path.parent).source == source:
                others.append(path.parent)
    for other in others if replace else ():
        discard(other / MARK)  # first: a folder without it is not a collection
        shutil.rmtree(other, ignore_errors=True)
    return target, others


def mark(folder: Path) -> Collection:
    """Returns what a collection's folder says of it. Raises OSError and ValueError."""
    return validated(read_record(folder / MARK, root=folder), Collection)


def load(folder: Path) -> tuple[list[Loaded], list[str]]:
    """Returns every whole collection under `folder`, and why others were skipped."""
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
    """Why a collection is skipped, as a sentence."""
    return f"Imported collection {name} is skipped ({first_line(error)}): remove its folder, or import it again"


def joined(collections: Sequence[Loaded]) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]:
    """Returns the runs and scores of all collections, and how many runs of each give way to a newer one's. Newest
    first.

    Of runs with one id the newest is taken, whole. Of two runs of a model on a task from one origin the newer is the
    one shown, unless it has a part of the older one's scores alone; runs that share no score are both shown.
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
    """Raises ValueError for a collection that the database cannot take: it names what no catalogue has any more.

    known: the keys of benchmarks, suites, models, tasks and metrics, and the runs' ids, that are there already.
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
