"""Marks of a dumbbell chart: all values and intervals on the axis, at their places, with round ticks."""

from __future__ import annotations

import math
import random

import pytest

from leaderboard.pages.board.comparison import ComparedLine, ComparedValue
from leaderboard.pages.board.dumbbells import axis, dumbbell

NAN = math.nan


def line(*values: tuple[float, float, float], kind: str = "task") -> ComparedLine:
    return ComparedLine(
        key="t",
        title="Task",
        kind=kind,
        about="",
        higher=True,
        percent=True,
        digits=1,
        values=tuple(ComparedValue(value=value, low=low, high=high, few=False, marks=0) for value, low, high in values),
        tests=(),
    )


def test_everything_lies_on_the_axis_between_its_ticks() -> None:
    draw = random.Random(3)
    for _ in range(300):
        size = 10 ** draw.uniform(-3, 3)
        middle = draw.uniform(-5, 5) * size
        values = [(middle + draw.random() * size,) * 1 for _ in range(draw.randrange(1, 5))]
        lines = [line(*((value, value - size / 3, value + size / 5) for (value,) in values))]
        on = axis(lines)
        ends = [end for value in lines[0].values for end in (value.low, value.high)]
        assert on.low < on.ticks[0] <= min(ends) + 1e-9 * size and max(ends) - 1e-9 * size <= on.ticks[-1] < on.high
        assert 2 <= len(on.ticks) <= 8
        places = [float(position) for position, _ in on.marked()]
        assert places == sorted(places) and places[0] > 0 and places[-1] < 100
        texts = [text for _, text in on.marked()]
        assert len(set(texts)) == len(texts), texts
        assert all(
            math.isclose(float(text.replace("−", "-")), tick, abs_tol=1e-9 * size)
            for text, tick in zip(texts, on.ticks, strict=True)
        )


def test_marks_stand_where_their_values_are() -> None:
    lines = [line((40.0, 35.0, 45.0), (60.0, NAN, NAN), (NAN, NAN, NAN))]
    on = axis(lines)
    bell = dumbbell(lines[0], ("A", "B", "C"), on=on)
    at = lambda value: 100 * (value - on.low) / (on.high - on.low)  # noqa: E731
    first, second = bell.dots
    assert (first.index, second.index) == (0, 1), "a row without a value has no mark"
    assert float(first.position) == pytest.approx(at(40), abs=0.01)
    assert (float(first.left), float(first.width)) == (
        pytest.approx(at(35), abs=0.01),
        pytest.approx(at(45) - at(35), abs=0.02),
    )
    assert (float(bell.left), float(bell.width)) == (
        pytest.approx(at(40), abs=0.01),
        pytest.approx(at(60) - at(40), abs=0.02),
    )
    assert first.text == "A: 40.0, 95% interval 35.0 to 45.0"
    assert (second.left, second.text) == ("", "B: 60.0, interval not known")
    assert float(first.shift) < float(second.shift)
