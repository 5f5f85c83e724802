"""Builds the database from the published tables, the catalogue, the imports and the run folders."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import paths
from compute.catalog import Catalog, published
from compute.catalog.catalog import MODEL_KEY
from compute.catalog.own import models as own_models
from compute.catalog.own import suite_records
from compute.claims import all_claims
from compute.database import calibrations, doubts, store, versions
from compute.database.store import frame
from compute.engine import run_folders, speeds, thumbnails, variants
from compute.engine.run_folders import StoredRun
from compute.importing import collection as collections
from compute.importing import snapshot
from compute.importing import votes as pair_votes
from compute.io.files import locked, read_bytes, short, sweep
from compute.io.tables import read_csv
from compute.models import ADAPTERS, NOTES, required_files
from compute.models.files import weights
from compute.procedures import judging
from compute.types import DatabaseError, Model, NotHere, counted, first_line, shortened

UNLISTED = "It is in no catalogue: this is what its runs say of it. To run it again, name it as before"
PROJECTION = ("kind", "key", "x", "y", "cluster", "settings")
SOURCES = (".csv", ".json", ".sql", ".toml")
MAX_SOURCE = 256 << 20  # bytes per source


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result of a build: what the database contains, what was omitted, and the build time."""

    path: Path
    models: int
    tasks: int
    runs: int
    scores: int
    claims: int
    computed: int  # of the runs
    problems: tuple[str, ...]  # a line per file or folder that was skipped or is invalid
    unshown: tuple[str, ...]  # a line per user suite without a run: not an error, but no page shows it
    unlisted: tuple[str, ...]  # keys of models outside the catalogue, described by their runs
    superseded: tuple[str, ...]  # a line per imported collection with runs replaced by newer ones
    seconds: float


def sources(*, results: Path) -> tuple[list[Path], list[Path]]:
    """Returns all source files of the database: those that no run changes, and the others."""
    folders = (paths.PUBLISHED, paths.CATALOG, paths.COMPUTED)
    return [
        *(path for path in paths.IMPORTED.rglob("*") if path.is_file()),
        *(path for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES),
        *([paths.USER_MODELS] if paths.USER_MODELS.is_file() else ()),
        *(paths.ROOT / "compute").rglob("*.py"),
        published.CHANGELOG,
        *paths.VERSIONS.glob("*/*.parquet"),
        *(results / "imported").glob(f"*/{collections.MARK}"),
        *(results / "imported").glob(pair_votes.FILES),
        *suite_records.files(results),
        *own_models.files(results),
    ], [
        *(folder / run_folders.MARK for folder in run_folders.every(results)),
        *(results / run_folders.CALIBRATIONS).rglob("*.json"),
        *(results.glob(speeds.FILE)),
    ]


def _digest(files: Sequence[Path], results: Path) -> str:
    """Returns a digest of the files' names and contents.

    Dates are ignored: they may be in the future or those of a fresh copy. So is the common parent folder.
    """
    digest = hashlib.blake2b(digest_size=16)
    roots = (
        ("results", results),
        ("computed", paths.COMPUTED),
        ("assets", paths.ASSETS),
        ("", paths.ROOT),
        ("home", paths.USER_MODELS.parent),
    )
    named = {}
    for path in files:
        name, base = next(each for each in roots if path.is_relative_to(each[1]))
        named[f"{name}/{path.relative_to(base).as_posix()}"] = path
    for name, path in sorted(named.items()):
        digest.update(name.encode(errors="surrogateescape") + b"\0")
        with suppress(OSError, ValueError):  # unreadable files are not in the database either
            content = read_bytes(path, root=path.parent, most=MAX_SOURCE)
            digest.update(hashlib.blake2b(content, digest_size=16).digest())
    return digest.hexdigest()


def _recorded(results: Path) -> str:
    """Returns the record of the database's sources: digests of the folder's path, of the files that no run changes, and
    of the others.

    The path is hashed because databases are published.
    """
    folder = hashlib.blake2b(str(results.resolve()).encode(errors="surrogateescape"), digest_size=8).hexdigest()
    return f"{folder}:{'-'.join(_digest(files, results) for files in sources(results=results))}"


def is_stale(path: Path, *, results: Path = paths.RESULTS) -> bool:
    """Returns whether the database is missing, or was built from other files.

    A truncated database is stale too. Any other file that cannot be read is not: it may be in use, or belong to another
    program, and opening it reports the error. If the database was built from another results folder or by an earlier
    version, only the dates are compared.
    """
    if not path.is_file():
        return True
    try:
        recorded, now = store.recorded(path, "sources"), _recorded(results)
    except DatabaseError as error:
        return isinstance(error, store.DamagedDatabase)
    (folder, _, digest), (own, _, current) = (text.partition(":") for text in (recorded, now))
    if digest == current or folder == own:
        return digest != current
    made = path.stat().st_mtime
    return any(source.stat().st_mtime > made for files in sources(results=results) for source in files)


