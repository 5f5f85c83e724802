"""Makes the database from the published tables, the catalogue, the imports and the run folders."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

import pandas as pd

from compute import published, store
from compute.catalog import Catalog, shipped
from compute.published import PUBLISHED, Figures, read_csv
from compute.types import BadInput

RESULTS = store.ROOT / "results"
COMPUTED = store.ROOT / "assets" / "computed"
PROJECTIONS = store.ROOT / "assets" / "computed" / "projections.csv"
JSON_COLUMNS = ("settings", "options", "detail")


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a build put into the database, and how long it took."""

    path: Path
    models: int
    tasks: int
    runs: int
    scores: int
    claims: int
    seconds: float


def sources() -> list[Path]:
    """Every file the database is made from; it is stale when one of them is newer."""
    folders = (PUBLISHED, store.ROOT / "assets" / "catalog", COMPUTED, RESULTS, store.ROOT / "compute")
    return [path for folder in folders if folder.is_dir()
            for path in (folder, *folder.rglob("*")) if path.suffix in (".csv", ".json", ".parquet", ".py")]


def is_stale(path: Path = store.DATABASE) -> bool:
    """Whether the database is missing, of another version, or older than a file it is made from."""
    if not path.is_file():
        return True
    made = path.stat().st_mtime
    return any(source.stat().st_mtime > made for source in sources())


def build(path: Path = store.DATABASE, *, results: Path = RESULTS) -> Report:
    """Writes the whole database in one go. Raises LikenessError and leaves the old file as it was."""
    started = time.perf_counter()
    catalog = shipped()
    frames = catalog_frames(catalog)
    figures = [published.load(catalog), *imports(results)]
    frames["runs"] = _frame(run for part in figures for run in part.runs)
    frames["scores"] = _frame(score for part in figures for score in part.scores)
    frames["gaps"] = _frame(gap for part in figures for gap in part.gaps)
    frames["averages"] = _frame(published.averages(catalog))
    frames["notes"] = notes(catalog)
    frames["claims"] = _frame(all_claims())
    if PROJECTIONS.is_file():
        frames["projections"] = pd.read_csv(PROJECTIONS)
    store.write(path, frames=frames)
    counts = {name: len(frames[name]) for name in ("models", "tasks", "runs", "scores", "claims")}
    return Report(path=path, seconds=time.perf_counter() - started, **counts)


def catalog_frames(catalog: Catalog) -> dict[str, pd.DataFrame]:
    """One frame a table that the catalogue fills; suites and tasks keep their order as `position`."""
    frames = {name: _frame(getattr(catalog, name))
              for name in ("benchmarks", "suites", "datasets", "metrics", "models", "tasks", "aliases")}
    frames["suite_tasks"] = pd.DataFrame(
        [{"suite": suite, "task": task.key} for task in catalog.tasks for suite in task.suites])
    frames["tasks"] = frames["tasks"].drop(columns="suites")
    for name in ("suites", "tasks"):
        frames[name]["position"] = range(len(frames[name]))
    return frames


def notes(catalog: Catalog) -> pd.DataFrame:
    """Remarks on figures, one row a task: a remark on a whole table is one on each of its tasks.

    Raises BadInput for a table, model or task that is not there.
    """
    listed = read_csv(store.ROOT / "assets" / "catalog" / "notes.csv", columns=("source", "model", "task", "note"))
    tables = read_csv(PUBLISHED / "tables.csv").set_index("key")["source"].to_dict()
    columns = read_csv(PUBLISHED / "columns.csv")
    rows = []
    for row in listed.to_dict("records"):
        if row["source"] not in ("*", *tables):
            raise BadInput(f"notes.csv names the table {row['source']!r}, which is not in tables.csv")
        if row["model"] != "*":
            catalog.model(row["model"])
        if row["task"] != "*":
            tasks = [catalog.task(row["task"]).key]
        else:
            wanted = columns[(columns.role == "score") & ((columns.table == row["source"]) | (row["source"] == "*"))]
            tasks = list(dict.fromkeys(wanted.task))
        rows += [{**row, "task": task, "source": tables.get(row["source"], "*")} for task in tasks]
    return pd.DataFrame(rows).drop_duplicates()


def all_claims() -> list:
    """Every claim of the four papers, recomputed now."""
    from compute.claims import cfred, mieb, pairbench, unisim

    return [claim for paper in (unisim, pairbench, mieb, cfred) for claim in paper.claims()]


def imports(results: Path) -> list[Figures]:
    """The figures earlier imports left under `results/imported`, one folder a collection."""
    return []


def _frame(rows: Iterable) -> pd.DataFrame:
    """Nouns as a frame; mappings become JSON text, tuples lists."""
    rows = list(rows)
    if not rows:
        return pd.DataFrame()
    records = []
    for row in rows:
        record = {field.name: getattr(row, field.name) for field in fields(row)}
        for name, value in record.items():
            if isinstance(value, tuple):
                record[name] = list(value)
            elif name in JSON_COLUMNS:
                record[name] = json.dumps(value, sort_keys=True, ensure_ascii=False)
        records.append(record)
    return pd.DataFrame.from_records(records).astype(object)
