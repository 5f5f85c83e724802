"""The layout at a path: a manifest, a folder with one, images in a folder per class, or a retrieval data set in the
layout of BEIR (corpus.jsonl, queries.jsonl and qrels/test.tsv).
"""

from __future__ import annotations

import json
from pathlib import Path

from compute.content.items import content_key
from compute.io.tables import ENDINGS, is_table
from compute.tasks.image_lists import image_files, unused_note
from compute.tasks.own import table as tables
from compute.tasks.own.finding import CORPUS, QRELS, QUERIES
from compute.tasks.own.labelled import UNUSED
from compute.tasks.own.shapes import RETRIEVAL, TaskShape
from compute.tasks.own.table import SPLIT, TEST, TRAIN, OwnTable
from compute.types import BadInput

BEIR = "corpus.jsonl, queries.jsonl and qrels/test.tsv"
MANIFESTS = ("manifest", "metadata", "items")  # possible names of a folder's manifest, without extension


def read(path: Path, shape: TaskShape | None) -> tuple[TaskShape | None, dict[str, OwnTable]]:
    """Returns the tables at a path, and their shape if the layout determines it. Raises BadInput."""
    files = retrieval_files(path)
    if files and shape in (None, RETRIEVAL):
        return RETRIEVAL, {name: tables.read(file, folder=path) for name, file in files.items()}
    if shape is RETRIEVAL:
        raise BadInput(f"{path.name} is not a folder with {BEIR}, which retrieval needs")
    manifest = _manifest(path)
    return shape, {"": tables.read(manifest) if manifest else class_folder(path)}


def table_files(path: Path) -> list[Path]:
    """Returns the files with the tables at a path; empty for a folder of images by class. Raises BadInput."""
    if files := retrieval_files(path):
        return list(files.values())
    manifest = _manifest(path)
    return [manifest] if manifest else []


def _manifest(path: Path) -> Path | None:
    """Returns the only manifest at a path or in the folder there. Raises BadInput for several."""
    if not path.is_dir():
        return path
    named = [path / f"{name}{end}" for name in MANIFESTS for end in ENDINGS]
    present = [file for file in named if file.is_file()]
    present = present or sorted(file for file in path.iterdir() if is_table(file) and not file.name.startswith("."))
    if len(present) > 1:
        raise BadInput(
            f"{path} has several manifests: {', '.join(file.name for file in present[:5])}. Name the file itself"
        )
    return present[0] if present else None


def retrieval_files(folder: Path) -> dict[str, Path]:
    """Returns the three files by content; empty for a folder with neither queries nor a corpus.

    Each may have any format of manifests. Judgements are a file `qrels`, or the file `test` or the only file in a
    folder `qrels`. Raises BadInput for a folder with only some of them.
    """
    found = {
        name: [folder / f"{name}{end}" for end in ENDINGS if (folder / f"{name}{end}").is_file()]
        for name in (QUERIES, CORPUS, QRELS)
    }
    if not found[QUERIES] and not found[CORPUS]:
        return {}
    if not found[QRELS] and (folder / QRELS).is_dir():
        splits = sorted(file for file in (folder / QRELS).iterdir() if is_table(file))
        found[QRELS] = splits if len(splits) == 1 else [file for file in splits if file.stem == TEST]
        if splits and not found[QRELS]:
            raise BadInput(
                f"{folder / QRELS} has {', '.join(file.name for file in splits)} and no {TEST}: rename one to it"
            )
    for name, several in found.items():
        if len(several) != 1:
            what = f"several files {name}" if several else f"no {name}"
            raise BadInput(f"{folder} has {what}: a retrieval data set has {BEIR}")
    return {name: several[0] for name, several in found.items()}


def class_folder(folder: Path) -> OwnTable:
    """Reads images in one folder per class, possibly below `train` and `test`, as the rows of a manifest: their paths
    within the folder and their classes.

    Raises BadInput for a folder without images in class folders, and for images outside these.
    """
    import pyarrow as pa

    found = image_files(folder)
    parts = [(name, name.split("/")[:-1]) for name in found.names]
    if beside := [name for name, folders in parts if not folders]:
        raise BadInput(
            f"{folder} has {len(beside):,} images in no folder of a class, such as {beside[0]}: put them into one, or "
            "list the images in a manifest"
        )
    split_up = bool(parts) and all(folders[0].lower() in (TRAIN, TEST, *UNUSED) for _, folders in parts)
    rows = [(name, folders[split_up], folders[0]) for name, folders in parts if len(folders) > split_up]
    of_no_class = [name for name, folders in parts if len(folders) <= split_up]
    notes = unused_note(folder.name, [*of_no_class, *found.unused])
    if not rows:
        raise BadInput(
            f"{folder} has neither a manifest (such as manifest.csv) nor images in a folder for each class. See "
            f"docs/your-data.md. {' '.join(notes)}".strip()
        )
    paths, labels, splits = map(list, zip(*rows, strict=True))
    values = {"name": paths, "item": paths, "label": labels} | ({SPLIT: splits} if split_up else {})
    return OwnTable(
        title=folder.name,
        folder=folder,
        paths=("item",),
        notes=notes,
        values=pa.table({name: pa.array(column, pa.large_string()) for name, column in values.items()}),
        digest=content_key(json.dumps([sorted(values), *(values[name] for name in sorted(values))])).decode(),
    )
