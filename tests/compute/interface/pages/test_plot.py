"""Axes: values at their heights, round numbers, and names that cover neither each other nor the edges."""

from __future__ import annotations

import pytest

from compute.interface.pages.plot import plot, ticks


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
    fine = plot(across=(0, 4000), up=(-0.5, 0.5), height=200, right=0, counts=True)
    assert [text for _, text in fine.y.ticks] == ["-0.4", "-0.2", "0.0", "0.2", "0.4"]
    assert [text for _, text in fine.x.ticks] == ["0", "1,000", "2,000", "3,000", "4,000"]
    few = plot(across=(0, 3), up=(0, 4000), height=200, right=0, counts=True)
    assert [text for _, text in few.x.ticks] == ["0", "1", "2", "3"], "no half of a step"
