"""A folder of images by class: a folder a class, or below `train` and `test` a folder a class each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from compute.tasks.own.files import is_image_name
from compute.tasks.own.labelled import TEST, TRAIN, UNUSED
from compute.tasks.own.table import SPLIT, OwnTable, of_values
from compute.types import BadInput


def read(folder: Path) -> OwnTable:
    """The images, their paths within the folder and their classes, as a manifest has them.

    Raises BadInput for a folder without images in folders of their own, and for images beside these.
    """
    parts = {part.name: part for part in sorted(folder.iterdir()) if part.is_dir() and not part.name.startswith(".")}
    splits = [name for name in parts if name.lower() in (TRAIN, TEST, *UNUSED)]
    split_up = bool(splits) and len(splits) == len(parts)
    values: dict[str, list[str]] = {"name": [], "item": [], "label": [], **({SPLIT: []} if split_up else {})}
    beside = [file.name for file in sorted(folder.iterdir()) if file.is_file() and is_image_name(file.name)]
    if beside:
        raise BadInput(
            f"{folder} has {len(beside):,} images in no folder of a class, such as {beside[0]}: put them into one, or "
            "list the images in a manifest"
        )
    for split in parts if split_up else ("",):
        for name in sorted(part.name for part in (folder / split).iterdir() if part.is_dir()):
            if name.startswith("."):
                continue
            for image in _images(folder / split / name):
                path = image.relative_to(folder).as_posix()
                values["name"].append(path)
                values["item"].append(path)
                values["label"].append(name)
                if split_up:
                    values[SPLIT].append(split)
    if not values["item"]:
        raise BadInput(
            f"{folder} has neither a manifest (such as manifest.csv) nor images in a folder for each class. See "
            "README, Data of your own"
        )
    return of_values(folder.name, values, folder=folder)


def _images(folder: Path) -> Iterator[Path]:
    """The images below a class's folder, sorted; links to further folders are not followed."""
    for below, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(below) / name for name in sorted(names) if is_image_name(name) and not name.startswith("."))
