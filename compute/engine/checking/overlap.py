"""Which of a data set's contents a benchmark has too, as far as the benchmark's data is on this machine.

Where only runs are here and not the data, the content keys of the items that a page can open are compared: the same
files are recognised, near copies are not. Of all other benchmark data nothing can be said, and it is listed as such.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from compute import tasks
from compute.catalog import Catalog
from compute.catalog.own import BENCHMARKS
from compute.content import near_copies
from compute.content.items import Column
from compute.database import store
from compute.engine import run_folders
from compute.engine.checking.copies import AT_MOST, LISTED, HashedImages, hashed
from compute.features.passes import distinct
from compute.progress import Progress
from compute.tasks.source import Source
from compute.types import LikenessError, Task

SHORTEST = 40  # characters of a text that is compared: shorter ones, such as class names, coincide


@dataclass(frozen=True, kw_only=True)
class SharedContents:
    """What a data set shares with one benchmark task: how many contents, and the first by name."""

    task: str
    title: str
    same: int  # contents with the same key
    same_examples: tuple[str, ...]
    near: int = 0  # images that are near copies, beside those that are the same
    near_examples: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Overlap:
    """What was compared with what, and what is shared."""

    shared: list[SharedContents] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)  # tasks whose data is here, compared by content and near copies
    sampled: list[str] = field(default_factory=list)  # of those: not all of their images were compared for near copies
    by_items: list[str] = field(default_factory=list)  # tasks of which items of stored runs alone were compared
    missing: Counter[str] = field(default_factory=Counter)  # benchmark's title -> data sets that are not here
    unread: dict[str, str] = field(default_factory=dict)  # tasks whose data is here and cannot be read, with the reason


def overlap(
    columns: Sequence[Column],
    images: HashedImages,
    *,
    catalog: Catalog,
    source: Source,
    roots: Sequence[Path],
    most: int = AT_MOST,
    progress: Progress | None = None,
) -> Overlap:
    """Compares the contents of `columns`, and the hashed of their images, with every benchmark's.

    `source` must be offline: nothing is fetched. `roots` are folders of runs; `most` as in `copies.hashed`.
    """
    out = Overlap()
    own = _names(columns)
    stored = _run_items(roots)
    missing: dict[str, set[str]] = {}
    candidates = [task for task in catalog.tasks if task.benchmark not in BENCHMARKS and tasks.computable(task)]
    titles = {row.key: row.title for row in catalog.benchmarks}
    with (progress or Progress()).bar("Comparing with benchmarks", total=len(candidates), unit="task") as done:
        for task in candidates:
            done(1)
            try:
                present = tasks.needs(task, source=source).present
                data = tasks.load(task, source=source) if present else None
            except LikenessError as error:
                out.unread[task.key] = str(error)
                continue
            if data is not None:
                _compare(out, task, tasks.every_column(data, variants=False), own, images, source=source, most=most)
            elif task.key in stored:
                _compare_items(out, task, stored[task.key], own)
            else:
                missing.setdefault(task.benchmark, set()).add(task.dataset)
    out.missing.update({titles[benchmark]: len(sets) for benchmark, sets in missing.items()})
    return out


def _compare(
    out: Overlap,
    task: Task,
    columns: Sequence[Column],
    own: Mapping[bytes, str],
    images: HashedImages,
    *,
    source: Source,
    most: int,
) -> None:
    keys: Set[bytes] = {key for column in columns for key in np.unique(np.asarray(column.keys)).tolist()}
    same = [name for key, name in own.items() if key in keys]
    near: list[str] = []
    out.whole.append(task.key)
    if len(images.keys):
        others = hashed(columns, most=most, cache=source.cache)
        if others.drawn < others.total:
            out.sampled.append(task.key)
        for key, name, own_hashes in zip(images.keys.tolist(), images.names, images.hashes, strict=True):
            if key in keys or not len(others.keys):
                continue
            at = np.flatnonzero(near_copies.near(own_hashes, others.hashes))
            if len(at):
                near.append(f"{name} ~ {others.names[at[0]]}")
    if same or near:
        out.shared.append(
            SharedContents(
                task=task.key,
                title=task.title,
                same=len(same),
                same_examples=tuple(same[:LISTED]),
                near=len(near),
                near_examples=tuple(near[:LISTED]),
            )
        )


def _compare_items(out: Overlap, task: Task, folder: Path, own: Mapping[bytes, str]) -> None:
    try:
        details = store.read_parquet(folder / run_folders.ITEMS)["detail"].dropna()
        keys = {key.encode() for detail in details for key in json.loads(detail).get("images") or [] if key}
    except (LikenessError, ValueError, KeyError, TypeError, AttributeError) as error:
        out.unread[task.key] = str(error).strip().partition("\n")[0]
        return
    out.by_items.append(task.key)
    same = [name for key, name in own.items() if key in keys]
    if same:
        out.shared.append(
            SharedContents(task=task.key, title=task.title, same=len(same), same_examples=tuple(same[:LISTED]))
        )


def _names(columns: Sequence[Column]) -> dict[bytes, str]:
    """The distinct contents with their names: every image, and texts that are long enough."""
    out: dict[bytes, str] = {}
    for modality in ("image", "text"):
        contents = distinct([column for column in columns if column.modality == modality])
        for at, key in enumerate(contents.keys.tolist()):
            if key and (modality == "image" or _is_long(contents.read(at))):
                out[key] = contents.name(at)
    return out


def _is_long(text: str) -> bool:
    return len(text) >= SHORTEST


def _run_items(roots: Sequence[Path]) -> dict[str, Path]:
    """A folder of a whole run for every task that has one."""
    out: dict[str, Path] = {}
    for root in roots:
        for folder in run_folders.every(root):
            with contextlib.suppress(IndexError):
                out.setdefault(folder.parts[-2].replace("__", "/"), folder)
    return out
