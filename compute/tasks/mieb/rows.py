"""The facts of MIEB's tasks that only their loaders need: columns, templates, class names, counts."""

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
    """One task's row of `mieb_tasks.csv`, and where its items are. Its repr is part of fingerprints: a new name changes
    them."""

    name: str
    repo: str = ""
    revision: str = ""
    split: str = ""
    image_columns: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    label_column: str = ""
    template: str = ""  # with one placeholder for a class's name
    fixed: tuple[str, ...] = ()  # whole prompts, if they are not templates
    keeps_line_ends: bool = False  # the public code leaves the line ends of class names in the prompts
    samples_per_label: int = 0
    draws: int = 0
    train_split: str = ""
    skip_first: bool = False

    def where(self, source: Source, *splits: str) -> tuple[Path, str]:
        """Returns the data set's folder and name; of a large one only the splits that its card lists are fetched."""
        card = None
        if splits:
            with contextlib.suppress(NotHere):  # no card, or nothing at all: the next line says so
                card = source.folder(self.repo, revision=self.revision, files=(CARD,))
        return source.folder(self.repo, revision=self.revision, files=_files(card, splits)), self.repo

    def present(self, source: Source, *, procedure: str) -> Path | None:
        """Returns the data set's folder where all that its procedure reads is downloaded; nothing is fetched."""
        splits = {"probe": (self.train_split, self.split), "clustering": (self.split,), "zero_shot": (self.split,)}
        needed = splits.get(procedure, ())
        card = source.present(self.repo, revision=self.revision, files=(CARD,))
        return source.present(self.repo, revision=self.revision, files=_files(card, needed))


def _files(card: Path | None, splits: Collection[str]) -> tuple[str, ...]:
    """Which files hold these splits, none named: all the card lists; none, for all files, where it does not say."""
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
    """Class names that no data set carries, in the order of its labels, by task."""
    table = read_csv(CATALOG / "class_names.csv", columns=("task", "name"))
    return {str(task): tuple(part["name"]) for task, part in table.groupby("task", sort=False)}


def digest(row: Row) -> str:
    """Of the row and its class names: all of the catalogue that decides a task's items."""
    return content_key(repr((row, class_names().get(row.name)))).decode()


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Distinct images and texts of a task's test side, and an image's mean pixels, as the public statistics count.

    `train_images` and `train_pixels` are those of the training split that a probe draws from, `bytes` and `train_bytes`
    the splits' published sizes; `shared` is the same for tasks that show the same items; `classes` are 0 without any.
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
    """Returns what a task holds, known without its files."""
    return _contents().get(task.key, Contents())
