"""Positions of the marks in a dumbbell chart: a line per task, a dot per model, with one axis per category."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from markupsafe import Markup

from compute.pages.curves import ticks
from compute.rounding import rounded
from leaderboard.data.comparison import ComparedLine
from leaderboard.html.formatting import number, span

APART = (6, 4)  # pixels between two rows' marks: of up to three, of more
EDGE = 0.04  # of the range, empty at either end
WORDS = re.compile("(?<=[a-z0-9])(?=[A-Z])")  # where a name in one word may break


class ChartAxis(NamedTuple):
    """The values at the two ends of a chart, in shown units."""

    low: float
    high: float

    def position(self, value: float) -> str:
        """Returns the position of a value, in percent of the width."""
        return rounded(100 * (value - self.low) / (self.high - self.low), 2)

    def marked(self) -> list[tuple[str, str]]:
        """Returns position and text of every tick."""
        return [(self.position(tick), f"{tick:g}".replace("-", "−")) for tick in ticks(self.low, self.high)]


def axis(lines: Iterable[ComparedLine]) -> ChartAxis | None:
    """Returns the axis of some lines, which spans all values and intervals; None if there are no values."""
    ends = [end for line in lines for value in line.values for end in (value.value, value.low, value.high)]
    known = [end for end in ends if math.isfinite(end)]
    if not known:
        return None
    low, high = min(known), max(known)
    edge = EDGE * (high - low) or max(abs(high) / 10, 1e-3)
    return ChartAxis(low=low - edge, high=high + edge)


def dumbbell(line: ComparedLine, *, on: ChartAxis) -> dict[str, Any]:
    """Returns a line's marks on an axis that spans them, in percent of its width: the dots, and `left` and `width` of
    the bar from the first to the last of them.

    A dot has its row's `index`, its `position`, `left` and `width` of its interval (empty: not known), what it says on
    pointing at it, and `shift`: pixels below the middle, so that marks and intervals of two rows do not hide each
    other.
    """
    rows, dots = len(line.values), []
    for at, (name, value) in enumerate(zip(line.names, line.values, strict=True)):
        if not math.isfinite(value.value):
            continue
        left, width, interval = "", "", "interval not known"
        if math.isfinite(value.low) and math.isfinite(value.high):
            start, end = float(on.position(value.low)), float(on.position(value.high))
            left, width = rounded(start, 2), rounded(end - start, 2)
            level = "at least 95%" if value.few else "95%"
            interval = f"{level} interval {span(value.low, value.high, digits=line.column.digits)}"
        dots.append(
            {
                "index": at,
                "shift": rounded((at - (rows - 1) / 2) * APART[rows > 3], 1),
                "position": on.position(value.value),
                "left": left,
                "width": width,
                "text": f"{name}: {number(value.value, digits=line.column.digits)}, {interval}",
            }
        )
    places = [float(dot["position"]) for dot in dots] or [0.0]
    return {
        "title": "Mean" if line.kind == "category" else Markup("<wbr>").join(WORDS.split(line.column.title)),
        "is_mean": line.kind == "category",
        "dots": dots,
        "left": rounded(min(places), 2),
        "width": rounded(max(places) - min(places), 2),
    }
