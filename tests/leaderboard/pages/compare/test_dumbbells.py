"""The axis of a dumbbell chart: all values and intervals on it, at their places, with round ticks."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from leaderboard.data.comparison import ComparedValue
from leaderboard.pages.compare.dumbbells import axis


def test_everything_lies_on_the_axis_between_its_ticks():
    draw = random.Random(3)
    for _ in range(300):
        size = 10 ** draw.uniform(-3, 3)
        values = [draw.uniform(-5, 5) * size for _ in range(draw.randrange(1, 5))]
        least, most = min(values) - size / 3, max(values) + size / 5
        marks = [ComparedValue(value=at, low=at - size / 3, high=at + size / 5, few=False, marks=0) for at in values]
        on = axis([SimpleNamespace(values=marks)])
        assert on.low < on.ticks[0] <= least + 1e-9 * size and most - 1e-9 * size <= on.ticks[-1] < on.high
        assert 2 <= len(on.ticks) <= 8
        places, texts = zip(*on.marked(), strict=True)
        assert float(places[0]) > 0 and float(places[-1]) < 100 and sorted(places, key=float) == list(places)
        shown = [float(text.replace("−", "-")) for text in texts]
        assert shown == pytest.approx(on.ticks, abs=1e-9 * size) and len(set(texts)) == len(texts)