def bring_up_to_date(
    path: Path = paths.DATABASE, *, results: Path = paths.RESULTS, report: Callable[[str], None] = lambda line: None
) -> bool:
    """Builds the database if it is stale, reporting so to `report`, and removes drafts of killed processes.

    If several processes start at once, one builds and the others wait for it. Returns whether this one built it. Raises
    LikenessError.
    """
    remove_drafts(path, results=results)
    if is_stale(path, results=results):
        report(f"Building {path.name} ...")
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent):
            if is_stale(path, results=results):
                for problem in build(path, results=results).problems:
                    report(f"Warning: {problem}")
                return True
    return False


def remove_drafts(path: Path, *, results: Path) -> None:
    """Removes files that killed processes left half-written next to the database and among the results."""
    sweep(path.parent, deep=False)
    sweep(results, paths.COMPUTED, skip=("fetched",))


def build(path: Path = paths.DATABASE, *, results: Path = paths.RESULTS) -> Report:
    """Writes the whole database at once. Raises LikenessError and leaves the old file unchanged.

    If only runs, calibrations and speeds have changed since the old file was built, a copy of it is updated. A file of
    the results that is damaged or has invalid content is skipped and named in the report.
    """
    started = time.perf_counter()
    remove_drafts(path, results=results)
    # Recorded before the files are read, so that changes during the build make the database stale.
    recorded = _recorded(results)
    fixed = recorded.partition(":")[2].partition("-")[0]
    suites, problems = suite_records.recorded(results)
    models, wrong = own_models.recorded(results)
    problems += wrong
    catalog, wrong = own_models.with_own(suites, models)
    problems += wrong
    stored, of_runs = computed((results, paths.COMPUTED), catalog=catalog)
    suites, unshown = suite_records.with_runs(suites, tasks={run.run.task for run in stored})
    catalog, _ = own_models.with_own(suites, models)
    rows = {row.key: row for row in catalog.models}
    unlisted = described(stored, listed=rows)
    catalog = replace(catalog, models=(*catalog.models, *unlisted))
    fixed = "\n".join([fixed, *unshown, *map(repr, unlisted)])
    copied = False
    with suppress(DatabaseError):
        copied = store.recorded(path, "fixed") == fixed
    frames, superseded = dict.fromkeys(("runs", "scores"), frame(())), []
    if not copied:
        published_runs, published_scores, gaps = published.load(catalog)
        frames = catalog_frames(catalog) | {
            "runs": frame(published_runs),
            "scores": frame(published_scores),
            "gaps": pd.DataFrame(gaps),
            "averages": published.averages(catalog),
            "notes": notes(catalog),
            "laboratories": frame(()),
            "task_faults": faults(),
            "protocols": read_csv(paths.CATALOG / "protocols.csv"),
            "harness_faults": read_csv(paths.CATALOG / "harness_faults.csv"),
            "same_data": read_csv(paths.CATALOG / "same_data.csv"),
            "claims": frame(all_claims()),
            **versions.frames(),
        }
        wrong, superseded = add_imports(frames, catalog=catalog, folder=results / "imported")
        problems += wrong
        frames["votes"], wrong = pair_votes.every(paths.IMPORTED, results / "imported")
        problems += wrong
        if paths.PROJECTIONS.is_file():
            frames["projections"], wrong = projections(paths.PROJECTIONS)
            problems += wrong
    if problems:  # the next build must report them again
        fixed = ""
    problems += of_runs
    add_computed(frames, stored, catalog=catalog)
    now = cache(lambda model: identity(rows[model]))
    calibrated, wrong = calibrations.frames(
        results, paths.COMPUTED, models=rows, differs=lambda model, settings: other_model(now(model), settings)
    )
    frames |= calibrated
    problems += wrong
    frames["speeds"], wrong = speeds.every(results, models={row.key for row in catalog.models})
    problems += wrong
    items = {run.run.id: run.folder / run_folders.ITEMS for run in stored}
    damaged, counts = store.write(
        path,
        frames=frames,
        most_items=run_folders.PAGE_ITEMS,
        files={
            "items": items.items(),
            "ratings": [
                (run.run.id, items[run.run.id])
                for run in stored
                if catalog.task(run.run.task).procedure == judging.PROCEDURE.key
            ],
            "thumbnails": [
                picture
                for root in (results, paths.COMPUTED)
                for picture in thumbnails.files(root)
                if picture[0] in {run.run.task for run in stored}
            ],
        },
        derived={"doubts": doubts.doubts},
        about={"sources": recorded, "fixed": fixed, "version": published.history()[0]["number"]},
        copied=copied,
    )
    problems += [f"{'/'.join(file.parts[-4:])} is damaged: {reason}" for file, reason in damaged.items()]
    return Report(
        path=path,
        seconds=time.perf_counter() - started,
        computed=len(stored),
        problems=tuple(problems),
        unshown=tuple(unshown),
        unlisted=tuple(row.key for row in unlisted),
        superseded=tuple(superseded),
        **counts,
    )


