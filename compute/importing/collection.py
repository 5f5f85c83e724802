"""Keeps an import on disk, so that every later build has it: Parquet files in a folder, `collection.json` last."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd

from compute.database import store
from compute.importing.figures import Imported
from compute.types import BadInput

TABLES = ("models", "tasks", "metrics", "runs", "scores")
MARK = "collection.json"  # its presence means that the folder is whole


def save(imported: Imported, *, name: str, folder: Path) -> Path:
    """Writes one collection under `folder`, replacing an earlier one of that name; returns where it is."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", name):
        raise BadInput(f"{name!r} cannot name a collection: use lower-case letters, digits, dots, dashes")
    target, draft = folder / name, folder / f".draft-{name}"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    counts = {}
    for table in TABLES:
        frame = store.frame(getattr(imported, table))
        counts[table] = len(frame)
        if len(frame):
            store.write_parquet(draft / f"{table}.parquet", frame=frame)
    (draft / MARK).write_text(json.dumps({"name": name, "counts": counts}, indent=1))
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)
    return target


def load(folder: Path) -> list[dict[str, pd.DataFrame]]:
    """Every whole collection under `folder`, one frame a table, in the order of their names."""
    return [
        {table: store.read_parquet(path) for table in TABLES if (path := mark.parent / f"{table}.parquet").is_file()}
        for mark in sorted(folder.glob(f"*/{MARK}"))
        if not mark.parent.name.startswith(".")
    ]
