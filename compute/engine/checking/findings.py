"""What is odd about a data set's items, judged by their contents alone: repeats, leaks, and labels that contradict.

Contents are compared by their keys, so a repeat is the same file or text, byte by byte. Near copies of images are
recognised apart, by `compute.content.near_copies`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from compute.content.items import Column
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
)

LISTED = 3  # examples of one kind of finding


class DataFinding(NamedTuple):
    """One kind of oddity: what it is, how often, and the first examples of items by name."""

    what: str  # "items that are the same as an earlier item"
    count: int
    examples: tuple[str, ...]
    fault: bool = False  # whether a right answer is wrong or none, not only superfluous

    def __str__(self) -> str:
        more = ", ..." * (self.count > LISTED)
        return f"{'Fault' if self.fault else 'Note'}: {self.what}: {self.count:,} ({', '.join(self.examples)}{more})"


def findings(data: Data) -> list[DataFinding]:
    """What is odd about the items of one subset of user data; empty where nothing is."""
    match data:
        case Probe(train=train, test=test):
            found = [*_labelled(test, "test items"), *_labelled(train, "training items"), _leak(train, test)]
        case Clusters(test=test):
            found = _labelled(test, "items")
        case ZeroShot(test=test, prompts=prompts):
            same = _repeats(_keys(prompts), test.classes, "classes with the prompt of another", fault=True)
            found = [*_labelled(test, "items"), same]
        case Choices():
            found = _choices(data)
        case OddOneOut(members=members):
            rows = _rows(members)
            odd = [row[at] for row, at in zip(rows, data.odd.tolist(), strict=True)]
            found = [
                *_again([tuple(sorted(row)) for row in rows], data.names, "items", odd, "with another odd image"),
                _where(
                    [row.count(key) > 1 for row, key in zip(rows, odd, strict=True)],
                    data.names,
                    "items whose odd image is another of their images too",
                ),
            ]
        case Sentences():
            found = _sentences(data)
        case Matches():
            found = _matches(data)
        case Retrieval():
            found = _retrieval(data)
        case _:
            found = []
    return [finding for finding in found if finding.count]


def _labelled(part: Labelled, what: str) -> list[DataFinding]:
    labels = [part.classes[label] for label in part.labels.tolist()]
    return _again(_keys(part.items), part.names, what, labels, "under another label")


def _leak(train: Labelled, test: Labelled) -> DataFinding:
    """Test items that the probe is trained on."""
    names = dict(zip(reversed(_keys(train.items)), reversed(train.names), strict=True))  # the first of each content
    shared = [f"{name} = {names[key]}" for name, key in zip(test.names, _keys(test.items), strict=True) if key in names]
    return DataFinding(
        what="test items that are training items too",
        count=len(shared),
        examples=tuple(shared[:LISTED]),
        fault=True,
    )


def _choices(data: Choices) -> list[DataFinding]:
    rows = list(zip(_keys(data.reference), _rows(data.alternatives), data.answer.tolist(), strict=True))
    identity, answers = [(key, *sorted(row)) for key, row, _ in rows], [row[at] for _, row, at in rows]
    return [
        *_again(identity, data.names, "items", answers, "with another answer"),
        _where([_twice(row) for _, row, _ in rows], data.names, "items with the same alternative twice"),
        _where(
            [key in row and key != row[at] for key, row, at in rows],
            data.names,
            "items whose reference is an alternative that is not the answer",
        ),
    ]


def _sentences(data: Sentences) -> list[DataFinding]:
    rows = _rows((data.first, data.second))
    identity, ratings = [tuple(sorted(pair)) for pair in rows], [f"{value:g}" for value in data.human.tolist()]
    highest = float(np.nanmax(data.human, initial=-np.inf))
    return [
        *_again(identity, data.names, "pairs", ratings, "with another rating"),
        _where(
            [_twice(pair) and rating < highest for pair, rating in zip(rows, data.human, strict=True)],
            data.names,
            "pairs of the same content twice that are not rated highest",
        ),
    ]


def _matches(data: Matches) -> list[DataFinding]:
    both = list(zip(_rows(data.images), _rows(data.captions), strict=True))
    identity = [(*sorted(row), b"", *sorted(texts)) for row, texts in both]
    right = [(row[0], texts[0]) for row, texts in both]
    repeats, others = _again(identity, data.names, "items", right, "with another match")
    twice = _where(
        [_twice(row) or _twice(texts) for row, texts in both],
        data.names,
        "items with the same image or the same caption twice",
    )
    return [repeats, *([others] if 1 in (len(data.images), len(data.captions)) else []), twice]


def _retrieval(data: Retrieval) -> Iterator[DataFinding]:
    queries, documents = _mixed(data.queries), _mixed(data.documents)
    yield _repeats(documents, data.documents.names, "documents that repeat an earlier one")
    yield _repeats(queries, data.queries.names, "queries that repeat an earlier one")
    copies = Counter(documents)
    grades: dict[tuple[int, bytes], list[tuple[int, float]]] = {}  # of a query, for the copies of one content
    for query, document, grade in zip(*(side.tolist() for side in data.relevant), strict=True):
        if copies[documents[document]] > 1:
            grades.setdefault((query, documents[document]), []).append((document, grade))
    wrong = []
    for (query, key), judged in grades.items():
        values = {grade for _, grade in judged} | ({0} if len(judged) < copies[key] else set())
        if len(values) > 1:
            wrong.append(f"query {data.queries.names[query]}, document {data.documents.names[judged[0][0]]}")
    yield DataFinding(
        what="relevant documents of which a copy is judged otherwise or not at all",
        count=len(wrong),
        examples=tuple(wrong[:LISTED]),
        fault=True,
    )
    among = set(documents)
    yield _where(
        [key in among for key in queries], data.queries.names, "queries that are documents themselves", fault=False
    )


def _keys(column: Column) -> list[bytes]:
    return np.asarray(column.keys).tolist()


def _mixed(items: Mixed) -> list[bytes]:
    """One key an item, of its image and its text together."""
    none = b""
    parts = [
        [none if at < 0 else column.keys[at] for at in positions.tolist()]
        if column is not None
        else [none] * len(items)
        for column, positions in ((items.image, items.image_at), (items.text, items.text_at))
    ]
    return [bytes(image) + b"+" + bytes(text) for image, text in zip(*parts, strict=True)]


def _rows(columns: Sequence[Column]) -> list[tuple[bytes, ...]]:
    """The keys of each row's contents."""
    return list(zip(*map(_keys, columns), strict=True))


