"""Makes the database from the published tables, the catalogue, the imports and the run folders."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from compute import paths
from compute.calibration import files as calibrations
from compute.catalog import Catalog, published, shipped
from compute.database import store
from compute.database.store import frame
from compute.engine import image_maps, run_folders, thumbnails, variants
from compute.engine.run_folders import StoredRun
from compute.importing import collection as collections
from compute.models import ADAPTERS, NOTES, required_files
from compute.models.files import weights
from compute.tables import read_csv
from compute.types import BadInput, Model, NotHere


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a build put into the database, what it had to leave out, and how long it took."""

    path: Path
    models: int
    tasks: int
    runs: int
    scores: int
    claims: int
    computed: int  # of the runs
    problems: tuple[str, ...]  # a line for each run folder that was left out
    seconds: float


def sources(*, results: Path = paths.RESULTS) -> list[Path]:
    """Every file the database is made from; it is stale when one of them is newer."""
    folders = (paths.PUBLISHED, paths.CATALOG, paths.COMPUTED, paths.ROOT / "compute")
    shipped_files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".py")
    ]
    return [
        *shipped_files,
        *(results / "imported").glob("*/collection.json"),
        *(folder / run_folders.MARK for folder in run_folders.every(results)),
        *calibrations.files(results).values(),
        *image_maps.files(results, paths.COMPUTED).values(),
    ]


def is_stale(path: Path = paths.DATABASE, *, results: Path = paths.RESULTS) -> bool:
    """Whether the database is missing, of another version, or older than a file it is made from."""
    if not path.is_file():
        return True
    made = path.stat().st_mtime
    return any(source.stat().st_mtime > made for source in sources(results=results))


def build(path: Path = paths.DATABASE, *, results: Path = paths.RESULTS) -> Report:
    """Writes the whole database in one go. Raises LikenessError and leaves the old file as it was."""
    started = time.perf_counter()
    catalog = shipped()
    frames = catalog_frames(catalog)
    figures = published.load(catalog)
    frames["runs"], frames["scores"], frames["gaps"] = frame(figures.runs), frame(figures.scores), frame(figures.gaps)
    frames["averages"] = frame(published.averages(catalog))
    frames["notes"] = notes(catalog)
    frames["claims"] = frame(all_claims())
    add_imports(frames, folder=results / "imported")
    if paths.PROJECTIONS.is_file():
        frames["projections"] = pd.read_csv(paths.PROJECTIONS)
    stored, problems = computed((results, paths.COMPUTED), catalog=catalog)
    add_computed(frames, stored, catalog=catalog)
    rows = {row.key: row for row in catalog.models}
    stored_calibrations, domains, wrong = calibrations.every(
        results, paths.COMPUTED, models=rows, differs=lambda model, settings: other_model(rows[model], settings)
    )
    frames["calibrations"] = calibrations.frame(stored_calibrations)
    frames["calibration_domains"] = calibrations.domain_frame(domains)
    problems += wrong
    damaged = store.write(
        path,
        frames=frames,
        most_items=run_folders.PAGE_ITEMS,
        items=[(run.run.id, run.folder / run_folders.ITEMS) for run in stored],
        thumbnails=[
            picture
            for root in (results, paths.COMPUTED)
            for picture in thumbnails.files(root)
            if picture[0] in {run.run.task for run in stored}
        ],
        item_maps=image_maps.files(results, paths.COMPUTED).items(),
    )
    problems += [
        f"{'/'.join(file.parts[-4:])} cannot be read: its pictures or items are left out"
        for file in dict.fromkeys(damaged)
    ]
    counts = {name: len(frames[name]) for name in ("models", "tasks", "runs", "scores", "claims")}
    return Report(
        path=path, seconds=time.perf_counter() - started, computed=len(stored), problems=tuple(problems), **counts
    )


def catalog_frames(catalog: Catalog) -> dict[str, pd.DataFrame]:
    """One frame a table that the catalogue fills; suites and tasks keep their order as `position`."""
    frames = {
        name: frame(getattr(catalog, name))
        for name in ("benchmarks", "suites", "datasets", "metrics", "models", "tasks", "aliases")
    }
    frames["suite_tasks"] = pd.DataFrame(
        [{"suite": suite, "task": task.key} for task in catalog.tasks for suite in task.suites]
    )
    frames["tasks"] = frames["tasks"].drop(columns="suites")
    frames["metrics"] = frames["metrics"].drop(columns=["inputs", "compute"])
    for name in ("suites", "tasks"):
        frames[name]["position"] = range(len(frames[name]))
    return frames


def notes(catalog: Catalog) -> pd.DataFrame:
    """Remarks on figures: a remark on a whole table is one on each of its tasks, `specific` tells those on one figure.

    A remark on a model in general keeps the task `*`, and so does what its row says of itself. Raises BadInput for a
    table, model or task that is not there.
    """
    listed = read_csv(paths.CATALOG / "notes.csv", columns=("source", "model", "task", "metric", "note"))
    tables = read_csv(paths.PUBLISHED / "tables.csv").set_index("key")["source"].to_dict()
    columns = read_csv(paths.PUBLISHED / "columns.csv")
    rows = []
    for row in listed.to_dict("records"):
        if row["source"] not in ("*", *tables):
            raise BadInput(f"notes.csv names the table {row['source']!r}, which is not in tables.csv")
        if row["source"] == row["model"] == row["task"] == "*":
            raise BadInput(f"notes.csv: {row['note'][:60]!r} concerns everything; name a table, a model or a task")
        if row["model"] != "*":
            catalog.model(row["model"])
        tasks = [row["task"]]
        if row["task"] != "*":
            catalog.task(row["task"])
        elif row["source"] != "*":
            tasks = list(dict.fromkeys(columns[(columns.role == "score") & (columns.table == row["source"])].task))
        specific = row["model"] != "*" and row["task"] != "*"
        rows += [
            {**row, "task": task, "source": tables.get(row["source"], "*"), "specific": specific} for task in tasks
        ]
    general = {"source": "*", "task": "*", "metric": "", "specific": False}
    rows += [
        {**general, "model": model.key, "note": model.options[name]}
        for model in catalog.models
        for name in ("not_computable", "caution")
        if name in model.options
    ]
    return pd.DataFrame(rows).drop_duplicates()


