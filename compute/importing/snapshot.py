"""The shipped results of others: `assets/imported/mteb.parquet`, a row a score, and `mteb.json`, what it was made of.

A Parquet row has the facts of its run with the value (`compute.importing.mteb.COLUMNS`), so that the file can be read
on its own; the tables of a collection follow from the rows, as those of an import do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from pydantic import BaseModel

from compute.catalog import Catalog
from compute.database import store
from compute.importing.collection import Imported, Loaded
from compute.importing.mteb import COLUMNS, FILE, RUN, ModelMeta, recorded
from compute.io.files import read_record, validated, write_text
from compute.types import Metric

NAME = "mteb"
SOURCE = "https://huggingface.co/datasets/mteb/results"
LICENSE = "CC0-1.0"
MOVED = 0.5  # points, as papers print: a larger change of a score is listed one by one


class ShippedResults(BaseModel):
    """What `mteb.json` holds."""

    source: str
    commit: str
    date: str  # of the commit
    license: str
    counts: dict[str, int]
    models: dict[str, ModelMeta]  # by folder


def ship(imported: Imported, *, folder: Path, commit: str, date: str) -> Path:
    """Writes an import as the shipped files; returns the Parquet file."""
    frame = imported.rows[list(COLUMNS)].sort_values([*RUN, "subset", "metric"], ignore_index=True)
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
    tasks, metrics = [row.title for row in catalog.tasks], [row.key for row in catalog.metrics]
    frame = frame[frame["task"].isin(tasks) & frame["metric"].isin(metrics)]
    frame = frame.assign(**{FILE: frame["folder"] + "/" + frame["revision"] + "/" + frame["task"] + ".json"})
    models, runs, scores = recorded(frame, facts=about.models, catalog=catalog, commit=about.commit)
    tables = {"models": store.frame(models), "runs": store.frame(runs), "scores": store.frame(scores)}
    return Loaded(name=NAME, date=about.date, tables={name: table for name, table in tables.items() if len(table)})


def changes(before: pd.DataFrame, after: pd.DataFrame, *, metrics: Iterable[Metric]) -> list[str]:
    """How the shown scores of two snapshots' rows differ, as Markdown for a person who decides; a line a score that
    changed by more than MOVED."""
    cell = ["folder", "task", "subset", "metric"]
    scale = {metric.key: metric.scale for metric in metrics}
    old, new = (frame[frame["main"]].set_index(cell)["value"] for frame in (before, after))
    were, are = (set(values.index.get_level_values("folder")) for values in (old, new))
    both = pd.concat({"old": old, "new": new}, axis=1)
    scales = both.index.get_level_values("metric").map(lambda metric: scale.get(metric, 1.0))
    points = (both["new"] - both["old"]) * scales
    known = both[both.index.get_level_values("folder").isin(were & are)]
    changed, moved = (points.abs() > 0).sum(), points[points.abs() > MOVED]
    return [
        *(f"- new model: {name}" for name in sorted(are - were)),
        *(f"- model gone: {name}" for name in sorted(were - are)),
        f"- {known['old'].isna().sum():,} new scores of known models, {known['new'].isna().sum():,} gone, {changed:,} "
        f"changed, {len(moved):,} of them by more than {MOVED:g} points",
        *(f"    - {', '.join(key)}: {change:+.2f}" for key, change in moved.items()),
    ]