def catalog_frames(catalog: Catalog) -> dict[str, pd.DataFrame]:
    """Returns a frame for each table that comes from the catalogue."""
    nouns = ("benchmarks", "suites", "datasets", "metrics", "tasks", "aliases")
    return {name: frame(getattr(catalog, name)) for name in nouns} | {
        "models": frame(map(weights.by_name, catalog.models))
    }


def notes(catalog: Catalog) -> pd.DataFrame:
    """Returns the remarks on scores: a remark on a whole table applies to each of its tasks; `specific` marks those on
    one score.

    A general remark on a model keeps the task `*`, and so does a remark in the model's row.
    """
    listed = read_csv(paths.CATALOG / "notes.csv", columns=("source", "model", "task", "metric", "note"))
    tables = read_csv(paths.PUBLISHED / "tables.csv").set_index("key")["source"].to_dict()
    columns = read_csv(paths.PUBLISHED / "columns.csv")
    rows = []
    for row in listed.to_dict("records"):
        tasks = [row["task"]]
        if row["task"] == "*" != row["source"]:
            tasks = list(dict.fromkeys(columns[(columns.role == "score") & (columns.table == row["source"])].task))
        specific = row["model"] != "*" and row["task"] != "*"
        rows += [
            {**row, "task": task, "source": tables.get(row["source"], "*"), "specific": specific} for task in tasks
        ]
    general = {"source": "*", "task": "*", "metric": "", "specific": False}
    rows += [
        {**general, "model": model.key, "note": model.options["not_computable"]}
        for model in catalog.models
        if "not_computable" in model.options
    ]
    return pd.DataFrame(rows).drop_duplicates()


def faults() -> pd.DataFrame:
    """Returns known faults of tasks, one per row."""
    listed = read_csv(paths.CATALOG / "task_faults.csv")
    return listed.assign(task=listed.pop("tasks").str.split(";")).explode("task", ignore_index=True)


def add_imports(frames: dict[str, pd.DataFrame], *, catalog: Catalog, folder: Path) -> tuple[list[str], list[str]]:
    """Adds the shipped results of others and the collections under `folder`, the newest first.

    Existing catalogue entries stay. If runs share an id, that of the newest collection is used. Of one model's runs on
    a task, the newest that has all scores of the older ones is shown. Returns why collections were skipped, and which
    ones have runs replaced by newer imports.
    """
    loaded, problems = collections.load(folder)
    if paths.IMPORTED.is_dir():
        shipped, wrong = collections.load(paths.IMPORTED)
        loaded, problems = loaded + shipped, problems + wrong
        try:
            loaded.append(snapshot.read(paths.IMPORTED, catalog=catalog))
        except (OSError, ValueError, DatabaseError) as error:
            problems.append(collections.refusal(snapshot.NAME, error))
    known_runs, sound = set(frames["runs"]["id"]), []
    for one in sorted(loaded, key=lambda each: each.date, reverse=True):
        known = {noun: set(frames[noun]["key"]) for noun in ("benchmarks", "suites", "models", "tasks", "metrics")}
        try:
            collections.check(one.tables, known={**known, "runs": known_runs})
        except (ValueError, TypeError) as error:
            problems.append(collections.refusal(one.name, error))
            continue
        sound.append(one)
        for noun, part in one.tables.items():
            if noun not in ("runs", "scores"):
                frames[noun] = _joined(frames[noun], part, keys=["key"])
    if not sound:
        return problems, []
    runs, scores, superseded = collections.joined(sound)
    frames["runs"] = _joined(frames["runs"], runs, keys=["id"])
    frames["scores"] = _joined(frames["scores"], scores, keys=["run", "subset", "metric"])
    return problems, [f"{count:,} runs of {name} give way to newer imports" for name, count in superseded.items()]


