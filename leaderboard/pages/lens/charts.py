"""The small figures: points with whiskers, in percent of a box that stretches with the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compute.analysis.generators.sensitivity import Sensitivity
from leaderboard.pages.lens.study import SizeCurve, SizePoint

EDGE = 4.0  # percent of the box that stay free at either end


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Points (x, y), whiskers (x, from y, to y) and a line through the points; y grows downwards, 0 to 100."""

    digits: int  # decimals of `highest` and `lowest` as shown
    highest: float  # in the metric's stored units, at the top
    lowest: float
    top: float  # where `highest` is
    bottom: float
    ticks: tuple[tuple[float, str], ...]
    points: tuple[tuple[float, float], ...]
    whiskers: tuple[tuple[float, float, float], ...]
    zero: float | None = None
    line: tuple[tuple[float, float], ...] = ()
    band: tuple[tuple[float, float], ...] = ()  # corners


def decimals(*values: float | None, scale: float) -> int:
    """How many show four significant digits of the largest of `values`, which `scale` brings to shown units."""
    largest = max((abs(value) * scale for value in values if value is not None), default=0.0)
    return min(max(3 - math.floor(math.log10(largest)), 0), 9) if largest > 0 else 1


def of_fault(reading: Sensitivity, *, scale: float = 1.0) -> Chart:
    """The change from no fault by strength, up is worse."""
    last = reading.strengths[-1]
    xs = [_x(strength / last) for strength in reading.strengths]
    low, high = min(0.0, *reading.change_low), max(0.0, *reading.change_high)
    points = tuple((x, _y(value, low, high)) for x, value in zip(xs, reading.change, strict=True))
    ends = zip(xs, reading.change_low, reading.change_high, strict=True)
    return Chart(
        digits=decimals(low, high, scale=scale),
        highest=high,
        lowest=low,
        top=EDGE,
        bottom=100 - EDGE,
        ticks=tuple((x, f"{strength:g}") for x, strength in zip(xs, reading.strengths, strict=True)),
        points=points,
        whiskers=tuple((x, _y(top, low, high), _y(bottom, low, high)) for x, bottom, top in ends),
        zero=_y(0.0, low, high),
        line=points,
    )


def of_sizes(curve: SizeCurve, *, scale: float = 1.0) -> Chart:
    """A metric by number of prompts, spaced as 1 / N, so that a bias in 1 / N is a straight line; infinity is right."""
    fewest = curve.sizes[0]
    at: dict[str, tuple[float, SizePoint]] = {
        f"{size:,}": (_x(1 - fewest / size), point) for size, point in curve.points.items()
    }
    if curve.limit is not None:
        at["∞"] = (_x(1.0), curve.limit)
    low, high = _range([point for _, point in at.values()])
    line: tuple[tuple[float, float], ...] = ()
    band: tuple[tuple[float, float], ...] = ()
    if curve.limit is not None:
        right, (most, whole) = _x(1.0), at[f"{curve.sizes[-1]:,}"]
        line = ((most, _y(whole.value, low, high)), (right, _y(curve.limit.value, low, high)))
        band = _band({most: whole, right: curve.limit}, low, high)
    return Chart(
        digits=decimals(low, high, scale=scale),
        highest=high,
        lowest=low,
        top=EDGE,
        bottom=100 - EDGE,
        ticks=tuple((x, label) for label, (x, _) in at.items()),
        points=tuple((x, _y(point.value, low, high)) for x, point in at.values()),
        whiskers=tuple(
            (x, _y(point.high, low, high), _y(point.low, low, high))
            for x, point in at.values()
            if point.low is not None and point.high is not None
        ),
        zero=_y(0.0, low, high) if low < 0 < high else None,
        line=line,
        band=band,
    )


def _band(ends: Mapping[float, SizePoint], low: float, high: float) -> tuple[tuple[float, float], ...]:
    """The corners between two intervals; none where a point has none."""
    known = [(x, point.low, point.high) for x, point in ends.items() if point.low is not None]
    if len(known) < len(ends):
        return ()
    upper = [(x, _y(top, low, high)) for x, _, top in known if top is not None]
    lower = [(x, _y(bottom, low, high)) for x, bottom, _ in known if bottom is not None]
    return (*upper, *reversed(lower))


def _range(points: Sequence[SizePoint]) -> tuple[float, float]:
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    return min(ends), max(ends)


def _x(share: float) -> float:
    return round(EDGE + share * (100 - 2 * EDGE), 2)


def _y(value: float, low: float, high: float) -> float:
    return round(EDGE + (high - value) / ((high - low) or 1.0) * (100 - 2 * EDGE), 2)
