"""The images that pairs are made from: a folder, a Parquet table, a data set of the hub, or files in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from compute.io.images import SUCH_AS, image_files
from compute.tasks import parquet
from compute.tasks.pairbench.pixels import MadeImage
from compute.tasks.source import Source
from compute.types import BadInput

MAX_FILE = 1 << 30  # bytes of an image's file: above any image within the limit of pixels
COLUMNS = ("image", "img", "img1", "picture")  # names of a Parquet table's column of images, in order of preference


@dataclass(frozen=True, kw_only=True)
class SourceImages:
    """Images by name: a path within the folder, or a row's number. `read(name)` gives the file's bytes."""

    title: str  # for messages
    names: tuple[str, ...]
    read: Callable[[str], bytes]
    about: Mapping[str, str]  # where they are from, as a manifest records it
    notes: tuple[str, ...] = ()  # on files that are not used

    def unchanged(self, made: MadeImage) -> bytes | None:
        """The file of an image that is shown as it is, None for one that is changed."""
        return None if made.changes else self.read(made.name)


def from_folder(folder: Path) -> SourceImages:
    """The image files below a folder, by their path within it. Raises BadInput where there is none."""
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}: give one that holds images")
    found = image_files(folder)
    notes = found.notes(folder)
    if not found.names:
        raise BadInput(f"{folder} holds no image: it needs files ending in {SUCH_AS}. {' '.join(notes)}".strip())

    def read(name: str) -> bytes:
        with (folder / name).open("rb") as file:
            data = file.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise BadInput(f"{name} has more than {MAX_FILE >> 20} MB, which no image of pairs has")
        return data

    about = {"kind": "folder", "path": folder.resolve().name}
    return SourceImages(title=str(folder), names=tuple(found.names), read=read, about=about, notes=notes)


def from_parquet(path: Path, *, column: str = "") -> SourceImages:
    """A column of images in a Parquet file, by row. Raises BadInput where there is none, or several to choose from."""
    if not path.is_file():
        raise BadInput(f"There is no file {path}: give a Parquet file with a column of images")
    return _of_table(parquet.Table((path,), path.name), column, {"kind": "parquet", "path": path.name})


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