def projections(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Returns the shipped maps in the format of the database's table; if the file is invalid, an empty frame and the
    reason.
    """
    try:
        frame = pd.read_csv(path, dtype={"kind": str, "key": str, "settings": str, "cluster": "Int32"})
        if list(frame.columns) != list(PROJECTION) or not np.isfinite(frame[["x", "y"]].to_numpy(float)).all():
            raise ValueError("its columns are wrong, or a point has no position")
    except (OSError, ValueError, TypeError) as error:
        reason = first_line(error)
        return pd.DataFrame(), [f"{path.name} is skipped ({reason}): make it again, likeness project"]
    return frame, []


def computed(roots: tuple[Path, ...], *, catalog: Catalog) -> tuple[list[StoredRun], list[str]]:
    """Returns the complete runs under the roots without duplicates, and why others were skipped: damaged, or of an
    unknown task, subset or metric.

    Runs of unknown tasks are counted in one sentence. If a run is under two roots, the newest copy is used.
    """
    known = {noun: {row.key for row in getattr(catalog, noun)} for noun in ("models", "metrics")}
    subsets = {task.key: {*task.subsets, "default", "average"} for task in catalog.tasks}
    stored, problems = run_folders.newest(folder for root in roots for folder in run_folders.every(root))
    gone = Counter(one.run.task for one in stored if one.run.task not in subsets)
    kept = []
    for one in stored:
        if one.run.task in gone:
            continue
        where, model = f"Run folder {'/'.join(one.folder.parts[-3:])}", one.run.model
        metrics = [score.metric for score in one.scores if score.metric not in known["metrics"]]
        # A score of an unknown subset would count in the task's mean.
        if unknown := sorted({score.subset for score in one.scores} - subsets[one.run.task]):
            what = f"which is not a subset of {one.run.task}: remove it and run again"
            problems.append(f"{where} has a score of {short(unknown[0])}, {what}")
        elif model not in known["models"] and not MODEL_KEY.fullmatch(model):
            problems.append(f"{where} is of model {model!r}, which is in no catalogue")
        elif metrics:
            problems.append(f"{where} is of metric {metrics[0]!r}, which is in no catalogue")
        else:
            kept.append(one)
            if one.is_of_the_future:
                problems.append(
                    f"{where} is dated {one.run.started}, in the future: it is shown only where no other run of this "
                    "model and task is. Check the clock and run again"
                )
    if gone:
        problems.append(
            f"{counted(gone.total(), 'run')} of tasks in no catalogue stay in their folders and are not shown: "
            + shortened(", ".join(sorted(gone)), 400)
        )
    return kept, problems


def described(stored: Sequence[StoredRun], *, listed: Collection[str]) -> list[Model]:
    """Returns rows for unlisted models, as described by their newest run. They cannot be loaded."""
    rows = {}
    for one in sorted(stored, key=lambda each: each.date):
        if (key := one.run.model) not in listed:
            stated = one.run.settings.get("described") or {}
            rows[key] = Model(**{"key": key, "title": key, "options": {"not_computable": UNLISTED}, **stated})
    return list(rows.values())


def add_computed(frames: dict[str, pd.DataFrame], stored: list[StoredRun], *, catalog: Catalog) -> None:
    """Adds computed runs and their scores; of several runs of one model and task, one is marked to be shown."""
    shown = {run.run.id for run in variants.main_runs(stored, tasks=catalog.tasks).values()}
    rows = []
    for run in stored:
        # The path as a reader finds it: relative to the checkout, or to the parent of the results.
        whole = run.folder.resolve()
        own = whole.relative_to(paths.ROOT) if whole.is_relative_to(paths.ROOT) else Path(*whole.parts[-4:])
        rows.append(replace(run.run, source=str(own), main=run.run.id in shown))
    frames["runs"] = _joined(frames["runs"], frame(rows), keys=["id"])
    frames["scores"] = _joined(
        frames["scores"], frame([score for run in stored for score in run.scores]), keys=["run", "subset", "metric"]
    )


def identity(row: Model) -> dict[str, Any]:
    """Returns the expected model of a calibration: adapter and its version, weights, options and revision.

    The revision of a folder within the repository or of an installed package is the digest of its files. That of a
    branch, of a folder elsewhere or of a package that is not installed is unknown.
    """
    family, named = ADAPTERS.get(row.adapter), weights.by_name(row)
    now = {
        "adapter": row.adapter,
        "version": family.version if family else None,
        "weights": named.weights,
        "options": {name: value for name, value in named.options.items() if name not in NOTES},
    }
    bundled = not Path(row.weights).is_absolute() and (paths.ROOT / row.weights).is_dir()
    if row.weights and family and (bundled or row.weights.startswith(weights.PACKAGE)):
        with suppress(NotHere):
            now["revision"] = weights.revision(row, required=required_files(row))
    elif weights.COMMIT.fullmatch(row.revision):
        now["revision"] = row.revision
    return now


def other_model(now: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Returns how a calibration's model differs from `identity`; fields that were not recorded are not compared."""
    recorded = settings.get("model") or {}
    if not recorded:
        return "its model was not recorded"
    return ", ".join(
        f"{name} was {recorded[name]!r} and is {value!r}"
        for name, value in now.items()
        if name in recorded and recorded[name] != json.loads(json.dumps(value))
    )


def _joined(first: pd.DataFrame, second: pd.DataFrame, *, keys: list[str]) -> pd.DataFrame:
    return pd.concat([first, second.astype(object)], ignore_index=True).drop_duplicates(keys) if len(second) else first
