"""Detects problems in a data set's items from their contents: duplicates, leaks, and contradicting labels.

Contents are compared by key, so a duplicate is the same file or text, byte by byte. A resized, recompressed or lightly
cropped copy of an image is detected by the hash of `compute.content.near_copies`; images of a plain colour have no
hash. If there are many images, a random sample is taken, and the result states its size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import compress
from typing import NamedTuple

import numpy as np

from compute.content import decoding, near_copies
from compute.content.items import Column
from compute.features.encoding import workers
from compute.features.passes import DistinctItems, distinct, positions
from compute.tasks.data import (
    Choices,
    Clusters,
    Data,
    Labelled,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
    every_column,
)
from compute.tasks.parquet import NO_KEY
from compute.types import LikenessError

SEED = 0  # of the sample of images, if there are more than are decoded
LISTED = 3  # examples per kind of finding


class DataFinding(NamedTuple):
    """One kind of problem and the names of the affected items."""

    what: str  # "items that are the same as an earlier item"
    items: Sequence[str]
    fault: bool = False  # whether an answer is wrong or undefined, not only redundant

    def __str__(self) -> str:
        more = ", ..." * (len(self.items) > LISTED)
        kind = "Fault" if self.fault else "Note"
        return f"{kind}: {self.what}: {len(self.items):,} ({', '.join(self.items[:LISTED])}{more})"


def findings(data: Data) -> list[DataFinding]:
    """Returns the problems of one subset's items in user data; empty if none."""
    return [found for found in _of(data) if found.items]


def _of(data: Data) -> Iterator[DataFinding]:
    match data:
        case Probe(train=train, test=test):
            yield from _labelled(test, "test items")
            yield from _labelled(train, "training items")
            known = dict(zip(reversed(_keys(train.items)), reversed(train.names), strict=True))  # the first of each
            tested = zip(test.names, _keys(test.items), strict=True)
            leaked = [f"{name} = {known[key]}" for name, key in tested if key in known]
            yield DataFinding("test items that are also training items", leaked, fault=True)
        case Clusters(test=test):
            yield from _labelled(test, "items")
        case ZeroShot(test=test, prompts=prompts):
            yield from _labelled(test, "items")
            yield DataFinding("classes with the prompt of another", _same(test.classes, _keys(prompts)), fault=True)
        case Choices(names=names):
            references, rows = _keys(data.reference), _rows(data.alternatives)
            answers = [row[at] for row, at in zip(rows, data.answer.tolist(), strict=True)]
            shown = [(key, *sorted(row)) for key, row in zip(references, rows, strict=True)]
            yield from _again("items", names, shown, answers, "with another answer")
            yield DataFinding("items with the same alternative twice", _where(names, map(_twice, rows)), fault=True)
            wrong = [key in row and key != right for key, row, right in zip(references, rows, answers, strict=True)]
            what = "items whose reference is an alternative that is not the answer"
            yield DataFinding(what, _where(names, wrong), fault=True)
        case OddOneOut(names=names):
            rows = _rows(data.members)
            odd = [row[at] for row, at in zip(rows, data.odd.tolist(), strict=True)]
            yield from _again("items", names, [tuple(sorted(row)) for row in rows], odd, "with another odd image")
            wrong = [row.count(key) > 1 for row, key in zip(rows, odd, strict=True)]
            yield DataFinding("items whose odd image is another of their images too", _where(names, wrong), fault=True)
        case Sentences(names=names, human=human):
            rows, highest = _rows((data.first, data.second)), np.nanmax(human, initial=-np.inf)
            ratings = [f"{value:g}" for value in human.tolist()]
            yield from _again("pairs", names, [tuple(sorted(pair)) for pair in rows], ratings, "with another rating")
            wrong = [_twice(pair) and rating < highest for pair, rating in zip(rows, human, strict=True)]
            what = "pairs of the same content twice that are not rated highest"
            yield DataFinding(what, _where(names, wrong), fault=True)
        case Matches(names=names):
            both = list(zip(_rows(data.images), _rows(data.captions), strict=True))
            shown = [(*sorted(row), b"", *sorted(texts)) for row, texts in both]
            # Of two images and two captions, each has its match, in any order.
            one = 1 in (len(data.images), len(data.captions))
            right = [(row[0], texts[0]) if one else () for row, texts in both]
            yield from _again("items", names, shown, right, "with another match")
            wrong = [_twice(row) or _twice(texts) for row, texts in both]
            what = "items with the same image or the same caption twice"
            yield DataFinding(what, _where(names, wrong), fault=True)
        case Retrieval():
            yield from _retrieval(data)


def _retrieval(data: Retrieval) -> Iterator[DataFinding]:
    queries, documents = _mixed(data.queries), _mixed(data.documents)
    yield DataFinding("documents that repeat an earlier one", _same(data.documents.names, documents))
    yield DataFinding("queries that repeat an earlier one", _same(data.queries.names, queries))
    copies = Counter(documents)
    grades: dict[tuple[int, bytes], list[tuple[int, float]]] = {}  # of a query, for copies of the same content
    for query, document, grade in zip(*(side.tolist() for side in data.relevant), strict=True):
        if copies[documents[document]] > 1:
            grades.setdefault((query, documents[document]), []).append((document, grade))
    wrong = [
        f"query {data.queries.names[query]}, document {data.documents.names[judged[0][0]]}"
        for (query, key), judged in grades.items()
        if len({grade for _, grade in judged} | ({0} if len(judged) < copies[key] else set())) > 1
    ]
    yield DataFinding("relevant documents of which a copy is judged otherwise or not at all", wrong, fault=True)
    among = [key in copies for key in queries]
    yield DataFinding("queries that are documents themselves", _where(data.queries.names, among))


