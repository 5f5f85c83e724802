"""Near-duplicate images within a data set.

The same file is known by its content key; a resized, recompressed or lightly cropped copy by the hash of
`compute.content.near_copies`. An image of one plain colour has no such hash: only the same file is recognised. Of many
images some are drawn at random, and the result says how many.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from compute.content import decoding, near_copies
from compute.content.items import Column
from compute.engine.checking.findings import LISTED, DataFinding
from compute.features.encoding import workers
from compute.features.passes import DistinctItems, distinct, positions
from compute.tasks.data import Clusters, Data, Labelled, Mixed, Probe, Retrieval, ZeroShot, every_column
from compute.tasks.parquet import NO_KEY
from compute.types import LikenessError

SEED = 0  # by which images are drawn, where there are more than are decoded


class HashedImages(NamedTuple):
    """The images that can be compared, and those that cannot."""

    keys: np.ndarray  # (n,) S32
    hashes: np.ndarray  # (n, parts) uint64
    colours: np.ndarray  # (n, parts, values) uint8
    drawn: int  # images that were looked at
    total: int  # distinct images that there are
    plain: int  # of those looked at, that have no structure: they are compared by content key only
    bad: tuple[tuple[str, str], ...]  # names, and what is wrong

    @property
    def sentence(self) -> str:
        """How many images there are, how many were decoded, and how many cannot be compared or read."""
        drawn = f", {self.drawn:,} of them decoded" if self.drawn < self.total else ", all decoded"
        plain = f"; of a plain colour, compared by content alone: {self.plain:,}" if self.plain else ""
        bad = f"; that cannot be read: {len(self.bad):,}" if self.bad else ""
        return f"{self.total:,} distinct{drawn}{plain}{bad}"


def hashed(data: Mapping[str, Data], *, most: int = 0) -> HashedImages:
    """The hashes of the distinct images of all subsets, of `most` of them at random where there are more; 0: of all.

    An image that cannot be read is listed, never raised.
    """
    train = [part.train.items for part in data.values() if isinstance(part, Probe)]
    columns: list[Column] = [*every_column(data, variants=False), *train]
    images = distinct([column for column in columns if column.modality == "image"])
    rows = np.flatnonzero(images.keys != NO_KEY)
    total = len(rows)
    if most and total > most:
        rows = np.sort(np.random.default_rng(SEED).permutation(rows)[:most])
    good, hashes, colours, bad, plain = [], [], [], [], 0
    with ThreadPoolExecutor(workers()) as pool:
        for row, result in zip(rows.tolist(), pool.map(lambda row: _looked_at(images, int(row)), rows), strict=True):
            if isinstance(result, str):
                bad.append((images.name(row), result))
            elif result is None:
                plain += 1
            else:
                good.append(row)
                hashes.append(result[0])
                colours.append(result[1])
    return HashedImages(
        keys=images.keys[good],
        hashes=np.array(hashes),
        colours=np.array(colours),
        drawn=len(rows),
        total=total,
        plain=plain,
        bad=tuple(bad),
    )


def _looked_at(images: DistinctItems, row: int) -> tuple[np.ndarray, np.ndarray] | str | None:
    """An image's hashes and colours; None for one of a plain colour, or why it cannot be read."""
    try:
        image = decoding.picture(images.read(row))
        if not near_copies.has_structure(image):
            return None
        return near_copies.hashes(image), near_copies.colours(image)
    except LikenessError as error:
        return str(error)


def within(data: Mapping[str, Data], images: HashedImages) -> list[DataFinding]:
    """Near-duplicates among the items that should differ: of a class, of a training and a test split, of documents.

    Alternatives and pairs may be near-duplicates by design, and are not compared.
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
    pairs = []
    for own in range(1, len(at)):
        copies = _near(images, at[own], at[:own])
        if len(copies):
            pairs.append((rows[own], rows[copies[0]]))
    return DataFinding(
        what=f"{what} that are near-duplicates of an earlier one",
        count=len(pairs),
        examples=tuple(
            f"{part.names[row]} ~ {part.names[other]}{_labels(part, row, other)}" for row, other in pairs[:LISTED]
        ),
    )


def _between(test: Labelled, train: Labelled, images: HashedImages) -> DataFinding:
    (rows, at), (others, of_train) = _rows(test, images), _rows(train, images)
    pairs = []
    for row, own in zip(rows, at, strict=True):
        copies = _near(images, own, of_train)
        copies = copies[of_train[copies] != own]  # the same file is counted apart
        if len(copies):
            pairs.append((row, others[copies[0]]))
    return DataFinding(
        what="test items that are near-duplicates of training items",
        count=len(pairs),
        examples=tuple(f"{test.names[row]} ~ {train.names[other]}" for row, other in pairs[:LISTED]),
    )


def _near(images: HashedImages, image: int, among: np.ndarray) -> np.ndarray:
    """(m,) int: which of the images at `among` are near-duplicates of another, by shapes and colours."""
    at = np.flatnonzero(near_copies.near(images.hashes[image], images.hashes[among]))
    return at[near_copies.same_colours(images.colours[image], images.colours[among[at]])] if len(at) else at


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
    if column is None or not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found = positions(np.asarray(column.keys)[at[rows]], among=images.keys)
    rows, found = rows[found >= 0], found[found >= 0]
    first = np.sort(np.unique(found, return_index=True)[1])
    return rows[first], found[first]


def _labels(part: Labelled | Mixed, row: int, other: int) -> str:
    """Both labels, where two near-duplicates have different ones."""
    if isinstance(part, Mixed) or part.labels[row] == part.labels[other]:
        return ""
    return f": {part.classes[part.labels[row]]!r} and {part.classes[part.labels[other]]!r}"
