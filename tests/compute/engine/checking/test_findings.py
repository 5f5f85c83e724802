"""Repeats, leaks and contradicting labels in small data sets, each with one known fault, and in one without."""

from __future__ import annotations

import numpy as np
import pytest

from compute.content.items import Column, texts
from compute.engine.checking.findings import findings
from compute.tasks.data import (
    Choices,
    Clusters,
    Labelled,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
)


def column(letters: str) -> Column:
    return texts(list(letters), of="letters")


def labelled(letters: str, labels: list[int], *, start: int = 1) -> Labelled:
    names = tuple(f"row {start + at}" for at in range(len(letters)))
    return Labelled(names=names, items=column(letters), labels=np.array(labels), classes=("cat", "dog"))


def rows(count: int) -> tuple[str, ...]:
    return tuple(f"row {at + 1}" for at in range(count))


def retrieval(queries: str, documents: str, relevant: list[tuple[int, int, int]]) -> Retrieval:
    def mixed(letters: str, what: str) -> Mixed:
        names = tuple(f"{what}{at}" for at in range(len(letters)))
        return Mixed(names=names, text=column(letters), text_at=np.arange(len(letters)))

    return Retrieval(
        queries=mixed(queries, "q"),
        documents=mixed(documents, "d"),
        relevant=tuple(np.array(side) for side in zip(*relevant, strict=True)),
    )


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (Clusters(test=labelled("abc", [0, 1, 0])), {}),
        (
            Choices(
                names=rows(1), reference=column("r"), alternatives=(column("a"), column("b")), answer=np.array([0])
            ),
            {},
        ),
        (Sentences(names=rows(2), first=column("ab"), second=column("ac"), human=np.array([5.0, 1.0])), {}),
        (retrieval("xy", "ab", [(0, 0, 1), (1, 1, 1)]), {}),
        (
            Clusters(test=labelled("abcab", [0, 1, 0, 0, 0])),
            {
                "items that repeat an earlier one": (2, ("row 4 = row 1", "row 5 = row 2"), False),
                "items that repeat an earlier one under another label": (1, ("row 5 = row 2: 'cat' and 'dog'",), True),
            },
        ),
        (
            Probe(train=labelled("abc", [0, 1, 0]), test=labelled("xcb", [0, 0, 1], start=11)),
            {"test items that are training items too": (2, ("row 12 = row 3", "row 13 = row 2"), True)},
        ),
        (
            ZeroShot(test=labelled("ab", [0, 1]), prompts=column("pp")),
            {"classes with the prompt of another": (1, ("dog = cat",), True)},
        ),
        (  # row 2 is row 1 in the other order, row 3 contradicts it; of rows 4 and 5 no model could tell the answer
            Choices(
                names=rows(5),
                reference=column("rrrst"),
                alternatives=(column("abact"), column("babcu")),
                answer=np.array([0, 1, 1, 0, 1]),
            ),
            {
                "items that repeat an earlier one": (2, ("row 2 = row 1", "row 3 = row 1"), False),
                "items that repeat an earlier one with another answer": (1, ("row 3 = row 1",), True),
                "items with the same alternative twice": (1, ("row 4",), True),
                "items whose reference is an alternative that is not the answer": (1, ("row 5",), True),
            },
        ),
        (
            OddOneOut(names=rows(3), members=(column("aba"), column("bcb"), column("cac")), odd=np.array([0, 0, 2])),
            {
                "items that repeat an earlier one": (2, ("row 2 = row 1", "row 3 = row 1"), False),
                "items that repeat an earlier one with another odd image": (
                    2,
                    ("row 2 = row 1", "row 3 = row 1"),
                    True,
                ),
            },
        ),
        (
            OddOneOut(names=rows(1), members=(column("a"), column("b"), column("a")), odd=np.array([0])),
            {"items whose odd image is another of their images too": (1, ("row 1",), True)},
        ),
        (
            Sentences(names=rows(4), first=column("abcd"), second=column("bace"), human=np.array([4.0, 2.0, 3.0, 5.0])),
            {
                "pairs that repeat an earlier one": (1, ("row 2 = row 1",), False),
                "pairs that repeat an earlier one with another rating": (1, ("row 2 = row 1: '2' and '4'",), True),
                "pairs of the same content twice that are not rated highest": (1, ("row 3",), True),
            },
        ),
        (
            Matches(names=rows(3), images=(column("iij"),), captions=(column("abx"), column("bax"))),
            {
                "items that repeat an earlier one": (1, ("row 2 = row 1",), False),
                "items that repeat an earlier one with another match": (1, ("row 2 = row 1",), True),
                "items with the same image or the same caption twice": (1, ("row 3",), True),
            },
        ),
        (
            retrieval("xya", "abcb", [(0, 1, 1), (1, 1, 1), (1, 3, 1), (2, 2, 1)]),
            {
                "documents that repeat an earlier one": (1, ("d3 = d1",), False),
                "relevant documents of which a copy is judged otherwise or not at all": (
                    1,
                    ("query q0, document d1",),
                    True,
                ),
                "queries that are documents themselves": (1, ("q2",), False),
            },
        ),
    ],
)
def test_what_is_found(data, found):
    assert {each.what: (len(each.items), tuple(each.items[:3]), each.fault) for each in findings(data)} == found
