"""Core gain against the change out of distribution, a point a setting, as one HTML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compute.interface import one_file
from compute.interface.training_page import axis_ends, ticks
from compute.rounding import rounded
from compute.training.unisim import tradeoff
from compute.training.unisim.preserving import METHODS
from compute.training.unisim.tradeoff import SettingSummary, Spread, TrialOutcome

WIDTH, HEIGHT = 640, 400  # of the plot, in pixels
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 16, 44


@dataclass(frozen=True, kw_only=True)
class _SettingPoint:
    """A setting in pixels: its mean, its seeds, and what it is called."""

    x: float
    y: float
    method: int  # which of METHODS: its style
    name: str
    seeds: tuple[tuple[float, float], ...]


def page(*, base: str, suite: str, rows: Sequence[SettingSummary], outcomes: Sequence[TrialOutcome]) -> str:
    """The page as text; `outcomes` are the seeds behind the rows."""
    wide = axis_ends([0.0, *(100 * each.suite_core for each in outcomes)])
    high = axis_ends([0.0, *(100 * each.suite_ood for each in outcomes)])

    def x(value: float) -> float:
        return round(LEFT + (value - wide[0]) / (wide[1] - wide[0]) * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        return round(TOP + (high[1] - value) / (high[1] - high[0]) * (HEIGHT - TOP - BOTTOM), 1)

    points = [
        _SettingPoint(
            x=x(100 * row.suite_core.mean),
            y=y(100 * row.suite_ood.mean),
            method=METHODS.index(row.keep),
            name=row.name,
            seeds=tuple(
                (x(100 * each.suite_core), y(100 * each.suite_ood))
                for each in outcomes
                if (each.trial.keep, each.trial.strength) == (row.keep, row.strength)
            ),
        )
        for row in rows
    ]
    best = tradeoff.winner(rows)
    return one_file.render(
        "tradeoff_page.html",
        style="tradeoff_page.css",
        base=base,
        suite=suite,
        width=WIDTH,
        height=HEIGHT,
        plot={"left": LEFT, "right": WIDTH - RIGHT, "top": TOP, "bottom": HEIGHT - BOTTOM},
        origin=(x(0), y(0)),
        across=[(x(at), rounded(at, 1, sign=True)) for at in ticks(*wide)],
        up=[(y(at), rounded(at, 1, sign=True)) for at in ticks(*high)],
        points=points,
        rows=[(row, _cell(row.suite_core), _cell(row.suite_ood)) for row in rows],
        rule=tradeoff.RULE,
        best=best.name if best else "",
    )


def _cell(part: Spread) -> str:
    mean = rounded(part.mean, 1, scale=100, sign=True)
    return mean if math.isnan(part.half_width) else f"{mean} ± {rounded(part.half_width, 1, scale=100)}"
