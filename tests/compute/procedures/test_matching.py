"""References: ARO's and ImageCoDe's definitions written out row by row."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from compute.content.items import images, texts
from compute.procedures import matching
from compute.tasks.data import Matches
from tests.compute.procedures.known import BOTH, Known, shown

N = 200


def made(a, c):
    """A task, its embeddings, its cosines [rows, images, captions]."""
    rng = np.random.default_rng(10 * a + c)
    pictures = rng.standard_normal((a, N, 6)).astype(np.float32)
    words = rng.standard_normal((c, N, 6)).astype(np.float32)
    known = {}
    data = Matches(
        names=tuple(map(str, range(N))),
        images=tuple(shown(side, f"image {at} ", known=known) for at, side in enumerate(pictures)),
        captions=tuple(shown(side, f"caption {at} ", kind="text", known=known) for at, side in enumerate(words)),
    )
    return data, known, np.stack([cosine_similarity(pictures[:, row], words[:, row]) for row in range(N)])


def test_of_two_images_and_two_captions_a_row_is_right_where_both_sides_are():
    """As in Winoground, whose own figures are compared with the public code in test_parity.py."""
    data, known, _ = made(2, 2)
    items = matching.run(Known(known, abilities=BOTH), data, {}).items
    right = (items["text_accuracy"] * items["image_accuracy"]).astype(bool)
    assert 0 < right.mean() < 1
    for found in (items["group_accuracy"] == 1, items["correct"].astype(bool), items["value"] > 0):
        assert found.tolist() == right.tolist()


@pytest.mark.parametrize("images, captions, side", [(1, 5, "caption"), (10, 1, "image")])
def test_one_against_many_as_in_aro_and_imagecode(images, captions, side):
    data, known, cosines = made(images, captions)
    items = matching.run(Known(known, abilities=BOTH), data, {}).items
    best = cosines.reshape(N, -1).argmax(axis=1)
    metric = {"caption": "text_accuracy", "image": "image_accuracy"}[side]
    assert items[metric].tolist() == (best == 0).astype(float).tolist()
    assert items["answer"].tolist() == [f"{side} {at + 1}" for at in best]
    assert [name for name in items.columns if name.endswith("_accuracy")] == [metric]
    assert (len(items["detail"][0]["images"]), len(items["detail"][0]["texts"])) == (images, captions)


def test_ties_are_no_gift_to_the_first():
    image, caption = images([b"i"], of="tests"), texts(["same"], of="tests")
    model = Known({b"i": [1, 2], "same": [2, 1]}, abilities=BOTH)
    data = Matches(names=("r",), images=(image,), captions=(caption,) * 5)
    assert matching.run(model, data, {}).items["text_accuracy"].tolist() == [pytest.approx(1 / 5)]
    evidence = matching.run(model, replace(data, images=(image,) * 2, captions=(caption,) * 2), {})
    (found,) = evidence.items.to_dict("records")
    assert evidence.settings["tied"] == 1 and found["correct"] is None
    assert (found["text_accuracy"], found["image_accuracy"], found["group_accuracy"]) == (1 / 4, 1 / 4, 1 / 16)
