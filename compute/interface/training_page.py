"""What a training run gave and what it cost, as one HTML file: both curves, and the table before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compute.pages import one_file
from compute.pages.curves import curves as drawn_curves
from compute.rounding import rounded
from compute.training import curves
from compute.training.curves import TaskChange
from compute.training.evaluation import DRAWN_OOD
from compute.training.plan import TuningPlan
from compute.training.run_folder import StepMeasurement, TuningState


def page(base: str, name: str, plan: TuningPlan, state: TuningState, rows: Sequence[TaskChange]) -> str:
    """The page of the model `name` as text. base: its base's title; rows: the final table, averages before tasks."""
    trained = "both towers" if plan.towers == "both" else "its vision tower"
    lead = [f"{base}, {trained} tuned by UniSim’s recipe in {state.step:,} steps."]
    lead += [
        f"{row.title} went from {curves.numbers(row)[0]} to {curves.numbers(row)[1]} on the unisim suite’s own items."
        for row in rows
        if row.is_average
    ]
    lead.append(f"{DRAWN_OOD}.")
    if state.best == 0:
        lead.append("No step was better than the base on validation items, so what is stored are the base’s weights.")
    points, best = state.measurements, state.best
    return one_file.render(
        "training.html",
        styles=("training.css",),
        title=name,
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
