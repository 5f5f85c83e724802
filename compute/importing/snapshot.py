"""The shipped results of others: `assets/imported/mteb.parquet`, a row a score, and `mteb.json`, what it was made of.

A Parquet row has the facts of its run with the value, so that the file can be read on its own; the tables of a
collection are made from it as an import makes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from compute.catalog import Catalog
from compute.catalog.published import score_of
from compute.database import store
from compute.importing.collection import Loaded
from compute.importing.figures import Imported
from compute.importing.model_meta import ModelMeta, model_key, model_row
from compute.importing.mteb import run_of
from compute.io.files import read_record, validated, write_text
from compute.types import Metric

NAME = "mteb"
SOURCE = "https://huggingface.co/datasets/mteb/results"
LICENSE = "CC0-1.0"
MOVED = 0.5  # points, as papers print: a larger change of a score is listed one by one
RUN = ("folder", "revision", "task", "split")  # the columns that tell runs apart
COLUMNS = {
    "folder": "string",  # <organisation>__<model>
    "revision": "string",
    "task": "string",  # mteb's name
    "split": "string",
    "subset": "string",
    "metric": "string",
    "value": "float64",  # proportions as fractions
    "main": "bool",  # whether it is the one shown: of the newest revision with the task, and of the test split
    "primary": "bool",  # whether the revision is the model's newest, then the one with most tasks
    "field": "string",  # of the file, from which the value is
    "main_score": "float64",  # what the file calls so, where that is another metric
    "dataset_revision": "string",
    "mteb_version": "string",
    "evaluation_time": "float64",  # seconds
    "date": "string",
}


class ShippedResults(BaseModel):
    """What `mteb.json` holds."""

    source: str
    commit: str
    date: str  # of the commit
    license: str
    counts: dict[str, int]
    models: dict[str, ModelMeta]  # by folder


def rows(imported: Imported, *, catalog: Catalog) -> pd.DataFrame:
    """An import as the columns of the Parquet file, in the order of its keys."""
    runs, titles = {run.id: run for run in imported.runs}, {task.key: task.title for task in catalog.tasks}
    made = []
    for score in imported.scores:
        run = runs[score.run]
        facts = run.settings
        made.append(
            {
                "folder": facts["file"].partition("/")[0],
                "revision": facts["model_revision"],
                "task": titles[run.task],
                "subset": score.subset,
                "metric": score.metric,
                "value": score.value,
                "main": run.main,
                "date": run.started,
                **{name: facts.get(name) for name in COLUMNS if name in facts or name == "main_score"},
            }
        )
    frame = pd.DataFrame(made, columns=list(COLUMNS)).astype(COLUMNS)
    return frame.sort_values([*RUN, "subset", "metric"], ignore_index=True)


def ship(imported: Imported, *, catalog: Catalog, folder: Path, commit: str, date: str) -> Path:
    """Writes an import as the shipped files; returns the Parquet file."""
    frame = rows(imported, catalog=catalog)
    counts = {"models": frame["folder"].nunique(), "tasks": frame["task"].nunique(), "scores": len(frame)}
    about = ShippedResults(
        source=SOURCE,
        commit=commit,
        date=date,
        license=LICENSE,
        counts=counts,
        models=dict(sorted(imported.facts.items())),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}.parquet"
    store.write_parquet(path, frame=frame)
    write_text(path.with_suffix(".json"), json.dumps(about.model_dump(), indent=1, ensure_ascii=False) + "\n")
    return path


def manifest(folder: Path) -> ShippedResults:
    """What the shipped file was made of. Raises OSError and ValueError."""
    return validated(read_record(folder / f"{NAME}.json", root=folder), ShippedResults)


def read(folder: Path, *, catalog: Catalog) -> Loaded:
    """The shipped results as a collection of the snapshot's date; rows of unknown tasks are skipped.

    Raises OSError, ValueError or DatabaseError with what is wrong with the files.
    """
    about = manifest(folder)
    frame = store.read_parquet(folder / f"{NAME}.parquet")
    if missing := sorted(set(COLUMNS) ^ set(frame.columns)):
        raise ValueError(f"the column {missing[0]!r} is unknown or missing")
    tasks, metrics = {task.title: task for task in catalog.tasks}, {metric.key: metric for metric in catalog.metrics}
    frame = frame[frame["task"].isin(list(tasks)) & frame["metric"].isin(list(metrics))]
    runs, scores = [], []
    for _, same in groupby(frame.itertuples(index=False), key=lambda row: tuple(getattr(row, name) for name in RUN)):
        cells = list(same)
        first = cells[0]
        task = tasks[first.task]
        settings: dict[str, Any] = {
            "dataset_revision": first.dataset_revision,
            "mteb_version": first.mteb_version,
            "evaluation_time": None if pd.isna(first.evaluation_time) else first.evaluation_time,
            "model_revision": first.revision,
            "split": first.split,
            "file": f"{first.folder}/{first.revision}/{first.task}.json",
            "field": first.field,
            **({} if pd.isna(first.main_score) else {"main_score": first.main_score}),
            "primary": bool(first.primary),
            "commit": about.commit,
        }
        run = run_of(first.folder, task, settings=settings, date=first.date, main=bool(first.main))
        runs.append(run)
        scores += [score_of(run.id, task, metrics[cell.metric], cell.subset, cell.value) for cell in cells]
    known = {model.key for model in catalog.models}
    folders = [name for name in frame["folder"].unique() if model_key(name) not in known]
    models = [model_row(about.models.get(name), name, catalog=catalog) for name in folders]
    tables = {"models": store.frame(models), "runs": store.frame(runs), "scores": store.frame(scores)}
    return Loaded(name=NAME, date=about.date, tables={name: table for name, table in tables.items() if len(table)})


def changes(before: pd.DataFrame, after: pd.DataFrame, *, metrics: Iterable[Metric]) -> list[str]:
    """How the shown scores of two snapshots' rows differ, as Markdown for a person who decides; a line a score that
    changed by more than MOVED."""
    cell = ["folder", "task", "subset", "metric"]
    scale = {metric.key: metric.scale for metric in metrics}
    old, new = (frame[frame["main"]].set_index(cell)["value"] for frame in (before, after))
    were, are = (set(values.index.get_level_values("folder")) for values in (old, new))
    both = pd.concat({"old": old, "new": new}, axis=1).dropna()
    changed = both[both["old"] != both["new"]]
    points = {key: (value["new"] - value["old"]) * scale.get(key[3], 1.0) for key, value in changed.iterrows()}
    moved = [f"    - {', '.join(key)}: {change:+.2f}" for key, change in points.items() if abs(change) > MOVED]
    added, gone = (
        sum(key[0] in were & are for key in first.index.difference(second.index))
        for first, second in ((new, old), (old, new))
    )
    return [
        *(f"- new model: {name}" for name in sorted(are - were)),
        *(f"- model gone: {name}" for name in sorted(were - are)),
        f"- {added:,} new scores of known models, {gone:,} gone, {len(changed):,} changed, {len(moved):,} of them by "
        f"more than {MOVED:g} points",
        *moved,
    ]
