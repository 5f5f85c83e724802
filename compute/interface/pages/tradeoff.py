"""Core gain against the change out of distribution, a point a setting, as one HTML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from compute.interface.pages import one_file
from compute.interface.pages import plot as plots
from compute.interface.pages.plot import Label
from compute.rounding import rounded
from compute.training.unisim import held_out, tradeoff
from compute.training.unisim.steps.preserving import METHODS
from compute.training.unisim.tradeoff import SettingSummary, Spread, TrialOutcome

HEIGHT, RIGHT = 300, 12  # units of the plot
KEYS = dict(zip(METHODS, ("of-3", "of-0", "of-1", "of-2"), strict=True))  # of plot.css; plain tuning is neutral


@dataclass(frozen=True, kw_only=True)
class _SettingPoint:
    """A setting in units of the plot: its mean, its seeds, and what it is called."""

    x: float
    y: float
    key: str  # of its method's style
    label: Label
    seeds: tuple[tuple[float, float], ...]


def page(*, base: str, suite: str, rows: Sequence[SettingSummary], outcomes: Sequence[TrialOutcome]) -> str:
    """The page as text; `outcomes` are the seeds behind the rows."""
    plot = plots.plot(
        across=plots.ends([0.0, *(100 * each.suite_core for each in outcomes)]),
        up=plots.ends([0.0, *(100 * each.suite_ood for each in outcomes)]),
        height=HEIGHT,
        right=RIGHT,
        sign=True,
    )
    means = [(plot.x(100 * row.suite_core.mean), plot.y(100 * row.suite_ood.mean)) for row in rows]
    seeds = [
        tuple(
            (plot.x(100 * each.suite_core), plot.y(100 * each.suite_ood))
            for each in outcomes
            if (each.trial.keep, each.trial.strength) == (row.keep, row.strength)
        )
        for row in rows
    ]
    labels = plots.labels(means, [row.name for row in rows], beside=list(chain(*seeds)), within=plot)
    points = [
        _SettingPoint(x=x, y=y, key=KEYS[row.keep], label=label, seeds=own)
        for row, (x, y), label, own in zip(rows, means, labels, seeds, strict=True)
    ]
    return one_file.render(
        "tradeoff.html",
        styles=("plot.css", "tradeoff.css"),
        base=base,
        suite=suite,
        plot=plot,
        points=points,
        rows=[(row, _cell(row.suite_core), _cell(row.suite_ood)) for row in rows],
        decision=tradeoff.decision(rows) + (f" {held_out.DRAWN_OOD}." if suite == "unisim" else ""),
    )


def _cell(part: Spread) -> str:
    mean = rounded(part.mean, 1, scale=100, sign=True)
    return mean if math.isnan(part.half_width) else f"{mean} ± {rounded(part.half_width, 1, scale=100)}"
