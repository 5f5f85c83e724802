"""The shipped results of others: `assets/imported/mteb.parquet`, a row per score, and `mteb.json`, its sources.

A Parquet row has the facts of its run and the value (`compute.importing.mteb.COLUMNS`), so that the file can be read on
its own. The tables of a collection are derived from the rows, as for an import.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from pydantic import BaseModel

from compute.catalog import Catalog
from compute.database import store
from compute.importing.collection import Imported, Loaded
from compute.importing.mteb import COLUMNS, FILE, RUN, ModelMeta, recorded, tasks_of
from compute.io.files import read_record, validated, write_text

NAME = "mteb"
SOURCE = "https://huggingface.co/datasets/mteb/results"
LICENSE = "CC0-1.0"
CELL = ["folder", "task", "subset", "metric"]  # identifies a shown score


class ShippedResults(BaseModel):
    """The content of `mteb.json`."""

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


def changes(folder: Path, imported: Imported) -> tuple[pd.DataFrame, int, int]:
    """Returns the shown scores that an import changes or lacks, a row each: CELL, old, new (NaN: removed).

    Also returns how many scores are shipped, and how many the import adds.
    """
    shipped = store.read_parquet(folder / f"{NAME}.parquet")
    old, new = (rows[rows["main"]].set_index(CELL)["value"] for rows in (shipped, imported.rows))
    both = pd.DataFrame({"old": old, "new": new.reindex(old.index)})
    return both[both["old"] != both["new"]].reset_index(), len(old), len(new.index.difference(old.index))


def manifest(folder: Path) -> ShippedResults:
    """Returns the sources of the shipped file. Raises OSError and ValueError."""
    return validated(read_record(folder / f"{NAME}.json", root=folder), ShippedResults)


def read(folder: Path, *, catalog: Catalog) -> Loaded:
    """Returns the shipped results as a collection with the snapshot's date; rows of unknown tasks are skipped.

    Raises OSError, ValueError or DatabaseError with the error in the files.
    """
    about = manifest(folder)
    frame = store.read_parquet(folder / f"{NAME}.parquet")
    if missing := sorted(set(COLUMNS) ^ set(frame.columns)):
        raise ValueError(f"the column {missing[0]!r} is unknown or missing")
    tasks, metrics = tasks_of(catalog), [row.key for row in catalog.metrics]
    frame = frame[frame["task"].isin(list(tasks)) & frame["metric"].isin(metrics)]
    frame = frame.assign(**{FILE: frame["folder"] + "/" + frame["revision"] + "/" + frame["task"] + ".json"})
    models, runs, scores = recorded(frame, facts=about.models, catalog=catalog, commit=about.commit)
    tables = {"models": store.frame(models), "runs": store.frame(runs), "scores": store.frame(scores)}
    return Loaded(name=NAME, date=about.date, tables={name: table for name, table in tables.items() if len(table)})
