"""A map of one task's images as one model sees them: `<root>/maps/<task, / as __>/<model, / as __>.parquet`.

A file holds a row an image: where it lies, its label, and a small picture of it, so that a page can show what is
pointed at. `settings`, the same in every row, is what it takes to make the map again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from compute import versions
from compute.analysis.maps import images as item_map
from compute.content.items import Column
from compute.database import store
from compute.engine import run_folders, thumbnails
from compute.features.passes import distinct
from compute.models import abilities
from compute.tasks.data import (
    Choices,
    Clusters,
    Data,
    Labelled,
    Matches,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
)
from compute.types import CannotDo, LikenessError, Model, Task

if TYPE_CHECKING:
    from compute.engine.workspace import Bench

FOLDER = "maps"
MOST_IMAGES = 2000


class WrittenMap(NamedTuple):
    """A stored map."""

    path: Path
    labels: int
    settings: Mapping[str, Any]  # images, and `of` how many different ones of the task; how trustworthy it is


def path(root: Path, *, task: str, model: str) -> Path:
    """The file of one map."""
    return root / FOLDER / run_folders.slug(task) / f"{run_folders.slug(model)}.parquet"


def files(*roots: Path) -> dict[str, Path]:
    """The file of every task and model that has a map; of several the first root's."""
    maps: dict[str, Path] = {}
    for root in roots:
        for file in sorted((root / FOLDER).glob("*/*.parquet")):
            maps.setdefault(f"{file.parent.name} {file.stem}", file)
    return maps


def make(
    task: Task,
    row: Model,
    *,
    bench: Bench,
    images: int = MOST_IMAGES,
    seed: int = 0,
    n_neighbors: int = 15,
    min_dist: float = 0.1,
    progress: Callable[[str], None] = lambda stage: None,
) -> WrittenMap:
    """Lays out the different images of a task by their embeddings and writes the map among the results.

    Of more than `images`, so many are sampled at random. Stored embeddings are used, missing ones made. Raises CannotDo
    where the model embeds no images or the task shows none, and whatever loading items, encoding or the map raises.
    """
    if not abilities.embeds(row, "image") or not row.adapter:
        raise CannotDo(
            f"{row.key} has no single vector of an image here, and a map is made of embeddings. "
            "List those that do: likeness list models"
        )
    column, labels, kind = labelled(bench.load(task, {}))
    if column is None:
        raise CannotDo(f"Task {task.key!r} shows no images: a map needs some")
    drawn = item_map.sampled(len(column), most=images, seed=seed)
    column, names = column.take(drawn), labels[drawn]
    progress(f"encoding {len(column)} images where they are not stored")
    bench.fetch(row)
    subject = bench.subject(row)
    subject.prepare([column])
    keys = column.keys
    usable = np.array([bytes(key) not in subject.bad for key in keys.tolist()], dtype=bool)
    column, names = column.take(np.flatnonzero(usable)), names[usable]
    vectors = subject.embed(column)
    progress(f"placing {len(column)} images")
    xy, placed = item_map.project_items(vectors=vectors, seed=seed, n_neighbors=n_neighbors, min_dist=min_dist)
    settings = {
        **placed,
        "images": len(column),
        "of": len(labels),
        "labels": kind,
        "model": dict(subject.identity),
        "versions": versions.exact(subject.identity),
    }
    progress("drawing small pictures")
    frame = pd.DataFrame(
        {
            "task": task.key,
            "model": row.key,
            "image": [key.decode() for key in column.keys.tolist()],
            "label": names,
            "x": np.round(xy[:, 0], 4),
            "y": np.round(xy[:, 1], 4),
            "settings": run_folders.canonical(settings),
            "webp": [_picture(column, at) for at in range(len(column))],
        }
    ).astype({"label": object, "webp": object})
    target = path(bench.settings.results, task=task.key, model=row.key)
    target.parent.mkdir(parents=True, exist_ok=True)
    store.write_parquet(target, frame=frame)
    return WrittenMap(target, len(set(names.tolist())), settings)


def lines(written: WrittenMap) -> list[str]:
    """What was made, in words."""
    known = written.settings
    images, of = known["images"], known["of"]
    some = f"{images:,} images" if images == of else f"{images:,} of {of:,} images, by lot"
    return [
        f"{some}; {written.labels} labels",
        f"Trustworthiness {known['trustworthiness']:.3f}: how far the nearest {known['trust_neighbors']} on the map "
        "are near to the model too; 1 is best",
    ]


def labelled(data: Mapping[str, Data]) -> tuple[Column | None, NDArray[np.object_], str]:
    """The different images of a task's items, a label each, and what the labels are.

    An image that occurs several times has the label of the first. Without images the column is None.
    """
    shown = [
        (kind, column, np.full(len(column), label, dtype=object))
        for kind, sides in map(_sides, data.values())
        for column, label in sides
        if column is not None and column.modality == "image" and len(column)
    ]
    if not shown:
        return None, np.empty(0, dtype=object), ""
    kinds, columns, labels = zip(*shown, strict=True)
    images = distinct(columns)
    first = [labels[column][row] for column, row in zip(images.column, images.row, strict=True)]
    column = Column(modality="image", keys=images.keys, read=images.read, name=images.name)
    return column, np.array(first, dtype=object), kinds[0]


def _sides(data: Data) -> tuple[str, list[tuple[Column | None, Any]]]:
    """What the labels are, and each column with its items' labels, or the one label of all."""
    match data:
        case Probe() | Clusters() | ZeroShot():
            return "class", [(data.test.items, _classes(data.test))]
        case Choices():
            sides = [(data.reference, "reference")]
            for at, column in enumerate(data.alternatives):
                sides.append((column, np.where(data.answer == at, "right alternative", "wrong alternative")))
            return "part in the question", sides
        case OddOneOut():
            members = enumerate(data.members)
            return "part in the question", [
                (column, np.where(data.odd == at, "odd one", "one of the others")) for at, column in members
            ]
        case Sentences():
            return "side of the pair", [(data.first, "first"), (data.second, "second")]
        case Matches():
            return "place in the row", [(column, f"image {at}") for at, column in enumerate(data.images, start=1)]
        case Retrieval():
            return "side", [(data.queries.image, "query"), (data.documents.image, "document")]


def _classes(items: Labelled) -> NDArray[np.object_]:
    """Each item's class, or its classes with commas."""
    names = np.array(items.classes, dtype=object)
    if items.labels.ndim == 1:
        return names[items.labels]
    return np.array([", ".join(names[row]) or "none" for row in items.labels], dtype=object)


def _picture(column: Column, row: int) -> bytes | None:
    """None for an image that a model could read and this cannot draw small."""
    try:
        return thumbnails.thumbnail(column.content(row))
    except LikenessError:
        return None
