"""What a training run gave and what it cost, as one HTML file: both curves, and the table before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compute.interface.pages import one_file
from compute.interface.pages import plot as plots
from compute.rounding import rounded
from compute.training import curves
from compute.training.curves import TaskChange
from compute.training.run_folder import StepMeasurement

HEIGHT, RIGHT = 240, 40  # units of the plot; beside it, the last value of each curve
LABEL_GAP = 13  # units between two curves' last values
KEYS = {"core": "of-0", "ood": "of-1"}  # of plot.css


@dataclass(frozen=True, kw_only=True)
class _CurveLine:
    """A curve in units of the plot."""

    key: str
    points: str  # of the polyline
    dots: tuple[tuple[float, float], ...]
    start: float  # the base's height
    name: str  # with the value of the step that was stored
    end: str  # its last value
    end_y: float


def page(
    *, title: str, lead: Sequence[str], points: Sequence[StepMeasurement], rows: Sequence[TaskChange], best: int | None
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
    low, high = plots.ends(values)
    plot = plots.plot(
        across=(first, last), up=(max(0.0, low), min(100.0, high)), height=HEIGHT, right=RIGHT, counts=True
    )
    lines = [
        _line(
            side,
            [(plot.x(step), plot.y(100 * value)) for step, value in part],
            part[-1][1],
            stored=dict(part).get(best, part[-1][1]),
        )
        for side, part in drawn.items()
        if part
    ]
    return one_file.render(
        "training.html",
        styles=("plot.css", "training.css"),
        title=title,
        lead=lead,
        plot=plot,
        lines=_separate(lines),
        best=None if best is None else (plot.x(best), f"{best:,}"),
        headings=curves.HEADINGS,
        rows=[(row, curves.numbers(row)) for row in rows],
        points=[(f"{point.step:,}", _cell(point.core), _cell(point.ood)) for point in points],
    )


def _line(side: str, dots: list[tuple[float, float]], end: float, *, stored: float) -> _CurveLine:
    return _CurveLine(
        key=KEYS[side],
        points=" ".join(f"{x},{y}" for x, y in dots),
        dots=tuple(dots),
        start=dots[0][1],
        name=f"{curves.TITLES[side]} {rounded(stored, 1, scale=100)}",
        end=rounded(end, 1, scale=100),
        end_y=dots[-1][1],
    )


def _separate(lines: list[_CurveLine]) -> list[_CurveLine]:
    """The curves with their last values LABEL_GAP apart where the ends are closer."""
    if len(lines) == 2 and abs(lines[0].end_y - lines[1].end_y) < LABEL_GAP:
        middle = (lines[0].end_y + lines[1].end_y) / 2
        down = 1 if lines[0].end_y > lines[1].end_y else -1
        heights = (middle + down * LABEL_GAP / 2, middle - down * LABEL_GAP / 2)
        lines = [replace(line, end_y=round(height, 1)) for line, height in zip(lines, heights, strict=True)]
    return lines


def _cell(value: float | None) -> str:
    return "" if value is None else rounded(value, 1, scale=100)
