"""References: averages over drawn ties, and rows counted by hand."""

from __future__ import annotations

import numpy as np

from compute.content.items import images, texts
from compute.procedures import evidence
from compute.procedures.evidence import as_detail, contents_of, keys_and_texts
from compute.tasks.data import Mixed


def test_margins() -> None:
    scores = np.array([[3.0, 1, 2], [1, 3, 2], [2, 2, 0], [np.inf, 1, 1], [np.inf, np.inf, 0], [1, np.inf, 0]])
    right = evidence.one_hot(np.zeros(6, dtype=int), 3)
    assert evidence.margin(scores, right).tolist() == [1, -2, 0, np.inf, 0, -np.inf]


def test_images_are_keys_and_texts_are_words_in_the_order_of_the_columns() -> None:
    picture, words, other = images([b"a", b"b"], of="t"), texts(["x", "y"], of="t"), images([b"c", b"a"], of="t")
    assert contents_of((picture, words, other)) == [
        {"images": [picture.keys[row].decode(), other.keys[row].decode()], "texts": [words.read(row)]}
        for row in range(2)
    ]


def test_mixed_items_line_up_and_read_each_text_once() -> None:
    column, reads = texts(["x", "y"], of="t"), []
    counted = type(column)(
        modality="text", keys=column.keys, name=column.name, read=lambda row: reads.append(row) or column.read(row)
    )
    picture = images([b"a"], of="t")
    items = Mixed(
        names=("p", "q", "r"), image=picture, image_at=np.array([-1, 0, 0]), text=counted, text_at=np.array([1, -1, 1])
    )
    key = picture.keys[0].decode()
    assert keys_and_texts(items, np.array([0, 1, 2, 0])) == [("", "y"), (key, ""), (key, "y"), ("", "y")]
    assert reads == [1]
    assert as_detail([("", "y"), (key, "")]) == {"images": ["", key], "texts": ["y", ""]}
    assert as_detail([("", "y"), ("", "x")]) == {"images": [], "texts": ["y", "x"]}
