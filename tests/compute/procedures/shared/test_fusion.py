"""References: sums and rows written out."""

import numpy as np
import pytest

from compute.content.items import images, texts
from compute.procedures.shared import fusion
from compute.tasks.data import Mixed
from compute.types import BadInput, CannotDo
from tests.compute.procedures.known import BOTH, Known

VECTORS = {b"a": [1, 0, 0], b"b": [0, 2, 0], "x": [0, 0, 3], "y": [4, 0, 0]}


def items(image_at, text_at):
    return Mixed(
        names=tuple(f"m{row}" for row in range(len(image_at))),
        image=images([b"a", b"b"], of="tests"),
        image_at=np.array(image_at),
        text=texts(["x", "y"], of="tests"),
        text_at=np.array(text_at),
    )


def test_images_and_texts_are_summed_as_they_are():
    found = fusion.embed(Known(VECTORS, abilities=BOTH), items([0, 1, -1, 1], [0, -1, 1, 0]), how="sum")
    assert found.tolist() == [[1, 0, 3], [0, 2, 0], [4, 0, 0], [0, 2, 3]]


def test_one_modality_is_not_copied_but_ordered():
    model = Known(VECTORS, abilities=("embed_image",))
    column = images([b"a", b"b"], of="tests")
    one = Mixed(names=("p", "q", "r"), image=column, image_at=np.array([1, 0, 1]))
    assert fusion.embed(model, one, how="sum").tolist() == [[0, 2, 0], [1, 0, 0], [0, 2, 0]]


def test_of_late_interaction_an_item_has_the_vectors_of_its_image_and_of_its_text():
    model = Known({b"a": np.eye(2), b"b": [[5, 5]], "x": [[1, 1]], "y": [[2, 2]]}, abilities=BOTH, late=True)
    a, b, x, y = [[1, 0], [0, 1]], [[5, 5]], [[1, 1]], [[2, 2]]
    one = Mixed(names=("p", "q", "r"), image=images([b"a", b"b"], of="tests"), image_at=np.array([1, 0, 1]))
    for mixed, wanted in ((one, [b, a, b]), (items([0, 1, -1, 1], [0, -1, 1, 0]), [a + x, b, y, b + x])):
        found = fusion.embed(model, mixed, how="sum")
        assert [part.tolist() for part in found.read(np.arange(len(mixed)))] == wanted
        assert found.lengths.tolist() == [len(part) for part in wanted]
        assert found.read(np.array([2, 0]))[0].tolist() == wanted[2]


def test_what_does_not_fit_is_named():
    model = Known(VECTORS, abilities=BOTH)
    with pytest.raises(BadInput, match="'m1' has neither"):
        fusion.embed(model, items([0, -1], [0, -1]), how="sum")
    with pytest.raises(CannotDo, match="3 dimensions, texts in 2"):
        fusion.embed(Known({**VECTORS, "x": [1, 1], "y": [1, 1]}, abilities=BOTH), items([0], [0]), how="sum")
