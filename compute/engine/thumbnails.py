"""Small pictures of the items that a page can open: `<root>/thumbnails/<task, / as __>.parquet`, image key and WebP."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from compute import tasks
from compute.content import decoding
from compute.content.items import Column
from compute.database import store
from compute.engine import run_folders
from compute.tasks.data import Data
from compute.types import LikenessError

FOLDER = "thumbnails"
SIDE = 64  # pixels of the longer side at most
QUALITY = 60  # of WebP: below this, text and fine texture blur at that size
# Of each run so many items get pictures, those of lowest MD5: enough to look through, about 1 kB an image.
MOST_ITEMS = 200


def path(root: Path, task: str) -> Path:
    """The file with one task's pictures."""
    return root / FOLDER / f"{run_folders.slug(task)}.parquet"


def files(root: Path) -> Iterator[tuple[str, Path]]:
    """Every task's key with its file."""
    for one in sorted((root / FOLDER).glob("*.parquet")):
        yield one.stem.replace("__", "/"), one


def add(root: Path, *, task: str, data: Mapping[str, Data], items: pd.DataFrame, most: int = MOST_ITEMS) -> int:
    """Draws what is still missing of the images that a run's items show; returns how many were added.

    `items` as `runs.table` gives them. An image that cannot be drawn is left out. Raises DatabaseError.
    """
    with _alone(path(root, task).parent):
        return _add(root, task=task, data=data, items=items, most=most)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time adds pictures to the folder's files; the lock goes with the process."""
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _add(root: Path, *, task: str, data: Mapping[str, Data], items: pd.DataFrame, most: int) -> int:
    target = path(root, task)
    held = store.read_parquet(target) if target.is_file() else pd.DataFrame({"image": [], "webp": []}, dtype=object)
    wanted = shown(items, most=most) - set(held["image"])
    drawn = {}
    for key, column, row in _find(wanted, data.values()):
        try:
            drawn[key] = thumbnail(column.read(row))
        except LikenessError:
            continue  # the run itself says what is wrong with it
    if drawn:
        new = pd.DataFrame({"image": list(drawn), "webp": list(drawn.values())}, dtype=object)
        store.write_parquet(
            target,
            frame=pd.concat([held.assign(webp=held["webp"].map(bytes)), new], ignore_index=True).sort_values(
                "image", ignore_index=True
            ),
        )
    return len(drawn)


def shown(items: pd.DataFrame, *, most: int = MOST_ITEMS) -> set[str]:
    """The keys of the images in the details of the items that get pictures."""
    chosen = set(run_folders.page_items(list(items["item"]), most=most))
    details = items["detail"][items["item"].isin(chosen)].dropna()
    return {key for detail in details for key in json.loads(detail).get("images", []) if key}


def _find(keys: set[str], parts: Iterable[Data]) -> Iterator[tuple[str, Column, int]]:
    """Where the images with these keys are; keys that no column has are passed over."""
    left = np.array(sorted(key.encode() for key in keys), dtype="S32")
    for part in parts:
        for column in tasks.columns(part):
            if column.modality == "image" and len(left):
                rows = np.flatnonzero(np.isin(column.keys, left))
                found, first = np.unique(column.keys[rows], return_index=True)
                for key, at in zip(found.tolist(), rows[first].tolist(), strict=True):
                    yield key.decode(), column, at
                left = np.setdiff1d(left, found)


def thumbnail(image: bytes) -> bytes:
    """An encoded image as WebP of at most SIDE pixels a side. Raises BadInput where it cannot be decoded."""
    from PIL import Image

    small = decoding.decode(image)
    small.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "WEBP", quality=QUALITY, method=4)
    return out.getvalue()
