"""Which of a data set's contents a benchmark has too, as far as the benchmark's data is on this machine.

Where only runs are here and not the data, the content keys of the items that a page can open are compared: the same
files are recognised, near copies are not. Of all other benchmark data nothing can be said, and it is listed as such.

The contents of tasks that are drawn rather than read are stored by what decides their drawing, so that they are drawn
for the first comparison only.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from compute import tasks, versions
from compute.catalog import Catalog
from compute.catalog.own.suite import BENCHMARKS
from compute.content import near_copies
from compute.content.items import Column
from compute.database import store
from compute.engine import run_folders
from compute.engine.checking.copies import AT_MOST, LISTED, HashedImages, hashed, near, of_records, recorded
from compute.features.passes import distinct
from compute.progress import Progress
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import Source, stored_keys
from compute.types import BadInput, LikenessError, Task

DRAWN_BY = ("numpy", "pillow", "scikit-image")  # packages that decide the bytes of drawn images
SHORTEST = 40  # characters of a text that is compared: shorter ones, such as class names, coincide


@dataclass(frozen=True, kw_only=True)
class SharedContents:
    """What a data set shares with one benchmark: contents counted once each, and the first by name."""

    title: str
    tasks: tuple[str, ...]  # of the benchmark, that share any
    same: int  # contents with the same key
    same_examples: tuple[str, ...]
    near: int  # images that are near copies, and not the same
    near_examples: tuple[str, ...]


@dataclass(kw_only=True)
class Overlap:
    """What was compared with what, and what is shared."""

    shared: list[SharedContents] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)  # tasks whose data is here, compared by content and near copies
    sampled: list[str] = field(default_factory=list)  # of those: not all of their images were compared for near copies
    by_items: list[str] = field(default_factory=list)  # tasks of which items of stored runs alone were compared
    missing: dict[str, int] = field(default_factory=dict)  # benchmark's title -> data sets that are not here
    unread: dict[str, str] = field(default_factory=dict)  # tasks whose data is here and cannot be read, with the reason


@dataclass(kw_only=True)
class _Shared:
    """Of one benchmark: key of a shared content -> task, and what of the task it is like."""

    same: dict[bytes, str] = field(default_factory=dict)
    near: dict[bytes, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _TaskContents:
    """What a benchmark's task shows, read or drawn as far as it is not stored."""

    task: Task
    source: Source
    most: int
    drawn: bool

    @cached_property
    def columns(self) -> list[Column]:
        return tasks.every_column(tasks.load(self.task, source=self.source), variants=False)

    @cached_property
    def keys(self) -> np.ndarray:
        """(n,) of a content's `key`, each once, and whether it `is_image`."""
        return self._stored("keys", self._keys)

    def images(self) -> HashedImages:
        """The hashes of the images, of `most` of them at random where there are more."""
        if not self.drawn:
            return hashed(self.columns, most=self.most, cache=self.source.cache)
        rows = self._stored(f"hashes of {self.most}", lambda: recorded(hashed(self.columns, most=self.most)))
        total = int((self.keys["is_image"] & (self.keys["key"] != NO_KEY)).sum())
        return of_records(rows, drawn=min(total, self.most or total), total=total)

    def _keys(self) -> np.ndarray:
        keys = [np.asarray(column.keys, dtype="S32") for column in self.columns]
        image = [np.full(len(column), column.modality == "image") for column in self.columns]
        rows = np.zeros(sum(map(len, keys)), dtype=[("key", "S32"), ("is_image", "?")])
        rows["key"], rows["is_image"] = np.concatenate(keys), np.concatenate(image)
        return np.unique(rows)

    def _stored(self, what: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """What `make` gives, stored for a task that is drawn: its identity and the packages that draw decide it."""
        if not self.drawn:
            return make()
        how = [near_copies.VERSION, near_copies.LEAST_STRUCTURE, versions.installed(DRAWN_BY)]
        facts = [f"{what} of a drawn task", self.task.key, tasks.identity(self.task, source=self.source), how]
        return stored_keys(self.source.cache, json.dumps(facts, sort_keys=True), make)


def candidates(catalog: Catalog) -> list[Task]:
    """The tasks of benchmarks that data of one's own are compared with, wherever the tasks' data are."""
    return [task for task in catalog.tasks if task.benchmark not in BENCHMARKS]


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
    own, stored = _names(columns), run_items(roots)
    missing: dict[str, set[str]] = {}
    shared: dict[str, _Shared] = {}
    rows = candidates(catalog)
    with (progress or Progress()).bar("Comparing with benchmarks", total=len(rows), unit="task") as done:
        for task in rows:
            done(1)
            of_benchmark = shared.setdefault(task.benchmark, _Shared())
            try:
                need = tasks.needs(task, source=source) if tasks.computable(task) else None
                if need is not None and need.present:
                    contents = _TaskContents(task=task, source=source, most=most, drawn=not need.repo)
                    _compare(out, contents, own, images, of_benchmark)
                elif task.key in stored:
                    _compare_items(out, task, stored[task.key], own, of_benchmark)
                else:
                    missing.setdefault(task.benchmark, set()).add(task.dataset)
            except LikenessError as error:
                out.unread[task.key] = str(error)
    titles = {row.key: row.title for row in catalog.benchmarks}
    out.missing = {titles[benchmark]: len(sets) for benchmark, sets in missing.items()}
    out.shared = [_counted(titles[key], each, own) for key, each in shared.items() if each.same or each.near]
    return out


def _counted(title: str, shared: _Shared, own: Mapping[bytes, str]) -> SharedContents:
    near = {key: each for key, each in shared.near.items() if key not in shared.same}
    return SharedContents(
        title=title,
        tasks=tuple(dict.fromkeys([*shared.same.values(), *(task for task, _ in near.values())])),
        same=len(shared.same),
        same_examples=tuple(f"{own[key]} in {task}" for key, task in list(shared.same.items())[:LISTED]),
        near=len(near),
        near_examples=tuple(f"{own[key]} ~ {other} in {task}" for key, (task, other) in list(near.items())[:LISTED]),
    )


def _compare(
    out: Overlap, contents: _TaskContents, own: Mapping[bytes, str], images: HashedImages, shared: _Shared
) -> None:
    task, keys = contents.task, set(contents.keys["key"].tolist())
    for key in own:
        if key in keys:
            shared.same.setdefault(key, task.key)
    out.whole.append(task.key)
    if not len(images.keys):
        return
    others = contents.images()
    if others.drawn < others.total:
        out.sampled.append(task.key)
    for index, key in enumerate(images.keys.tolist()):
        if key in shared.same or key in shared.near or not len(others.keys):
            continue
        copies = near(index, images, others)
        if len(copies):
            shared.near[key] = (task.key, others.names[copies[0]])


def _compare_items(out: Overlap, task: Task, folder: Path, own: Mapping[bytes, str], shared: _Shared) -> None:
    """Raises LikenessError for items that cannot be read."""
    keys = item_images(folder)
    out.by_items.append(task.key)
    for key in own:
        if key in keys:
            shared.same.setdefault(key, task.key)


def item_images(folder: Path) -> set[bytes]:
    """The content keys of the images that a run's stored items show. Raises DatabaseError or BadInput for items that
    cannot be read."""
    details = store.read_parquet(folder / run_folders.ITEMS)["detail"].dropna()
    try:
        return {key.encode() for detail in details for key in json.loads(detail).get("images") or [] if key}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"its run {folder.name} is damaged ({str(error)[:80]})") from error


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


def run_items(roots: Sequence[Path]) -> dict[str, Path]:
    """A folder of a whole run for every task that has one below the roots."""
    out: dict[str, Path] = {}
    for root in roots:
        for folder in run_folders.every(root):
            with contextlib.suppress(IndexError):
                out.setdefault(folder.parts[-2].replace("__", "/"), folder)
    return out
