"""Facts about MIEB's tasks that only their loaders need: columns, templates, class names, counts."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from compute.content.items import content_key
from compute.io.nouns import read_rows
from compute.io.tables import read_csv
from compute.paths import CATALOG
from compute.tasks import parquet
from compute.tasks.source import CARD, Source
from compute.types import BadInput, NotHere, Task


@dataclass(frozen=True, kw_only=True)
class Row:
    """One task's row of `mieb_tasks.csv`, and the location of its items. Its repr is part of fingerprints: renaming it
    changes them.
    """

    name: str
    repo: str = ""
    revision: str = ""
    split: str = ""
    image_columns: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    label_column: str = ""
    template: str = ""  # with one placeholder for the class name
    fixed: tuple[str, ...] = ()  # whole prompts, if they are not templates
    keeps_line_ends: bool = False  # the public code leaves line ends of class names in the prompts
    samples_per_label: int = 0
    draws: int = 0
    train_split: str = ""
    skip_first: bool = False

    def where(self, source: Source, *splits: str) -> tuple[Path, str]:
        """Returns the data set's folder and name. For a large data set, only the given splits are fetched, if its card
        lists them.
        """
        card = None
        if splits:
            with contextlib.suppress(NotHere):  # no card, or no data set: the next line reports it
                card = source.folder(self.repo, revision=self.revision, files=(CARD,))
        return source.folder(self.repo, revision=self.revision, files=_files(card, splits)), self.repo

    def present(self, source: Source, *, procedure: str) -> Path | None:
        """Returns the data set's folder if everything that its procedure reads is downloaded; nothing is fetched."""
        splits = {"probe": (self.train_split, self.split), "clustering": (self.split,), "zero_shot": (self.split,)}
        needed = splits.get(procedure, ())
        card = source.present(self.repo, revision=self.revision, files=(CARD,))
        return source.present(self.repo, revision=self.revision, files=_files(card, needed))


def _files(card: Path | None, splits: Collection[str]) -> tuple[str, ...]:
    """Returns the files of these splits, or of all splits in the card if none are given; empty, which means all files,
    if the card does not list them.
    """
    listed = parquet.patterns(card, splits=splits) if card else ()
    return (CARD, *listed) if listed else ()


@lru_cache(maxsize=1)
def _rows() -> dict[str, Row]:
    return {row.name: row for row in read_rows(CATALOG / "mieb_tasks.csv", Row, required=("name",))}


def row(task: Task) -> Row:
    """Returns the facts of a task. Raises BadInput for a task that is not MIEB's or ViDoRe's."""
    if task.benchmark == "vidore":
        listed = Row(name=task.title, image_columns=("corpus.image",), text_columns=("queries.text",))
    elif task.title in _rows():
        listed = _rows()[task.title]
    else:
        raise BadInput(f"mieb_tasks.csv has no row for task {task.key!r}")
    return replace(listed, repo=task.dataset, revision=task.revision, split=task.split.rpartition("|")[2])


@lru_cache(maxsize=1)
def class_names() -> dict[str, tuple[str, ...]]:
    """Returns class names that are missing from the data sets, in the order of the labels, by task."""
    table = read_csv(CATALOG / "class_names.csv", columns=("task", "name"))
    return {str(task): tuple(part["name"]) for task, part in table.groupby("task", sort=False)}


def digest(row: Row) -> str:
    """Returns the digest of the row and its class names: everything in the catalogue that determines a task's items."""
    return content_key(repr((row, class_names().get(row.name)))).decode()


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Distinct images and texts of a task's test split, and the mean pixels per image, according to the public
    statistics.

    `train_images` and `train_pixels` describe the training split of a probe; `bytes` and `train_bytes` are the splits'
    published sizes. `shared` is equal for tasks with the same items. `classes` is 0 if there are none.
    """

    task: str = ""
    images: int | None = None
    texts: int | None = None
    pixels: int | None = None
    train_images: int | None = None
    train_pixels: int | None = None
    bytes: int | None = None
    train_bytes: int | None = None
    shared: str = ""
    size_source: str = ""
    classes: int = 0


@lru_cache(maxsize=1)
def _contents() -> dict[str, Contents]:
    return {row.task: row for row in read_rows(CATALOG / "mieb_contents.csv", Contents)}


def contents(task: Task) -> Contents:
    """Returns the known contents of a task, without its files."""
    return _contents().get(task.key, Contents())
