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


ORDERED = Mixed(names=("p", "q", "r"), image=images([b"a", b"b"], of="tests"), image_at=np.array([1, 0, 1]))
BY_TWO = items([0, 1, -1, 1], [0, -1, 1, 0])


def test_images_and_texts_are_summed_as_they_are_and_one_modality_is_ordered():
    both = [[1, 0, 3], [0, 2, 0], [4, 0, 0], [0, 2, 3]]
    for mixed, able, wanted in ((BY_TWO, BOTH, both), (ORDERED, BOTH[:1], [[0, 2, 0], [1, 0, 0], [0, 2, 0]])):
        assert fusion.embed(Known(VECTORS, abilities=able), mixed, how="sum").tolist() == wanted


def test_of_late_interaction_an_item_has_the_vectors_of_its_image_and_of_its_text():
    vectors = {b"a": [[1, 0], [0, 1]], b"b": [[5, 5]], "x": [[1, 1]], "y": [[2, 2]]}
    model, (a, b, x, y) = Known(vectors, abilities=BOTH, late=True), vectors.values()
    for mixed, wanted in ((ORDERED, [b, a, b]), (BY_TWO, [a + x, b, y, b + x])):
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
