"""What a training run gave and what it cost, as one HTML file: both curves, and the table before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compute.interface import one_file
from compute.rounding import rounded
from compute.training.unisim import curves
from compute.training.unisim.curves import TaskChange

WIDTH, HEIGHT = 640, 280  # of the plot, in pixels
LEFT, RIGHT, TOP, BOTTOM = 40, 150, 12, 36  # margins: axis labels; names of the curves at their ends
LABEL_GAP = 16  # pixels between two curves' names
STEPS = (1, 2, 5)  # of the axes, times a power of ten
TICKS = 5  # at most as many between the ends


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """Both averages after so many steps; None where a side is not measured."""

    step: int
    core: float | None
    ood: float | None


@dataclass(frozen=True, kw_only=True)
class _CurveLine:
    """A curve in pixels."""

    key: str
    points: str  # of the polyline
    dots: tuple[tuple[float, float], ...]
    start: float  # the base's height
    name: str
    name_y: float


def page(
    *, title: str, lead: Sequence[str], points: Sequence[CurvePoint], rows: Sequence[TaskChange], best: int | None
) -> str:
    """The page as text. lead: sentences above; points: the base first; rows: the final table, averages before tasks.

    `best`: the step whose weights were stored; None: the last.
    """
    first, last = points[0].step, points[-1].step
    drawn = {
        side: [(point.step, value) for point in points if (value := getattr(point, side)) is not None]
        for side in curves.TITLES
    }
    values = [100 * value for part in drawn.values() for _, value in part]
    low, high = _percent_ends(values)

    def x(step: float) -> float:
        return round(LEFT + (step - first) / max(1, last - first) * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        return round(TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    lines = [
        _line(side, [(x(step), y(100 * value)) for step, value in part], part[-1][1])
        for side, part in drawn.items()
        if part
    ]
    return one_file.render(
        "training_page.html",
        style="training_page.css",
        title=title,
        lead=lead,
        width=WIDTH,
        height=HEIGHT,
        plot={"left": LEFT, "right": WIDTH - RIGHT, "bottom": HEIGHT - BOTTOM, "top": TOP},
        heights=[(y(tick), rounded(tick, 0 if high - low > TICKS else 1)) for tick in ticks(low, high)],
        steps=[(x(tick), f"{tick:,.0f}") for tick in ticks(first, last) if tick == int(tick)],
        lines=_separate(lines),
        best=None if best is None else (x(best), f"{best:,}"),
        headings=curves.HEADINGS,
        rows=[(row, curves.numbers(row)) for row in rows],
        points=[(f"{point.step:,}", _cell(point.core), _cell(point.ood)) for point in points],
    )


def _line(side: str, dots: list[tuple[float, float]], end: float) -> _CurveLine:
    return _CurveLine(
        key=side,
        points=" ".join(f"{x},{y}" for x, y in dots),
        dots=tuple(dots),
        start=dots[0][1],
        name=f"{curves.TITLES[side]} {rounded(end, 1, scale=100)}",
        name_y=dots[-1][1],
    )


def _separate(lines: list[_CurveLine]) -> list[_CurveLine]:
    """The curves with their names LABEL_GAP apart where the ends are closer."""
    if len(lines) == 2 and abs(lines[0].name_y - lines[1].name_y) < LABEL_GAP:
        middle = (lines[0].name_y + lines[1].name_y) / 2
        down = 1 if lines[0].name_y > lines[1].name_y else -1
        heights = (middle + down * LABEL_GAP / 2, middle - down * LABEL_GAP / 2)
        lines = [
            _CurveLine(**{**vars(line), "name_y": round(height, 1)})
            for line, height in zip(lines, heights, strict=True)
        ]
    return lines


def _percent_ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = axis_ends(values)
    return max(0.0, low), min(100.0, high)


def axis_ends(values: Sequence[float]) -> tuple[float, float]:
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


def _cell(value: float | None) -> str:
    return "" if value is None else rounded(value, 1, scale=100)
