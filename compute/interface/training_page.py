"""What a training run gave and what it cost, as one HTML file: both curves, and the table before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compute.pages import one_file
from compute.rounding import rounded
from compute.training import curves
from compute.training.curves import TaskChange
from compute.training.run_folder import StepMeasurement

# Units of the drawing: 400 are about the pixels of a phone, whose type training.css sizes.
WIDTH, HEIGHT = 400, 240
LEFT, RIGHT, TOP, BOTTOM = 36, 360, 24, 206  # of the axes; the last value of each curve is on their right
LABEL_GAP = 13  # between two curves' last values
KEYS = {"core": "of-0", "ood": "of-1"}  # of training.css


@dataclass(kw_only=True)
class _CurveLine:
    """A curve in units of the drawing."""

    key: str
    dots: list[tuple[float, float]]
    name: str  # with the value of the step that was stored
    end: str  # its last value
    end_y: float


def page(
    *, title: str, lead: Sequence[str], points: Sequence[StepMeasurement], rows: Sequence[TaskChange], best: int | None
) -> str:
    """The page as text. lead: sentences above; points: the base first; rows: the final table, averages before tasks.

    `best`: the step whose weights were stored; None: the last.
    """
    drawn = {
        side: {point.step: value for point in points if (value := getattr(point, side)) is not None}
        for side in curves.TITLES
    }
    values = [100 * value for part in drawn.values() for value in part.values()]
    margin = max(1.0, (max(values) - min(values)) / 10)
    low, high, last = max(0.0, min(values) - margin), min(100.0, max(values) + margin), points[-1].step

    def x(step: float) -> float:
        return round(LEFT + step / (last or 1) * (RIGHT - LEFT), 1)

    def y(percent: float) -> float:
        return round(BOTTOM - (percent - low) / (high - low) * (BOTTOM - TOP), 1)

    lines = [
        _CurveLine(
            key=KEYS[side],
            dots=[(x(step), y(100 * value)) for step, value in part.items()],
            name=f"{curves.TITLES[side]} {_percent(part.get(best, part[max(part)]))}",
            end=_percent(part[max(part)]),
            end_y=y(100 * part[max(part)]),
        )
        for side, part in drawn.items()
        if part
    ]
    if len(lines) == 2 and abs(lines[0].end_y - lines[1].end_y) < LABEL_GAP:
        middle = (lines[0].end_y + lines[1].end_y) / 2
        upper, lower = sorted(lines, key=lambda line: line.end_y)
        upper.end_y, lower.end_y = middle - LABEL_GAP / 2, middle + LABEL_GAP / 2
    return one_file.render(
        "training.html",
        styles=("training.css",),
        title=title,
        lead=lead,
        plot={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        across=[(x(tick), f"{tick:,.0f}") for tick in ticks(0, last) if tick == int(tick)],
        up=[(y(tick), f"{tick:g}") for tick in ticks(low, high)],
        lines=lines,
        best=None if best is None else (x(best), f"{best:,}"),
        headings=curves.HEADINGS,
        rows=[(row, curves.numbers(row)) for row in rows],
        points=[(f"{point.step:,}", _percent(point.core), _percent(point.ood)) for point in points],
    )


def ticks(low: float, high: float) -> list[float]:
    """At most six round numbers between two ends."""
    if high <= low:
        return [low]
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw * (1 - 1e-9))
    return [round(number * step, 9) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _percent(value: float | None) -> str:
    return "" if value is None else rounded(value, 1, scale=100)
