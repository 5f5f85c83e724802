"""Averages by training step as an SVG without scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from compute.pages import one_file
from compute.rounding import rounded

# Units of the drawing: 400 are about the pixels of a phone; training.css sets the type size.
WIDTH, HEIGHT = 400, 240
LEFT, RIGHT, TOP, BOTTOM = 36, 360, 24, 206  # of the axes; the last value of each curve is written to their right
LABEL_GAP = 13  # between two curves' last values


def curves(parts: Mapping[int, Sequence[tuple[float, float]]], *, marked: float | None) -> Any:
    """Returns an SVG of at most two curves, as markup: points (step, percent), keyed by colour number. Dashed lines
    mark the first value of each curve and the step `marked`.
    """
    from markupsafe import Markup

    values = [value for points in parts.values() for _, value in points]
    margin = max((max(values) - min(values)) / 10, 1.0)
    low, high = max(0.0, min(values) - margin), min(100.0, max(values) + margin)
    first, last = (end(at for points in parts.values() for at, _ in points) for end in (min, max))

    def across(at: float) -> float:
        return round(LEFT + (at - first) / ((last - first) or 1) * (RIGHT - LEFT), 1)

    def up(value: float) -> float:
        return round(BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP), 1)

    ends = [up(points[-1][1]) for points in parts.values()]
    if len(parts) == 2 and abs(ends[0] - ends[1]) < LABEL_GAP:
        middle, way = sum(ends) / 2, 1 if ends[0] > ends[1] else -1
        ends = [middle + way * LABEL_GAP / 2, middle - way * LABEL_GAP / 2]
    drawn = one_file.part(
        "curves.html",
        plot={"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        across=[(across(tick), f"{tick:,.0f}") for tick in ticks(first, last) if tick == int(tick)],
        up=[(up(tick), f"{tick:g}") for tick in ticks(low, high)],
        lines=[
            {
                "place": place,
                "dots": [(across(at), up(value)) for at, value in points],
                "end": rounded(points[-1][1], 1),
                "end_y": end,
            }
            for (place, points), end in zip(parts.items(), ends, strict=True)
        ],
        marked=None if marked is None else across(marked),
    )
    return Markup(drawn)


def ticks(low: float, high: float) -> list[float]:
    """Returns at most six round numbers between two ends."""
    if high <= low:
        return [low]
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw * (1 - 1e-9))
    return [round(number * step, 9) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
