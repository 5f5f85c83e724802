"""Where marks are in the page's small figures: percent of the width from the left, of the height from the top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LOWEST = -1.0  # of an axis: Controllability has no lower bound
TOP = math.log(10)  # of Smoothness


@dataclass(frozen=True, kw_only=True)
class ValueAxis:
    """A horizontal axis in stored units."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Percent of the width; values beyond an end stand at the end."""
        share = (value - self.low) / (self.high - self.low)
        return 100 * min(max(share, 0.0), 1.0)

    def width(self, low: float, high: float) -> float:
        """Percent of the width between two values."""
        return self.at(high) - self.at(low)


def axis(metric: str, values: Sequence[float]) -> ValueAxis:
    """The axis of a metric's values, over its whole range where it is bounded."""
    if metric == "smoothness":
        return ValueAxis(low=0.0, high=TOP)
    least = min((value for value in values), default=0.0)
    return ValueAxis(low=max(LOWEST, min(0.0, math.floor(least * 5) / 5)), high=1.0)


def line(points: Sequence[tuple[float, float]], *, width: float = 100.0, height: float = 100.0) -> str:
    """Points (shares from the left and from the bottom) as the `points` of a polyline in a box."""
    return " ".join(f"{x * width},{(1 - y) * height}" for x, y in points)