def _again(
    identity: Sequence[object], names: Sequence[str], what: str, answers: Sequence[object], other: str
) -> list[DataFinding]:
    """Rows whose identity an earlier row has; and those of them whose answer is another."""
    what = f"{what} that repeat an earlier one"
    return [
        _repeats(identity, names, what),
        _repeats(identity, names, f"{what} {other}", fault=True, answers=answers),
    ]


def _repeats(
    identity: Sequence[object], names: Sequence[str], what: str, *, fault: bool = False, answers: Sequence[object] = ()
) -> DataFinding:
    """Rows whose identity an earlier row has; with `answers` only those whose answer is another."""
    first: dict[object, int] = {}
    pairs = [(row, first.setdefault(own, row)) for row, own in enumerate(identity)]
    examples = []
    for row, earlier in pairs:
        if row == earlier or (answers and answers[row] == answers[earlier]):
            continue
        said = f": {answers[row]!r} and {answers[earlier]!r}" if answers and isinstance(answers[row], str) else ""
        examples.append(f"{names[row]} = {names[earlier]}{said}")
    return DataFinding(what=what, count=len(examples), examples=tuple(examples[:LISTED]), fault=fault)


def _where(wrong: Sequence[bool], names: Sequence[str], what: str, *, fault: bool = True) -> DataFinding:
    rows = np.flatnonzero(wrong)
    return DataFinding(
        what=what, count=len(rows), examples=tuple(names[row] for row in rows[:LISTED].tolist()), fault=fault
    )


def _twice(keys: Sequence[bytes]) -> bool:
    return len(set(keys)) < len(keys)
