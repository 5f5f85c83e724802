"""Images that show the same picture: within a data set, and between it and the benchmarks whose data is here.

The same file is known by its content key; a resized, recompressed or lightly cropped copy by the hash of
`compute.content.near_copies`. Of many images some are drawn at random, and the result says how many.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compute.content import decoding, near_copies
from compute.content.items import Column, content_key
from compute.engine.checking.findings import LISTED, DataFinding
from compute.features.encoding import workers
from compute.features.passes import DistinctItems, distinct, positions
from compute.tasks.data import Clusters, Data, Labelled, Mixed, Probe, Retrieval, ZeroShot
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import stored_keys
from compute.types import LikenessError

AT_MOST = 5000  # images of a data set that are decoded and hashed
SEED = 0  # of which, where there are more
AT_ONCE = 256  # images that are hashed before progress is told


@dataclass(frozen=True, kw_only=True)
class HashedImages:
    """The images that can be compared, and those that cannot be read."""

    keys: np.ndarray  # (n,) S32
    names: tuple[str, ...]  # [n]
    hashes: np.ndarray  # (n, parts) uint64
    drawn: int  # images that were looked at
    total: int  # distinct images that there are
    bad: tuple[tuple[str, str], ...] = ()  # names, and what is wrong


def hashed(
    columns: Sequence[Column],
    *,
    most: int = AT_MOST,
    cache: Path | None = None,
    done: Callable[[int], None] = lambda more: None,
) -> HashedImages:
    """The hashes of the distinct images of some columns, of `most` of them at random where there are more; 0: of all.

    Hashes are stored in `cache`, the folder of content keys. An image that cannot be read is listed, never raised.
    """
    images = distinct([column for column in columns if column.modality == "image"])
    rows = np.flatnonzero(images.keys != NO_KEY)
    total = len(rows)
    if most and total > most:
        rows = np.sort(np.random.default_rng(SEED).permutation(rows)[:most])
    bad: dict[int, str] = {}

    def made() -> np.ndarray:
        out = np.zeros((len(rows), len(near_copies.PARTS) + 1), dtype=np.uint64)  # the last: whether it could be read
        with ThreadPoolExecutor(workers()) as pool:
            for start in range(0, len(rows), AT_ONCE):
                part = rows[start : start + AT_ONCE]
                for at, result in enumerate(pool.map(lambda row: _hashes(images, int(row)), part), start):
                    if isinstance(result, str):
                        bad[int(rows[at])] = result
                    else:
                        out[at, :-1], out[at, -1] = result, 1
                done(len(part))
        return out

    facts = json.dumps(["near copies", near_copies.VERSION, content_key(images.keys[rows].tobytes()).decode()])
    stored = stored_keys(cache, facts, made)
    for at in np.flatnonzero(stored[:, -1] == 0).tolist():  # of an earlier call the reasons are looked for again
        row = int(rows[at])
        if row not in bad and isinstance(result := _hashes(images, row), str):
            bad[row] = result
    good = np.flatnonzero(stored[:, -1] == 1)
    return HashedImages(
        keys=images.keys[rows[good]],
        names=tuple(images.name(int(row)) for row in rows[good]),
        hashes=stored[good, :-1],
        drawn=len(rows),
        total=total,
        bad=tuple((images.name(row), reason) for row, reason in sorted(bad.items())),
    )


def _hashes(images: DistinctItems, row: int) -> np.ndarray | str:
    """(parts,) uint64, or why the image cannot be read."""
    try:
        return near_copies.hashes(decoding.picture(images.read(row)))
    except LikenessError as error:
        return str(error)


def within(data: Mapping[str, Data], images: HashedImages) -> list[DataFinding]:
    """Near copies among the items that should differ: of a class, of a training and a test split, of documents.

    Alternatives and pairs may be near copies by design, and are not compared.
    """
    out = []
    for part in data.values():
        match part:
            case Probe(train=train, test=test):
                out += [_among(test, images, "test items"), _among(train, images, "training items")]
                out.append(_between(test, train, images))
            case Clusters(test=test) | ZeroShot(test=test):
                out.append(_among(test, images, "items"))
            case Retrieval(documents=documents):
                out.append(_among(documents, images, "documents"))
    return [found for found in out if found.count]


def _among(part: Labelled | Mixed, images: HashedImages, what: str) -> DataFinding:
    rows, at = _rows(part, images)
    count, examples = 0, []
    for own in range(1, len(at)):
        near = np.flatnonzero(near_copies.near(images.hashes[at[own]], images.hashes[at[:own]]))
        count += len(near) > 0
        if len(near) and len(examples) < LISTED:
            row, other = int(rows[own]), int(rows[near[0]])
            examples.append(f"{part.names[row]} ~ {part.names[other]}{_labels(part, row, other)}")
    return DataFinding(what=f"{what} that are near copies of an earlier one", count=count, examples=tuple(examples))


def _between(test: Labelled, train: Labelled, images: HashedImages) -> DataFinding:
    (rows, at), (others, of_train) = _rows(test, images), _rows(train, images)
    count, examples = 0, []
    for row, own in zip(rows.tolist(), at.tolist(), strict=True):
        near = np.flatnonzero(near_copies.near(images.hashes[own], images.hashes[of_train]) & (of_train != own))
        count += len(near) > 0
        if len(near) and len(examples) < LISTED:
            examples.append(f"{test.names[row]} ~ {train.names[others[near[0]]]}")
    return DataFinding(what="test items that are near copies of training items", count=count, examples=tuple(examples))


def _rows(part: Labelled | Mixed, images: HashedImages) -> tuple[np.ndarray, np.ndarray]:
    """(m,) int twice: the first row of each image that was hashed, and which of the hashes is its."""
    if isinstance(part, Labelled):
        column = part.items if part.items.modality == "image" else None
        rows = at = np.arange(len(part.names))
    else:
        # An image with a text is another document than the same image with another text.
        column, at = part.image, part.image_at
        text = np.full(len(part), -1) if part.text_at is None else part.text_at
        rows = np.flatnonzero((at >= 0) & (text < 0)) if column is not None else np.zeros(0, np.int64)
    if column is None or not len(images.keys) or not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = positions(np.asarray(column.keys)[at[rows]], among=images.keys)
    rows, found = rows[found >= 0], found[found >= 0]
    first = np.sort(np.unique(found, return_index=True)[1])
    return rows[first], found[first]


def _labels(part: Labelled | Mixed, row: int, other: int) -> str:
    """Both labels, where two near copies have unlike ones."""
    if isinstance(part, Mixed) or part.labels.ndim != 1 or part.labels[row] == part.labels[other]:
        return ""
    return f": {part.classes[part.labels[row]]!r} and {part.classes[part.labels[other]]!r}"
