"""The images that pairs are made from: a folder, a Parquet table, a data set of the hub, or files in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compute.content.items import content_key
from compute.io.images import SUCH_AS, image_files, is_image_name
from compute.tasks import parquet
from compute.tasks.source import Source
from compute.types import BadInput, NotHere

MAX_FILE = 1 << 30  # bytes of an image's file: above any image within the limit of pixels
# What `about` says of each kind of source, all of it texts.
FIELDS = {"folder": ("path",), "parquet": ("path", "column"), "hub": ("repo", "revision", "config", "split", "column")}
COLUMNS = ("image", "img", "img1", "picture")  # names of a Parquet table's column of images, in order of preference


@dataclass(frozen=True, kw_only=True)
class SourceImages:
    """Images by name: a path within the folder, or a row's number. `read(name)` gives the file's bytes."""

    title: str  # for messages
    names: tuple[str, ...]
    read: Callable[[str], bytes]
    about: Mapping[str, str]  # how `opened` finds them again; paths as given to the function that made this
    notes: tuple[str, ...] = ()  # on files that are not used


def from_folder(folder: Path) -> SourceImages:
    """The image files below a folder, by their path within it. Raises BadInput where there is none."""
    found = image_files(_directory(folder))
    notes = found.notes(folder)
    if not found.names:
        raise BadInput(f"{folder} holds no image: it needs files ending in {SUCH_AS}. {' '.join(notes)}".strip())
    return replace(_files(folder, found.names), notes=notes)


def of_names(folder: Path, names: Iterable[str]) -> SourceImages:
    """The files of these names below a folder, as far as they are there and are images by name.

    Nothing else in the folder is looked at: a manifest may come from anyone, and name any folder. Raises BadInput
    for a missing folder.
    """
    _directory(folder)
    below = [
        name for name in names if "\0" not in name and not Path(name).is_absolute() and ".." not in Path(name).parts
    ]
    named = (name for name in below if is_image_name(name) or not Path(name).suffix)
    return _files(folder, [name for name in named if (folder / name).is_file()])


def _directory(folder: Path) -> Path:
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}: give one that holds images")
    return folder


def _files(folder: Path, names: Iterable[str]) -> SourceImages:
    def read(name: str) -> bytes:
        with (folder / name).open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise BadInput(f"{name} has more than {MAX_FILE >> 20} MB, which no image of pairs has")
        return data

    about = {"kind": "folder", "path": str(folder)}
    return SourceImages(title=str(folder), names=tuple(names), read=read, about=about)


def from_parquet(path: Path, *, column: str = "") -> SourceImages:
    """A column of images in a Parquet file, by row. Raises BadInput where there is none, or several to choose from."""
    if not path.is_file():
        raise BadInput(f"There is no file {path}: give a Parquet file with a column of images")
    return _of_table(parquet.Table((path,), path.name), column, {"kind": "parquet", "path": str(path)})


def from_hub(
    repo: str, *, source: Source, revision: str = "", config: str = "default", split: str = "train", column: str = ""
) -> SourceImages:
    """A column of images in a split of a data set of the hub. Raises NotHere with the command that fetches it."""
    folder = source.folder(repo, revision=revision)
    about = {"kind": "hub", "repo": repo, "revision": revision, "config": config, "split": split}
    return _of_table(parquet.table(folder, repo=repo, config=config, split=split), column, about)


def in_memory(files: Mapping[str, bytes], *, title: str) -> SourceImages:
    """Files in memory."""
    return SourceImages(title=title, names=tuple(files), read=files.__getitem__, about={"kind": "memory"})


def _of_table(table: parquet.Table, column: str, about: Mapping[str, str]) -> SourceImages:
    if not column:
        column = next((name for name in COLUMNS if name in table.columns), "")
    if not column:
        raise BadInput(
            f"{table.title} has no column named {', '.join(COLUMNS)}; it has: {', '.join(table.columns)}. "
            "Name the column of images with --column"
        )
    rows = table.rows(column)

    def read(name: str) -> bytes:
        data = rows[int(name)]
        if not isinstance(data, bytes):
            raise BadInput(f"{table.title}: row {name} of {column!r} holds no image")
        return data

    return SourceImages(
        title=f"{table.title}, {column}",
        names=tuple(map(str, range(len(table)))),
        read=read,
        about={**about, "column": column},
    )


def opened(about: Mapping[str, str], *, near: Path, names: Iterable[str], source: Source | None = None) -> SourceImages:
    """The images that a manifest in the folder `near` was made from; of a folder those of these names alone.

    Raises NotHere where they are gone.
    """
    match about["kind"]:
        case "folder" | "parquet" as kind:
            path = Path(os.path.normpath(near / about["path"]))
            try:
                return of_names(path, names) if kind == "folder" else from_parquet(path, column=about["column"])
            except BadInput as error:
                raise NotHere(
                    f"The images that the pairs were made from are no longer in {path} ({error}). Move them back, or "
                    "make the pairs again"
                ) from error
        case "hub":
            return from_hub(
                about["repo"],
                source=source or Source(),
                revision=about["revision"],
                config=about["config"],
                split=about["split"],
                column=about["column"],
            )
        case kind:
            raise BadInput(f"Pairs of images of kind {kind!r} cannot be read again: make them with --store-images")


def portable(about: Mapping[str, Any], *, near: Path) -> dict[str, Any]:
    """The same, its path relative to the folder `near`: both may be moved together."""
    if "path" not in about:
        return dict(about)
    return {**about, "path": Path(os.path.relpath(about["path"], near)).as_posix()}


def checked_read(images: SourceImages, name: str, key: bytes) -> bytes:
    """An image's bytes. Raises BadInput where its content is not that of the key."""
    data = images.read(name)
    if content_key(data) != key:
        raise BadInput(
            f"{name} of {images.title} has changed since the pairs were made: restore it, or make the pairs again"
        )
    return data
