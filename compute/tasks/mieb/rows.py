"""The facts of MIEB's tasks that only their loaders need: columns, templates, class names, counts."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
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
    """One task's row of `mieb_tasks.csv`. Its repr is part of fingerprints: a new name changes them."""

    name: str
    repo: str
    revision: str
    split: str
    image_columns: tuple[str, ...]
    text_columns: tuple[str, ...]
    label_column: str
    template: str  # with one placeholder for a class's name
    fixed: tuple[str, ...]  # whole prompts, where they are not templates
    keeps_line_ends: bool  # the public code reads class names with their line ends and leaves them in the prompts
    samples_per_label: int
    draws: int
    train_split: str
    skip_first: bool

    def where(self, source: Source, *splits: str) -> tuple[Path, str]:
        """The data set's folder and name; of a large one only the splits that its card lists are fetched."""
        card = None
        if splits:
            with contextlib.suppress(NotHere):  # no card, or nothing at all: the next line says so
                card = source.folder(self.repo, revision=self.revision, files=(CARD,))
        return source.folder(self.repo, revision=self.revision, files=_files(card, splits)), self.repo

    def present(self, source: Source, *, procedure: str) -> Path | None:
        """The data set's folder where all that its procedure reads is downloaded; nothing is fetched."""
        splits = {"probe": (self.train_split, self.split), "clustering": (self.split,), "zero_shot": (self.split,)}
        needed = splits.get(procedure, ())
        card = source.present(self.repo, revision=self.revision, files=(CARD,))
        return source.present(self.repo, revision=self.revision, files=_files(card, needed))


def _files(card: Path | None, splits: Collection[str]) -> tuple[str, ...]:
    """Which files hold these splits, none named: all the card lists; none, for all files, where it does not say."""
    listed = parquet.patterns(card, splits=splits) if card else ()
    return (CARD, *listed) if listed else ()


@lru_cache(maxsize=1)
def _lines() -> dict[str, dict[str, str]]:
    return {f"mieb/{line['name'].lower()}": line for line in read_csv(CATALOG / "mieb_tasks.csv").to_dict("records")}


def row(task: Task) -> Row:
    """The facts of a task. Raises BadInput for a task that is not MIEB's or ViDoRe's."""
    if task.benchmark == "vidore":
        return Row(
            name=task.title,
            repo=task.dataset,
            revision=task.revision,
            split=task.split,
            image_columns=("corpus.image",),
            text_columns=("queries.text",),
            label_column="",
            template="",
            fixed=(),
            keeps_line_ends=False,
            samples_per_label=0,
            draws=0,
            train_split="",
            skip_first=False,
        )
    if task.key not in _lines():
        raise BadInput(f"mieb_tasks.csv has no row for task {task.key!r}")
    line = _lines()[task.key]
    extra = json.loads(line["extra"] or "{}")
    template, _, remark = line["zero_shot_template"].partition("  [")
    fixed = tuple(json.loads(template.removeprefix("fixed: "))) if template.startswith("fixed: ") else ()
    return Row(
        name=line["name"],
        repo=line["hf_dataset_path"],
        revision=line["revision"],
        split=line["eval_splits"].split("|")[-1],
        image_columns=_list(line["image_columns"]),
        text_columns=_list(line["text_columns"]),
        label_column=line["label_column"],
        template="" if fixed else template,
        fixed=fixed,
        keeps_line_ends="KEPT" in remark,
        samples_per_label=extra.get("samples_per_label", 16),
        draws=extra.get("n_experiments", 5),
        train_split=extra.get("train_split", "train"),
        skip_first=extra.get("skip_first_result", False),
    )


def _list(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[|\s]+", text) if part)


@lru_cache(maxsize=1)
def _class_names() -> dict[str, tuple[str, ...]]:
    table = read_csv(CATALOG / "class_names.csv", columns=("task", "name"))
    return {str(task): tuple(part["name"]) for task, part in table.groupby("task", sort=False)}


def class_names(name: str) -> tuple[str, ...] | None:
    """Class names that no data set carries, in the order of its labels; None for a task whose data set does."""
    return _class_names().get(name)


def digest(row: Row) -> str:
    """Of the row and its class names: all of the catalogue that decides a task's items."""
    return content_key(repr((row, class_names(row.name)))).decode()


def classes(task: Task) -> int:
    """How many classes a task's items have; 0 where they have none."""
    return int(_lines().get(task.key, {}).get("num_classes") or 0)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Distinct images and texts of a task's test side, and an image's mean pixels, as the public statistics count.

    `train_images` and `train_pixels` are those of the training split that a probe draws from, `bytes` and `train_bytes`
    the splits' published sizes; `shared` is the same for tasks that show the same items.
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


@lru_cache(maxsize=1)
def _contents() -> dict[str, Contents]:
    return {row.task: row for row in read_rows(CATALOG / "mieb_contents.csv", Contents)}


def contents(task: Task) -> Contents:
    """What a task holds, known without its files."""
    return _contents().get(task.key, Contents())
