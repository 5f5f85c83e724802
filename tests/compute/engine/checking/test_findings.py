"""Repeats, leaks, contradicting labels and near-duplicates of photographs, each with one fault, and sets with none."""

import io

import numpy as np
import pytest
from PIL import Image

from compute.content.items import images, texts
from compute.engine.checking.findings import findings, hashed, within
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
from compute.tasks.drawing.render import photo_path


def column(letters):
    return texts(list(letters), of="letters")


def rows(of, *, start=1):
    return tuple(f"row {start + at}" for at in range(len(of)))


def labelled(content, labels, *, start=1):
    """Items of letters or of image files."""
    items = column(content) if isinstance(content, str) else images(content, of="own")
    return Labelled(names=rows(content, start=start), items=items, labels=np.array(labels), classes=("cat", "dog"))


def choices(reference, *alternatives, answer):
    sides = tuple(map(column, alternatives))
    return Choices(names=rows(answer), reference=column(reference), alternatives=sides, answer=np.array(answer))


def odd_one_out(*members, odd):
    return OddOneOut(names=rows(odd), members=tuple(map(column, members)), odd=np.array(odd))


def sentences(first, second, human):
    return Sentences(names=rows(human), first=column(first), second=column(second), human=np.array(human))


def matches(images, captions):
    sides = (tuple(map(column, side.split())) for side in (images, captions))
    return Matches(names=rows(captions.split()[0]), **dict(zip(("images", "captions"), sides, strict=True)))


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
        (choices("a", "a", "b", answer=[0]), []),
        (sentences("ab", "ac", [5.0, 1.0]), []),
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
            choices("rrrst", "abact", "babcu", answer=[0, 1, 1, 0, 1]),
            [
                f"{REPEAT}: 2 (row 2 = row 1, row 3 = row 1)",
                f"{OTHER} with another answer: 1 (row 3 = row 1)",
                "Fault: items with the same alternative twice: 1 (row 4)",
                "Fault: items whose reference is an alternative that is not the answer: 1 (row 5)",
            ],
        ),
        (
            odd_one_out("aba", "bcb", "cac", odd=[0, 0, 2]),
            [
                f"{REPEAT}: 2 (row 2 = row 1, row 3 = row 1)",
                f"{OTHER} with another odd image: 2 (row 2 = row 1, row 3 = row 1)",
            ],
        ),
        (
            odd_one_out("a", "b", "a", odd=[0]),
            ["Fault: items whose odd image is another of their images too: 1 (row 1)"],
        ),
        (
            sentences("abcd", "bace", [4.0, 2.0, 3.0, 5.0]),
            [
                "Note: pairs that repeat an earlier one: 1 (row 2 = row 1)",
                "Fault: pairs that repeat an earlier one with another rating: 1 (row 2 = row 1: '2' and '4')",
                "Fault: pairs of the same content twice that are not rated highest: 1 (row 3)",
            ],
        ),
        (
            matches("iij", "abx bax"),
            [
                f"{REPEAT}: 1 (row 2 = row 1)",
                f"{OTHER} with another match: 1 (row 2 = row 1)",
                "Fault: items with the same image or the same caption twice: 1 (row 3)",
            ],
        ),
        (  # of two and two each has its match, in any order
            matches("ij ji", "ab ba"),
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


NAMES = ("astronaut.png", "coffee.png", "rocket.jpg", "chelsea.png", "camera.png")


def file(name, change=lambda image: image, **how):
    with Image.open(photo_path(name)) as stored:
        image = change(stored.convert("RGB"))
    out = io.BytesIO()
    image.save(out, **(how or {"format": "PNG"}))
    return out.getvalue()


def smaller(name):
    return file(name, lambda image: image.resize((image.width // 2, image.height // 2)), format="JPEG", quality=70)


PHOTOGRAPHS = [file(name) for name in NAMES]


def test_near_duplicates_of_items_with_their_labels():
    part = labelled([*PHOTOGRAPHS, smaller("coffee.png"), smaller("astronaut.png")], [0, 1, 1, 1, 1, 1, 1])
    data = {"default": Clusters(test=part)}
    found = within(data, hashed(data))
    assert found == [
        (
            "items that are near-duplicates of an earlier one",
            ["row 6 ~ row 2", "row 7 ~ row 1: 'dog' and 'cat'"],
            False,
        )
    ]


def test_near_duplicates_across_the_splits():
    """The same file is none of itself: it is counted as a repeat, by its content key."""
    train = labelled([*PHOTOGRAPHS[:3], PHOTOGRAPHS[0]], [0, 1, 1, 0])
    data = Probe(train=train, test=labelled([smaller("rocket.jpg"), PHOTOGRAPHS[1]], [1, 1], start=9))
    found = within({"default": data}, hashed({"default": data}))
    assert found == [("test items that are near-duplicates of training items", ["row 9 ~ row 3"], False)]


def test_plain_images_are_no_near_duplicates_of_one_another():
    """Two reds that differ by two levels, one of them with the noise of its compression, beside a photograph twice."""
    reds = []
    for colour, how in (((200, 10, 10), "PNG"), ((198, 12, 12), "JPEG")):
        out = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(out, how)
        reds.append(out.getvalue())
    part = labelled([*reds, reds[0], PHOTOGRAPHS[1], smaller("coffee.png")], [0] * 5)
    data = {"default": Clusters(test=part)}
    result = hashed(data)
    assert (result.total, result.plain, len(result.keys), result.bad) == (4, 2, 2, ())
    assert "of a plain colour, compared by content alone: 2" in result.sentence
    assert [each.items for each in within(data, result)] == [["row 5 ~ row 4"]]
