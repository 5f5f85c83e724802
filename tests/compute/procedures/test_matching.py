"""Rows by hand; accuracies are compared with the public code in tests/compute/test_parity.py."""

import numpy as np
import pytest

from compute.content.items import images, texts
from compute.procedures import matching
from compute.tasks.data import Matches
from tests.compute.procedures.known import BOTH, Known

KNOWN = {"east": [1, 0], "north": [0, 1], "between": [0.6, 0.8], b"east": [1, 0], b"north": [0, 1]}


@pytest.mark.parametrize(
    "shown, said, answers, values, worth",
    [
        # One image, as in ARO: the first of several captions, none of which is preferred where they tie.
        (
            ["east", "north", "north"],
            ["east north between", "between east north", "north north east"],
            ["caption 1", "caption 3", "caption 1"],
            [0.4, -0.2, 0],
            {"text_accuracy": [1, 0, 0.5]},
        ),
        # One caption, as in ImageCoDe.
        (["east north"] * 2, ["between", "east"], ["image 2", "image 1"], [-0.2, 1], {"image_accuracy": [0, 1]}),
        # Two of each, as in Winoground: a row is right where both sides are.
        (
            ["east north", "north east", "east north", "east east"],
            ["east north", "east north", "between north", "east east"],
            ["caption 1, 2", "caption 2, 1", "caption 1, 2", "caption 1, 1"],
            [1, -1, -0.2, 0],
            {
                "text_accuracy": [1, 0, 1, 0.25],
                "image_accuracy": [1, 0, 0, 0.25],
                "group_accuracy": [1, 0, 0, 0.0625],
            },
        ),
    ],
)
def test_each_goes_with_its_own(shown, said, answers, values, worth):
    pictures, captions = (list(zip(*map(str.split, rows), strict=True)) for rows in (shown, said))
    data = Matches(
        names=tuple(map(str, range(len(shown)))),
        images=tuple(images([name.encode() for name in column], of="tests") for column in pictures),
        captions=tuple(texts(column, of="tests") for column in captions),
    )
    found = matching.run(Known(KNOWN, abilities=BOTH), data, {})
    items, right = found.items, list(worth.values())[-1]
    assert items["answer"].tolist() == answers and found.settings["tied"] == sum(0 < each < 1 for each in right)
    assert items["correct"].tolist() == [{0: False, 1: True}.get(each) for each in right]
    np.testing.assert_allclose(items["value"], values, atol=1e-6)
    assert {name: items[name].tolist() for name in items if name.endswith("_accuracy")} == worth
    detail = items["detail"][0]
    assert (len(detail["images"]), len(detail["texts"])) == (len(pictures), len(captions))
