"""MIEB's 132 task rows as items, from the hub's Parquet at the pinned revisions. Protocols: MIEB sections 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compute.tasks.data import Data
from compute.tasks.mieb import labelled, retrieval, rows, sets
from compute.tasks.mieb.rows import Row
from compute.tasks.source import Need, Source, weight
from compute.types import Task

LOADER_VERSION = 1  # part of every run's fingerprint: raise it when the items change

BYTES_PER_PIXEL = 0.25  # of a JPEG, for estimates before anything is fetched

# Which function makes the items of a procedure's tasks: (row, source, subset, options) -> Data.
PROCEDURES = {
    "probe": labelled.probe,
    "clustering": labelled.clusters,
    "zero_shot": labelled.zero_shot,
    "matching": sets.matches,
    "sts": sets.sentences,
    "retrieval": retrieval.load,
    "multiple_choice": retrieval.load,
}


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, Data]:
    """A task's items, a subset (language, or `default`) at a time."""
    row = rows.row(task)
    return {subset: PROCEDURES[task.procedure](row, source, subset, options) for subset in task.subsets}


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """`prompts`: as the public code has them, with line ends left in, or clean."""
    return {"prompts": ("public", "clean")} if rows.row(task).keeps_line_ends else {}


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """The loader's version, the task's facts, and the files where no pinned revision identifies them."""
    row = rows.row(task)
    return {"loader": LOADER_VERSION, "facts": rows.digest(row), "files": source.state(row.repo, revision=row.revision)}


def needs(task: Task, *, source: Source) -> Need:
    """What the task takes: bytes of downloaded files, else an estimate; a probe's drawn items come on top."""
    row: Row = rows.row(task)
    folder = row.present(source, procedure=task.procedure)
    known = rows.contents(task)
    size = weight(folder) if folder else None
    if size is None and known.images and known.pixels:
        size = round(known.images * known.pixels * BYTES_PER_PIXEL)
    return Need(
        repo=row.repo,
        revision=row.revision,
        bytes=size,
        present=folder is not None,
        images=known.images,
        texts=known.texts,
    )