def _keys(column: Column) -> list[bytes]:
    return np.asarray(column.keys).tolist()


def _rows(columns: Sequence[Column]) -> list[tuple[bytes, ...]]:
    """Returns the keys of each row's contents."""
    return list(zip(*map(_keys, columns), strict=True))


def _mixed(items: Mixed) -> list[bytes]:
    """Returns one key per item, of its image and its text together."""
    keys = np.zeros(len(items), dtype="S32")
    for at, column in items.joined():
        keys[at] = column.keys
    return keys.tolist()


def _labelled(part: Labelled, what: str) -> Iterator[DataFinding]:
    labels = [part.classes[label] for label in part.labels.tolist()]
    return _again(what, part.names, _keys(part.items), labels, "under another label")


def _again(
    what: str, names: Sequence[str], identity: Sequence[object], answers: Sequence[object], other: str
) -> Iterator[DataFinding]:
    """Yields rows with the same content as an earlier row, and those among them with a different answer."""
    what = f"{what} that repeat an earlier one"
    yield DataFinding(what, _same(names, identity))
    yield DataFinding(f"{what} {other}", _same(names, identity, answers), fault=True)


def _same(names: Sequence[str], identity: Sequence[object], answers: Sequence[object] = ()) -> list[str]:
    """Returns rows with the same content as an earlier row; with `answers`, only those with a different answer."""
    first: dict[object, int] = {}
    found = []
    for row, earlier in enumerate(first.setdefault(own, row) for row, own in enumerate(identity)):
        if row != earlier and not (answers and answers[row] == answers[earlier]):
            said = f": {answers[row]!r} and {answers[earlier]!r}" if answers and isinstance(answers[row], str) else ""
            found.append(f"{names[row]} = {names[earlier]}{said}")
    return found


def _where(names: Sequence[str], wrong: Iterator[bool] | Sequence[bool]) -> list[str]:
    return list(compress(names, wrong))


def _twice(keys: Sequence[bytes]) -> bool:
    return len(set(keys)) < len(keys)


class HashedImages(NamedTuple):
    """The images that can be compared, and those that cannot."""

    keys: np.ndarray  # (n,) S32
    hashes: np.ndarray  # (n, parts) uint64
    colours: np.ndarray  # (n, parts, values) uint8
    total: int  # number of distinct images
    plain: int  # decoded images without structure, compared by content key only
    bad: tuple[tuple[str, str], ...]  # names and reasons

    @property
    def sentence(self) -> str:
        """Summary of how many images there are, how many were decoded, and how many cannot be compared or read."""
        drawn = len(self.keys) + self.plain + len(self.bad)
        decoded = f", {drawn:,} of them decoded" if drawn < self.total else ", all decoded"
        plain = f"; of a plain colour, compared by content alone: {self.plain:,}" if self.plain else ""
        bad = f"; that cannot be read: {len(self.bad):,}" if self.bad else ""
        return f"{self.total:,} distinct{decoded}{plain}{bad}"


def hashed(data: Mapping[str, Data], *, most: int = 0) -> HashedImages:
    """Returns the hashes of the distinct images of all subsets, or of a random sample of `most` if there are more; 0:
    all.

    An unreadable image is listed and raises no error.
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
    """Returns an image's hashes and colours, None for a plain colour, or why it cannot be read."""
    try:
        image = decoding.picture(images.read(row))
        if not near_copies.has_structure(image):
            return None
        return near_copies.hashes(image), near_copies.colours(image)
    except LikenessError as error:
        return str(error)


def within(data: Mapping[str, Data], images: HashedImages) -> list[DataFinding]:
    """Returns near-duplicates among items that should differ: within a class, within and between training and test
    splits, among documents.

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
    """Finds items that are near-duplicates, by shapes and colours, of an earlier item or of a training item.

    The first match is reported. Matches of the same file are excluded because they are counted separately.
    """
    rows, own = _images_of(part, images)
    others, among = (rows, own) if train is None else _images_of(train, images)
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


def _images_of(part: Labelled | Mixed, images: HashedImages) -> tuple[np.ndarray, np.ndarray]:
    """Returns (m,) int twice: the first row of each hashed image, and the index of its hash.

    An image with a text is a different document from the same image with another text.
    """
    sides = part.joined() if isinstance(part, Mixed) else [(np.arange(len(part.names)), part.items)]
    for rows, column in sides:
        if column.modality == "image":
            found = positions(np.asarray(column.keys), among=images.keys)
            first = np.sort(np.unique(found, return_index=True)[1])
            first = first[found[first] >= 0]
            return rows[first], found[first]
    return np.zeros(0, np.int64), np.zeros(0, np.int64)
