"""The axis of a dumbbell chart: all values and intervals on it, at their places, with round ticks."""

import random
from types import SimpleNamespace

import pytest

from leaderboard.data.comparison import ComparedValue
from leaderboard.pages.compare.dumbbells import axis


def test_everything_lies_on_the_axis_with_its_ticks():
    draw = random.Random(3)
    for _ in range(300):
        size = 10 ** draw.uniform(-3, 3)
        values = [draw.uniform(-5, 5) * size for _ in range(draw.randrange(1, 5))]
        marks = [ComparedValue(value=at, low=at - size / 3, high=at + size / 5, few=False) for at in values]
        on = axis([SimpleNamespace(values=marks)])
        ends = [float(on.position(end)) for end in (min(values) - size / 3, max(values) + size / 5)]
        assert 2 < ends[0] < ends[1] < 98
        places, texts = zip(*on.marked(), strict=True)
        assert 2 <= len(texts) <= 7 and list(places) == sorted(places, key=float)
        shown = [float(text.replace("−", "-")) for text in texts]
        assert [float(on.position(at)) for at in shown] == pytest.approx([float(at) for at in places], abs=0.02)
