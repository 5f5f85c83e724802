"""Small pictures of the items that a page can show: `<root>/thumbnails/<task, / as __>.parquet`, image key and WebP."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from compute import tasks
from compute.content import decoding
from compute.content.items import Column
from compute.database import store
from compute.engine import run_folders
from compute.features.passes import distinct
from compute.io.files import locked
from compute.tasks.data import Data
from compute.types import LikenessError

if TYPE_CHECKING:
    from PIL import Image

FOLDER = "thumbnails"
SIDE = 64  # longest side in pixels, at most
QUALITY = 60  # of WebP: below this, text and fine texture blur at that size
# Items of each run with pictures, those of lowest MD5: enough to browse, about 1 kB per image.
MOST_ITEMS = 200


def path(root: Path, task: str) -> Path:
    """Returns the file with one task's pictures."""
    return root / FOLDER / f"{run_folders.slug(task)}.parquet"


def files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yields every task's key with its file."""
    for file in sorted((root / FOLDER).glob("*.parquet")):
        yield file.stem.replace("__", "/"), file


def add(root: Path, *, task: str, data: Mapping[str, Data], items: pd.DataFrame, most: int = MOST_ITEMS) -> int:
    """Draws missing thumbnails of the images of a run's items; returns how many were added.

    `items` as `run_folders.table` returns them. An image that cannot be drawn is skipped. Raises DatabaseError.
    """
    columns = [column for column in tasks.every_column(data) if column.modality == "image"]
    return add_images(root, task=task, columns=columns, keys=shown(items, most=most))


def add_images(root: Path, *, task: str, columns: Sequence[Column], keys: Set[str], side: int = SIDE) -> int:
    """Draws missing thumbnails of the images with these keys, at most `side` pixels wide; returns how many were added.

    An image that cannot be drawn, or that is in no column, is skipped. Raises DatabaseError.
    """
    target = path(root, task)
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.parent):
        stored = (
            store.read_parquet(target) if target.is_file() else pd.DataFrame({"image": [], "webp": []}, dtype=object)
        )
        images = distinct(columns)
        missing = sorted(keys - set(stored["image"]))
        drawn = {}
        for key, at in zip(missing, images.at(np.array(missing, dtype="S32")).tolist(), strict=True):
            if at >= 0:
                column, row = images.locate(at)
                with contextlib.suppress(LikenessError):  # the run itself reports the error
                    drawn[key] = thumbnail(column.content(row), side=side)
        if drawn:
            new = pd.DataFrame({"image": list(drawn), "webp": list(drawn.values())}, dtype=object)
            both = pd.concat([stored.assign(webp=stored["webp"].map(bytes)), new])
            store.write_parquet(target, frame=both.sort_values("image", ignore_index=True))
    return len(drawn)


def shown(items: pd.DataFrame, *, most: int = MOST_ITEMS) -> set[str]:
    """Returns the image keys in the details of the items that get pictures."""
    chosen = set(run_folders.page_items(list(items["item"]), most=most))
    details = items["detail"][items["item"].isin(chosen)].dropna()
    return {key for detail in details for key in json.loads(detail).get("images", []) if key}


def thumbnail(content: bytes | Callable[[], Image.Image], *, side: int = SIDE) -> bytes:
    """Returns an image as WebP with sides of at most `side` pixels, from its column's content. Raises BadInput if
    damaged.
    """
    from PIL import Image

    small = decoding.picture(content).copy()
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "WEBP", quality=QUALITY, method=4)
    return out.getvalue()
