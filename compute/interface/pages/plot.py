"""The axes of a plot in a page of one file: from values to units of the drawing, round numbers, names beside points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from compute.rounding import rounded

WIDTH = 400  # units: about the pixels of a phone, whose type plot.css sizes
LEFT, TOP, BOTTOM = 36, 24, 34  # units: the numbers upwards; the title upwards; the numbers and the title across
STEPS = (1, 2, 5)  # of the round numbers, times a power of ten
TICKS = 5  # at most as many between the ends


@dataclass(frozen=True, kw_only=True)
class PlotAxis:
    """Values from `low` to `high` between the units `start` and `end`, and the round numbers to write beside it."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()  # units, text

    def __call__(self, value: float) -> float:
        """Where a value lies, in units."""
        return round(self.start + (value - self.low) / ((self.high - self.low) or 1) * (self.end - self.start), 1)


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A drawing of both axes, in units; plot.html draws it."""

    height: float
    x: PlotAxis
    y: PlotAxis
    width: float = WIDTH

    @property
    def left(self) -> float:
        return self.x.start

    @property
    def right(self) -> float:
        return self.x.end

    @property
    def top(self) -> float:
        return self.y.end

    @property
    def bottom(self) -> float:
        return self.y.start


def plot(
    *,
    across: tuple[float, float],
    up: tuple[float, float],
    height: float,
    right: float,
    counts: bool = False,
) -> Plot:
    """Axes over values from end to end, `right` units free beside them.

    counts: across are whole numbers, written with commas.
    """

    def axis(ends: tuple[float, float], start: float, end: float, *, whole: bool) -> PlotAxis:
        bare = PlotAxis(low=ends[0], high=ends[1], start=start, end=end)
        values = [tick for tick in ticks(*ends) if not whole or tick == int(tick)]
        digits = 0 if all(tick == int(tick) for tick in values) else 1
        texts = [f"{tick:,.0f}" if whole else rounded(tick, digits) for tick in values]
        return replace(bare, ticks=tuple(zip(map(bare, values), texts, strict=True)))

    return Plot(
        height=height,
        x=axis(across, LEFT, WIDTH - right, whole=counts),
        y=axis(up, height - BOTTOM, TOP, whole=False),
    )


def ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis in percent or points: the values with a margin of a tenth, at least a point."""
    margin = max(1.0, (max(values) - min(values)) / 10)
    return min(values) - margin, max(values) + margin


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends, TICKS + 1 at most."""
    if high <= low:
        return [low]
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (*STEPS, 10) if each * power >= raw * (1 - 1e-9))
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
