"""Axes: values at their heights, round numbers, and names that cover neither each other nor the edges."""

from __future__ import annotations

import pytest

from compute.interface.pages.plot import GAP, LETTER, LINE, Label, labels, plot, ticks


def test_values_lie_between_the_ends_and_upwards_is_more() -> None:
    drawn = plot(across=(0, 10), up=(20, 40), height=200, right=50)
    assert drawn.x(0) == drawn.left and drawn.x(10) == drawn.right == drawn.width - 50
    assert drawn.y(20) == drawn.bottom and drawn.y(40) == drawn.top < drawn.bottom
    assert drawn.x(5) == pytest.approx((drawn.left + drawn.right) / 2)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 2, 4, 6, 8, 10]), (37, 61, [40, 45, 50, 55, 60]), (-0.5, 0.5, [-0.4, -0.2, 0, 0.2, 0.4]), (3, 3, [3])],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_numbers_have_the_decimals_that_tell_them_apart() -> None:
    fine = plot(across=(0, 4000), up=(-0.5, 0.5), height=200, right=0, counts=True, sign=True)
    assert [text for _, text in fine.y.ticks] == ["-0.4", "-0.2", "0.0", "+0.2", "+0.4"]
    assert [text for _, text in fine.x.ticks] == ["0", "1,000", "2,000", "3,000", "4,000"]
    few = plot(across=(0, 3), up=(0, 4000), height=200, right=0, counts=True)
    assert [text for _, text in few.x.ticks] == ["0", "1", "2", "3"], "no half of a step"


def box(label: Label) -> tuple[float, float, float, float]:
    wide = LETTER * len(label.text)
    left = label.x - {"start": 0, "middle": wide / 2, "end": wide}[label.anchor]
    return left, label.y - LINE + 3, left + wide, label.y + 3


def test_a_name_stands_above_its_point_where_it_is_free() -> None:
    drawn = plot(across=(0, 10), up=(0, 10), height=300, right=0)
    [label] = labels([(200, 150)], ["distill 1"], within=drawn)
    assert (label.x, label.anchor) == (200, "middle") and label.y < 150 - GAP


def test_names_of_close_points_cross_neither_each_other_nor_the_edges() -> None:
    drawn = plot(across=(0, 10), up=(0, 10), height=300, right=12)
    points = [(200.0, 150.0), (215.0, 152.0), (205.0, 165.0), (395.0, 30.0), (390.0, 250.0)]
    boxes = [
        box(label)
        for label in labels(
            points, ["interpolate 0.25", "distill 10", "none", "distill 1", "features 0.1"], within=drawn
        )
    ]
    for at, one in enumerate(boxes):
        assert one[0] >= 0 and one[2] <= drawn.width and one[3] <= drawn.bottom
        for other in boxes[at + 1 :]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
