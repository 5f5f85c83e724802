"""Marks of a dumbbell chart: all values and intervals on the axis, at their places, with round ticks."""

from __future__ import annotations

import math
import random

import pytest

from leaderboard.data.comparison import ComparedLine, ComparedValue
from leaderboard.pages.compare.dumbbells import axis, dumbbell

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


def test_everything_lies_on_the_axis_between_its_ticks():
    draw = random.Random(3)
    for _ in range(300):
        size = 10 ** draw.uniform(-3, 3)
        values = [draw.uniform(-5, 5) * size for _ in range(draw.randrange(1, 5))]
        on = axis([line(*((value, value - size / 3, value + size / 5) for value in values))])
        least, most = min(values) - size / 3, max(values) + size / 5
        assert on.low < on.ticks[0] <= least + 1e-9 * size and most - 1e-9 * size <= on.ticks[-1] < on.high
        assert 2 <= len(on.ticks) <= 8
        places, texts = zip(*on.marked(), strict=True)
        assert float(places[0]) > 0 and float(places[-1]) < 100 and sorted(places, key=float) == list(places)
        shown = [float(text.replace("−", "-")) for text in texts]
        assert shown == pytest.approx(on.ticks, abs=1e-9 * size) and len(set(texts)) == len(texts)


def test_marks_stand_where_their_values_are():
    lines = [line((40.0, 35.0, 45.0), (60.0, NAN, NAN), (NAN, NAN, NAN))]
    on = axis(lines)
    bell = dumbbell(lines[0], ("A", "B", "C"), on=on)
    at = lambda value: 100 * (value - on.low) / (on.high - on.low)  # noqa: E731
    first, second = bell.dots
    assert (first.index, second.index) == (0, 1), "a row without a value has no mark"
    assert float(first.position) == pytest.approx(at(40), abs=0.01)
    drawn = [float(each) for each in (first.left, first.width, bell.left, bell.width)]
    assert drawn == pytest.approx([at(35), at(45) - at(35), at(40), at(60) - at(40)], abs=0.02)
    assert first.text == "A: 40.0, 95% interval 35.0 to 45.0"
    assert (second.left, second.text) == ("", "B: 60.0, interval not known")
    assert float(first.shift) < float(second.shift)
