"""What is odd about a data set's items, judged by their contents alone: repeats, leaks, and labels that contradict.

Contents are compared by their keys, so a repeat is the same file or text, byte by byte. Near copies of images are
recognised apart, by `compute.content.near_copies`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
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
    """One kind of oddity: what it is, and the items by name."""

    what: str  # "items that are the same as an earlier item"
    items: Sequence[str]
    fault: bool = False  # whether a right answer is wrong or none, not only superfluous

    def __str__(self) -> str:
        more = ", ..." * (len(self.items) > LISTED)
        kind = "Fault" if self.fault else "Note"
        return f"{kind}: {self.what}: {len(self.items):,} ({', '.join(self.items[:LISTED])}{more})"


def findings(data: Data) -> list[DataFinding]:
    """What is odd about the items of one subset of user data; empty where nothing is."""
    return [found for found in _of(data) if found.items]


def _of(data: Data) -> Iterator[DataFinding]:
    match data:
        case Probe(train=train, test=test):
            yield from _labelled(test, "test items")
            yield from _labelled(train, "training items")
            known = dict(zip(reversed(_keys(train.items)), reversed(train.names), strict=True))  # the first of each
            tested = zip(test.names, _keys(test.items), strict=True)
            leaked = [f"{name} = {known[key]}" for name, key in tested if key in known]
            yield DataFinding("test items that are training items too", leaked, fault=True)
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
            # Of two images and two captions each has its match, in any order.
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
    grades: dict[tuple[int, bytes], list[tuple[int, float]]] = {}  # of a query, for the copies of one content
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
    """The keys of each row's contents."""
    return list(zip(*map(_keys, columns), strict=True))


def _mixed(items: Mixed) -> list[bytes]:
    """One key an item, of its image and its text together."""
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
    """Rows whose identity an earlier row has; and those of them whose answer is another."""
    what = f"{what} that repeat an earlier one"
    yield DataFinding(what, _same(names, identity))
    yield DataFinding(f"{what} {other}", _same(names, identity, answers), fault=True)


def _same(names: Sequence[str], identity: Sequence[object], answers: Sequence[object] = ()) -> list[str]:
    """Rows whose identity an earlier row has; with `answers` only those whose answer is another."""
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
