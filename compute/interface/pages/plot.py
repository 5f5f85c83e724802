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
LETTER, LINE = 7.2, 13.0  # units: how wide a letter is and how high a line, at the largest type of plot.css
GAP = 6.0  # units between a point and its name


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
    sign: bool = False,
) -> Plot:
    """Axes over values from end to end, `right` units free beside them.

    counts: across are whole numbers, written with commas. sign: the others have one.
    """

    def axis(ends: tuple[float, float], start: float, end: float, *, whole: bool) -> PlotAxis:
        bare = PlotAxis(low=ends[0], high=ends[1], start=start, end=end)
        values = [tick for tick in ticks(*ends) if not whole or tick == int(tick)]
        digits = 0 if all(tick == int(tick) for tick in values) else 1
        texts = [f"{tick:,.0f}" if whole else rounded(tick, digits, sign=sign) for tick in values]
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


@dataclass(frozen=True, kw_only=True)
class Label:
    """A name beside its point, in units: where its text is anchored."""

    x: float
    y: float
    anchor: str  # start | middle | end, as SVG has it
    text: str


def labels(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    *,
    beside: Sequence[tuple[float, float]] = (),
    within: Plot,
) -> list[Label]:
    """A name for every point, above it, below, or beside it: the first where it crosses no other name, point or edge.

    A name that is free nowhere stands where it covers least. `beside`: smaller points without a name.
    """
    taken = [(x - size, y - size, x + size, y + size) for part, size in ((points, GAP), (beside, 2.0)) for x, y in part]
    made = []
    for at, ((x, y), name) in enumerate(zip(points, names, strict=True)):
        options = (
            Label(x=x, y=y - GAP - 2, anchor="middle", text=name),
            Label(x=x, y=y + GAP + LINE - 4, anchor="middle", text=name),
            Label(x=x + GAP + 2, y=y + 4, anchor="start", text=name),
            Label(x=x - GAP - 2, y=y + 4, anchor="end", text=name),
        )
        others = [box for index, box in enumerate(taken) if index != at]
        best = min(options, key=lambda label: _covered(_box(label), others, within))  # noqa: B023
        taken.append(_box(best))
        made.append(best)
    return made


def _box(label: Label) -> tuple[float, float, float, float]:
    wide = LETTER * len(label.text)
    left = label.x - {"start": 0.0, "middle": wide / 2, "end": wide}[label.anchor]
    return left, label.y - LINE + 3, left + wide, label.y + 3


def _covered(
    box: tuple[float, float, float, float], others: Sequence[tuple[float, float, float, float]], within: Plot
) -> float:
    """The area of a box that others cover, and ten times what of it lies outside the axes."""
    shared = sum(_overlap(box, other) for other in others)
    inside = _overlap(box, (within.left, within.top, within.width, within.bottom))
    return shared + 10 * ((box[2] - box[0]) * (box[3] - box[1]) - inside)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
