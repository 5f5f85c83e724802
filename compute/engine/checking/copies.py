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
from compute.engine.checking.findings import DataFinding
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
    total: int  # distinct images that there are
    plain: int  # of those looked at, that have no structure: they are compared by content key only
    bad: tuple[tuple[str, str], ...]  # names, and what is wrong

    @property
    def sentence(self) -> str:
        """How many images there are, how many were decoded, and how many cannot be compared or read."""
        drawn = len(self.keys) + self.plain + len(self.bad)
        decoded = f", {drawn:,} of them decoded" if drawn < self.total else ", all decoded"
        plain = f"; of a plain colour, compared by content alone: {self.plain:,}" if self.plain else ""
        bad = f"; that cannot be read: {len(self.bad):,}" if self.bad else ""
        return f"{self.total:,} distinct{decoded}{plain}{bad}"


def hashed(data: Mapping[str, Data], *, most: int = 0) -> HashedImages:
    """The hashes of the distinct images of all subsets, of `most` of them at random where there are more; 0: of all.

    An image that cannot be read is listed, never raised.
    """
    train = [part.train.items for part in data.values() if isinstance(part, Probe)]
    columns = [*every_column(data, variants=False), *train]
    images = distinct([column for column in columns if column.modality == "image"])
    rows = np.flatnonzero(images.keys != NO_KEY)
    total = len(rows)
    if most and total > most:
        rows = np.sort(np.random.default_rng(SEED).permutation(rows)[:most])
    with ThreadPoolExecutor(workers()) as pool:
        seen = dict(zip(rows.tolist(), pool.map(lambda row: _looked_at(images, row), rows.tolist()), strict=True))
    good = {row: result for row, result in seen.items() if isinstance(result, tuple)}
    return HashedImages(
        keys=images.keys[list(good)],
        hashes=np.array([hashes for hashes, _ in good.values()]),
        colours=np.array([colours for _, colours in good.values()]),
        total=total,
        plain=sum(result is None for result in seen.values()),
        bad=tuple((images.name(row), result) for row, result in seen.items() if isinstance(result, str)),
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
                out += [_near("test items", test, images), _near("training items", train, images)]
                out.append(_near("test items", test, images, train=train))
            case Clusters(test=test) | ZeroShot(test=test):
                out.append(_near("items", test, images))
            case Retrieval(documents=documents):
                out.append(_near("documents", documents, images))
    return [found for found in out if found.items]


def _near(what: str, part: Labelled | Mixed, images: HashedImages, *, train: Labelled | None = None) -> DataFinding:
    """Items that are near-duplicates, by shapes and colours, of an earlier one or of a training item: of the first that
    is, not of the same file, which is counted apart."""
    rows, own = _rows(part, images)
    others, among = (rows, own) if train is None else _rows(train, images)
    named, found = train or part, []
    for at, (row, image) in enumerate(zip(rows, own, strict=True)):
        known = among[:at] if train is None else among
        near = np.flatnonzero(near_copies.near(images.hashes[image], images.hashes[known]) & (known != image))
        near = near[near_copies.same_colours(images.colours[image], images.colours[known[near]])]
        if len(near):
            other, said = others[near[0]], ""
            if isinstance(part, Labelled) and train is None and part.labels[row] != part.labels[other]:
                said = f": {part.classes[part.labels[row]]!r} and {part.classes[part.labels[other]]!r}"
            found.append(f"{part.names[row]} ~ {named.names[other]}{said}")
    of = "an earlier one" if train is None else "training items"
    return DataFinding(f"{what} that are near-duplicates of {of}", found)


def _rows(part: Labelled | Mixed, images: HashedImages) -> tuple[np.ndarray, np.ndarray]:
    """(m,) int twice: the first row of each image that was hashed, and which of the hashes is its. An image with a text
    is another document than the same image with another text."""
    sides = part.joined() if isinstance(part, Mixed) else [(np.arange(len(part.names)), part.items)]
    for rows, column in sides:
        if column.modality == "image":
            found = positions(np.asarray(column.keys), among=images.keys)
            first = np.sort(np.unique(found, return_index=True)[1])
            first = first[found[first] >= 0]
            return rows[first], found[first]
    return np.zeros(0, np.int64), np.zeros(0, np.int64)
