"""What a training run gave and what it cost, as one HTML file: both curves, and the table before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compute.pages import one_file
from compute.pages.curves import curves as drawn_curves
from compute.rounding import rounded
from compute.training import curves
from compute.training.curves import TaskChange
from compute.training.run_folder import StepMeasurement


def page(
    *, title: str, lead: Sequence[str], points: Sequence[StepMeasurement], rows: Sequence[TaskChange], best: int | None
) -> str:
    """The page as text. lead: sentences above; points: the base first; rows: the final table, averages before tasks.

    `best`: the step whose weights were stored; None: the last.
    """
    return one_file.render(
        "training.html",
        styles=("training.css",),
        title=title,
        lead=lead,
        plot=plot(points, best=best),
        names=names(points, best=best),
        best="" if best is None else f"{best:,}",
        headings=curves.HEADINGS,
        rows=[(row, curves.numbers(row)) for row in rows],
        points=[(f"{point.step:,}", _percent(point.core), _percent(point.ood)) for point in points],
    )


def plot(points: Sequence[StepMeasurement], *, best: int | None) -> Any:
    """Both curves as SVG; a side that was not measured has none."""
    return drawn_curves(
        {place: list(side.items()) for place, side in enumerate(sides(points).values()) if side},
        x="training step",
        y="percent",
        digits=1,
        bounds=(0, 100),
        marked=best,
        based=True,
        label="Core and out-of-distribution averages by training step",
    )


def names(points: Sequence[StepMeasurement], *, best: int | None) -> list[tuple[int, str]]:
    """Of each curve the number of its colour, and its name with the value of the step that was stored."""
    return [
        (place, f"{title} {rounded(side.get(best, side[max(side)]), 1)}")
        for place, (title, side) in enumerate(sides(points).items())
        if side
    ]


def sides(points: Sequence[StepMeasurement]) -> dict[str, dict[int, float]]:
    """Averages in percent by step, of each side that was measured there, by the side's title."""
    return {
        title: {point.step: 100 * value for point in points if (value := getattr(point, side)) is not None}
        for side, title in curves.TITLES.items()
    }


def _percent(value: float | None) -> str:
    return "" if value is None else rounded(value, 1, scale=100)
