"""Reference: what the columns hold, read one by one."""

from __future__ import annotations

import numpy as np

from compute.content.items import images, texts
from compute.procedures.shared import preview
from compute.tasks.data import Mixed


def test_images_are_keys_and_texts_are_words_in_the_order_of_the_columns() -> None:
    picture, words, other = images([b"a", b"b"], of="t"), texts(["x", "y"], of="t"), images([b"c", b"a"], of="t")
    assert preview.contents((picture, words, other)) == [
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
    assert preview.mixed(items, np.array([0, 1, 2, 0])) == [("", "y"), (key, ""), (key, "y"), ("", "y")]
    assert reads == [1]
    assert preview.listed([("", "y"), (key, "")]) == {"images": ["", key], "texts": ["y", ""]}
    assert preview.listed([("", "y"), ("", "x")]) == {"images": [], "texts": ["y", "x"]}