def all_claims() -> list:
    """Every claim of the four papers, recomputed now."""
    from compute.claims import cfred, mieb, pairbench, unisim

    return [claim for paper in (unisim, pairbench, mieb, cfred) for claim in paper.claims()]


def add_imports(frames: dict[str, pd.DataFrame], *, folder: Path) -> None:
    """Adds the collections under `folder`; what the catalogue or an earlier collection has already stays as it is."""
    for collection in collections.load(folder):
        tasks = collection.get("tasks")
        if tasks is not None:
            pairs = [
                {"suite": suite, "task": task}
                for task, suites in zip(tasks.key, tasks.suites, strict=True)
                for suite in suites
            ]
            frames["suite_tasks"] = _joined(frames["suite_tasks"], pd.DataFrame(pairs), keys=["suite", "task"])
            first = len(frames["tasks"])
            collection["tasks"] = tasks.drop(columns="suites").assign(position=range(first, first + len(tasks)))
        keys = {
            "models": ["key"],
            "tasks": ["key"],
            "metrics": ["key"],
            "runs": ["id"],
            "scores": ["run", "subset", "metric"],
        }
        for name, part in collection.items():
            frames[name] = _joined(frames[name], part, keys=keys[name])


def computed(roots: tuple[Path, ...], *, catalog: Catalog) -> tuple[list[StoredRun], list[str]]:
    """The whole runs under the roots, once each, and why others were left out: damaged, or of unknown keys.

    A run that stands under two roots is taken from where it is newest.
    """
    known = {noun: {row.key for row in getattr(catalog, noun)} for noun in ("models", "tasks", "metrics")}
    newest: dict[str, StoredRun] = {}
    problems = []
    for root in roots:
        for folder in run_folders.every(root):
            try:
                stored = run_folders.read(folder)
                for noun, key in (
                    ("models", stored.run.model),
                    ("tasks", stored.run.task),
                    *(("metrics", score.metric) for score in stored.scores),
                ):
                    if key not in known[noun]:
                        raise BadInput(
                            f"Run folder {'/'.join(folder.parts[-3:])} is of {noun[:-1]} {key!r}, "
                            "which is in no catalogue"
                        )
            except BadInput as error:
                problems.append(str(error))
                continue
            before = newest.get(stored.run.id)
            if before is None or stored.run.started > before.run.started:
                newest[stored.run.id] = stored
    return list(newest.values()), problems


def add_computed(frames: dict[str, pd.DataFrame], stored: list[StoredRun], *, catalog: Catalog) -> None:
    """Adds computed runs and their scores; of several runs of one model and task one is marked to be shown."""
    category = {task.key: f"{task.benchmark}/{task.category}" for task in catalog.tasks}
    shown = variants.main_runs(stored, category=category)
    rows = [replace(run.run, source=_source(run.folder), main=run.run.id in shown) for run in stored]
    frames["runs"] = _joined(frames["runs"], frame(rows), keys=["id"])
    frames["scores"] = _joined(
        frames["scores"], frame([score for run in stored for score in run.scores]), keys=["run", "subset", "metric"]
    )


def other_model(row: Model, settings: Mapping[str, Any]) -> str:
    """What of a calibration's model is not the row's now: adapter, its version, weights, options or pinned revision.

    Of a folder within the repository and of an installed package the files' digest is compared; a branch, a folder
    elsewhere, a package that is not installed and what was not recorded say nothing.
    """
    recorded = settings.get("model") or {}
    if not recorded:
        return "its model was not recorded"
    family = ADAPTERS.get(row.adapter)
    now = {
        "adapter": row.adapter,
        "version": family.version if family else None,
        "weights": Path(row.weights).name if Path(row.weights).is_absolute() else row.weights,
        "options": {name: value for name, value in row.options.items() if name not in NOTES},
    }
    bundled = not Path(row.weights).is_absolute() and (paths.ROOT / row.weights).is_dir()
    if row.weights and family and (bundled or row.weights.startswith(weights.PACKAGE)):
        with suppress(NotHere):
            now["revision"] = weights.revision(row, required=required_files(row))
    elif weights.COMMIT.fullmatch(row.revision):
        now["revision"] = row.revision
    return ", ".join(
        f"{name} was {recorded[name]!r} and is {value!r}"
        for name, value in now.items()
        if name in recorded and recorded[name] != json.loads(json.dumps(value))
    )


def _source(folder: Path) -> str:
    """A run's folder as a reader finds it: from the repository's root, or from above the results."""
    whole = folder.resolve()
    return str(whole.relative_to(paths.ROOT) if whole.is_relative_to(paths.ROOT) else Path(*whole.parts[-4:]))


def _joined(first: pd.DataFrame, second: pd.DataFrame, *, keys: list[str]) -> pd.DataFrame:
    return pd.concat([first, second.astype(object)], ignore_index=True).drop_duplicates(keys) if len(second) else first
