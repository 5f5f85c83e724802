"""Repeats, leaks and contradicting labels in small data sets, each with one known fault, and in one without."""

import numpy as np
import pytest

from compute.content.items import texts
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

FIRST = np.array([0])


def column(letters):
    return texts(list(letters), of="letters")


def labelled(letters, labels, *, start=1):
    names = tuple(f"row {start + at}" for at in range(len(letters)))
    return Labelled(names=names, items=column(letters), labels=np.array(labels), classes=("cat", "dog"))


def rows(count):
    return tuple(f"row {at + 1}" for at in range(count))


def retrieval(queries, documents, relevant):
    def mixed(letters, what):
        names = tuple(f"{what}{at}" for at in range(len(letters)))
        return Mixed(names=names, text=column(letters), text_at=np.arange(len(letters)))

    return Retrieval(
        queries=mixed(queries, "q"),
        documents=mixed(documents, "d"),
        relevant=tuple(np.array(side) for side in zip(*relevant, strict=True)),
    )


JUDGED = "relevant documents of which a copy is judged otherwise or not at all"
REPEAT = "Note: items that repeat an earlier one"
OTHER = "Fault: items that repeat an earlier one"


@pytest.mark.parametrize(
    "data, found",
    [
        (Clusters(test=labelled("abc", [0, 1, 0])), []),
        (Choices(names=rows(1), reference=column("a"), alternatives=(column("a"), column("b")), answer=FIRST), []),
        (Sentences(names=rows(2), first=column("ab"), second=column("ac"), human=np.array([5.0, 1.0])), []),
        (retrieval("xy", "ab", [(0, 0, 1), (1, 1, 1)]), []),
        (
            Clusters(test=labelled("abcab", [0, 1, 0, 0, 0])),
            [
                f"{REPEAT}: 2 (row 4 = row 1, row 5 = row 2)",
                f"{OTHER} under another label: 1 (row 5 = row 2: 'cat' and 'dog')",
            ],
        ),
        (
            Clusters(test=labelled("aaaaa", [0] * 5)),
            [f"{REPEAT}: 4 (row 2 = row 1, row 3 = row 1, row 4 = row 1, ...)"],
        ),
        (
            Probe(train=labelled("abc", [0, 1, 0]), test=labelled("xcb", [0, 0, 1], start=11)),
            ["Fault: test items that are also training items: 2 (row 12 = row 3, row 13 = row 2)"],
        ),
        (
            ZeroShot(test=labelled("ab", [0, 1]), prompts=column("pp")),
            ["Fault: classes with the prompt of another: 1 (dog = cat)"],
        ),
        (  # row 2 is row 1 in the other order, row 3 contradicts it; of rows 4 and 5 no model could tell the answer
            Choices(
                names=rows(5),
                reference=column("rrrst"),
                alternatives=(column("abact"), column("babcu")),
                answer=np.array([0, 1, 1, 0, 1]),
            ),
            [
                f"{REPEAT}: 2 (row 2 = row 1, row 3 = row 1)",
                f"{OTHER} with another answer: 1 (row 3 = row 1)",
                "Fault: items with the same alternative twice: 1 (row 4)",
                "Fault: items whose reference is an alternative that is not the answer: 1 (row 5)",
            ],
        ),
        (
            OddOneOut(names=rows(3), members=(column("aba"), column("bcb"), column("cac")), odd=np.array([0, 0, 2])),
            [
                f"{REPEAT}: 2 (row 2 = row 1, row 3 = row 1)",
                f"{OTHER} with another odd image: 2 (row 2 = row 1, row 3 = row 1)",
            ],
        ),
        (
            OddOneOut(names=rows(1), members=(column("a"), column("b"), column("a")), odd=FIRST),
            ["Fault: items whose odd image is another of their images too: 1 (row 1)"],
        ),
        (
            Sentences(names=rows(4), first=column("abcd"), second=column("bace"), human=np.array([4.0, 2.0, 3.0, 5.0])),
            [
                "Note: pairs that repeat an earlier one: 1 (row 2 = row 1)",
                "Fault: pairs that repeat an earlier one with another rating: 1 (row 2 = row 1: '2' and '4')",
                "Fault: pairs of the same content twice that are not rated highest: 1 (row 3)",
            ],
        ),
        (
            Matches(names=rows(3), images=(column("iij"),), captions=(column("abx"), column("bax"))),
            [
                f"{REPEAT}: 1 (row 2 = row 1)",
                f"{OTHER} with another match: 1 (row 2 = row 1)",
                "Fault: items with the same image or the same caption twice: 1 (row 3)",
            ],
        ),
        (  # of two and two each has its match, in any order
            Matches(names=rows(2), images=(column("ij"), column("ji")), captions=(column("ab"), column("ba"))),
            [f"{REPEAT}: 1 (row 2 = row 1)"],
        ),
        (
            retrieval("xya", "abcb", [(0, 1, 1), (1, 1, 1), (1, 3, 1), (2, 2, 1)]),
            [
                "Note: documents that repeat an earlier one: 1 (d3 = d1)",
                f"Fault: {JUDGED}: 1 (query q0, document d1)",
                "Note: queries that are documents themselves: 1 (q2)",
            ],
        ),
    ],
)
def test_what_is_found(data, found):
    assert list(map(str, findings(data))) == found
