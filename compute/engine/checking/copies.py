"""Images that show the same picture: within a data set, and between it and the benchmarks whose data is here.

The same file is known by its content key; a resized, recompressed or lightly cropped copy by the hash of
`compute.content.near_copies`, but for an image of one plain colour, which has none: of those only the same file is
known. Of many images some are drawn at random, and the result says how many.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compute.content import decoding, near_copies
from compute.content.items import Column, content_key
from compute.engine.checking.findings import LISTED, DataFinding
from compute.features.encoding import workers
from compute.features.passes import DistinctItems, distinct, positions
from compute.progress import Progress
from compute.tasks.data import Clusters, Data, Labelled, Mixed, Probe, Retrieval, ZeroShot, every_column
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import stored_keys
from compute.types import LikenessError

AT_MOST = 5000  # images of a data set that are decoded and hashed
SEED = 0  # of which, where there are more
AT_ONCE = 256  # images that are hashed before progress is told
PARTS = len(near_copies.PARTS)
HASHES = 8 * PARTS  # bytes of an image's hashes
COLOURS = near_copies.COARSE**2 * 3  # values of a part's coarse colours
WIDTH = HASHES + PARTS * COLOURS + 1  # with its colours, and one of:
BAD, COMPARABLE, PLAIN = 0, 1, 2  # it cannot be read; it can; it can, and has no structure to be compared


@dataclass(frozen=True, kw_only=True)
class HashedImages:
    """The images that can be compared, and those that cannot."""

    keys: np.ndarray  # (n,) S32
    names: tuple[str, ...]  # [n]
    hashes: np.ndarray  # (n, parts) uint64
    colours: np.ndarray  # (n, parts, values) uint8
    drawn: int  # images that were looked at
    total: int  # distinct images that there are
    plain: int = 0  # of those looked at, that have no structure: they are compared by content key only
    bad: tuple[tuple[str, str], ...] = ()  # names, and what is wrong


def hashed(
    columns: Sequence[Column],
    *,
    most: int = AT_MOST,
    cache: Path | None = None,
    title: str = "Reading images",
    progress: Progress | None = None,
) -> HashedImages:
    """The hashes of the distinct images of some columns, of `most` of them at random where there are more; 0: of all.

    Hashes are stored in `cache`, the folder of content keys. An image that cannot be read is listed, never raised.
    `title` stands before the bar of `progress`.
    """
    images = distinct([column for column in columns if column.modality == "image"])
    rows = np.flatnonzero(images.keys != NO_KEY)
    total = len(rows)
    if most and total > most:
        rows = np.sort(np.random.default_rng(SEED).permutation(rows)[:most])
    bad: dict[int, str] = {}

    def made() -> np.ndarray:
        out = np.zeros((len(rows), WIDTH), dtype=np.uint8)
        bar = (progress or Progress()).bar(title, total=len(rows), unit="image")
        with ThreadPoolExecutor(workers()) as pool, bar as done:
            for start in range(0, len(rows), AT_ONCE):
                part = rows[start : start + AT_ONCE]
                for at, result in enumerate(pool.map(lambda row: _packed(images, int(row)), part), start):
                    if isinstance(result, str):
                        bad[int(rows[at])] = result
                    else:
                        out[at] = result
                done(len(part))
        return out

    how = [near_copies.VERSION, near_copies.LEAST_STRUCTURE, WIDTH]
    facts = json.dumps(["near copies", *how, content_key(images.keys[rows].tobytes()).decode()])
    stored = stored_keys(cache, facts, made)
    for at in np.flatnonzero(stored[:, -1] == BAD).tolist():  # of an earlier call the reasons are looked for again
        row = int(rows[at])
        if row not in bad and isinstance(result := _packed(images, row), str):
            bad[row] = result
    good = np.flatnonzero(stored[:, -1] == COMPARABLE)
    return HashedImages(
        keys=images.keys[rows[good]],
        names=tuple(images.name(int(row)) for row in rows[good]),
        hashes=np.ascontiguousarray(stored[good, :HASHES]).view(np.uint64),
        colours=stored[good, HASHES:-1].reshape(len(good), PARTS, COLOURS),
        drawn=len(rows),
        total=total,
        plain=int((stored[:, -1] == PLAIN).sum()),
        bad=tuple((images.name(row), reason) for row, reason in sorted(bad.items())),
    )


def joined(parts: Sequence[HashedImages]) -> HashedImages:
    """The images of several data sets, each once."""
    if not parts:
        return hashed([])
    keys = np.concatenate([part.keys for part in parts])
    first = np.sort(np.unique(keys, return_index=True)[1])
    names = [name for part in parts for name in part.names]
    return HashedImages(
        keys=keys[first],
        names=tuple(names[at] for at in first.tolist()),
        hashes=np.concatenate([part.hashes for part in parts])[first],
        colours=np.concatenate([part.colours for part in parts])[first],
        drawn=sum(part.drawn for part in parts),
        total=sum(part.total for part in parts),
        plain=sum(part.plain for part in parts),
        bad=tuple(line for part in parts for line in part.bad),
    )


def recorded(images: HashedImages) -> np.ndarray:
    """What `of_records` makes the images of again: a row each, (n,), of plain values."""
    longest = max((len(name) for name in images.names), default=1)
    kinds = [("key", "S32"), ("name", f"U{longest}"), ("hashes", "u8", (PARTS,)), ("colours", "u1", (PARTS, COLOURS))]
    rows = np.zeros(len(images.keys), dtype=kinds)
    rows["key"], rows["name"] = images.keys, images.names
    rows["hashes"], rows["colours"] = images.hashes, images.colours
    return rows


def of_records(rows: np.ndarray, *, drawn: int, total: int) -> HashedImages:
    """The images of the rows of `recorded`, of which all others that were looked at are plain."""
    return HashedImages(
        keys=rows["key"],
        names=tuple(rows["name"].tolist()),
        hashes=rows["hashes"],
        colours=rows["colours"],
        drawn=drawn,
        total=total,
        plain=drawn - len(rows),
    )


def _packed(images: DistinctItems, row: int) -> np.ndarray | str:
    """(WIDTH,) uint8: hashes, colours, and COMPARABLE or PLAIN for an image that could be read; or why it cannot be."""
    try:
        image = decoding.picture(images.read(row))
        hashes, colours = near_copies.hashes(image), near_copies.colours(image)
        state = COMPARABLE if near_copies.has_structure(image) else PLAIN
    except LikenessError as error:
        return str(error)
    return np.concatenate([hashes.view(np.uint8), colours.ravel(), np.array([state], dtype=np.uint8)])


def near(image: int, of: HashedImages, others: HashedImages, among: np.ndarray | slice = slice(None)) -> np.ndarray:
    """(m,) int: which of `others`, of those at `among`, are near copies of an image of `of`, by shapes and colours."""
    at = np.flatnonzero(near_copies.near(of.hashes[image], others.hashes[among]))
    if len(at):
        at = at[near_copies.same_colours(of.colours[image], others.colours[among][at])]
    return at


def every_content(data: Mapping[str, Data]) -> list[Column]:
    """The columns of all subsets, a probe's training items among them."""
    train = [part.train.items for part in data.values() if isinstance(part, Probe)]
    return [*every_column(data, variants=False), *train]


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
        copies = near(at[own], images, images, at[:own])
        count += len(copies) > 0
        if len(copies) and len(examples) < LISTED:
            row, other = int(rows[own]), int(rows[copies[0]])
            examples.append(f"{part.names[row]} ~ {part.names[other]}{_labels(part, row, other)}")
    return DataFinding(what=f"{what} that are near copies of an earlier one", count=count, examples=tuple(examples))


def _between(test: Labelled, train: Labelled, images: HashedImages) -> DataFinding:
    (rows, at), (others, of_train) = _rows(test, images), _rows(train, images)
    count, examples = 0, []
    for row, own in zip(rows.tolist(), at.tolist(), strict=True):
        copies = near(own, images, images, of_train)
        copies = copies[of_train[copies] != own]  # the same file is counted apart
        count += len(copies) > 0
        if len(copies) and len(examples) < LISTED:
            examples.append(f"{test.names[row]} ~ {train.names[others[copies[0]]]}")
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
