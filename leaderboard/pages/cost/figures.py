"""Chart of every model's score against its cost, with filled marks on the front and hollow ones elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from compute.analysis.figures.style import PALETTE, UNGROUPED, at_sides, label_sides, plain, unmarked
from compute.rounding import rounded_array
from leaderboard.data.fronts import AGE, OFF, ON, UNKNOWN
from leaderboard.html.formatting import number, span
from leaderboard.pages.cost.suite_front import MACHINES, STATES, SuiteFront, iso

MARKS = {
    ON: {"color": PALETTE[0], "symbol": "circle", "size": 10},
    OFF: {"color": UNGROUPED, "symbol": "circle-open", "size": 8},
    UNKNOWN: {"color": PALETTE[1], "symbol": "diamond-open", "size": 8},
}
BAR = {"color": "rgba(127,127,127,0.45)", "thickness": 1, "width": 0}
LINE = "Highest mean so far (point values)"
STEPS = ((30, (1, 2, 5)), (1000, (1, 3)), (math.inf, (1,)))  # up to which range the axis names which steps of a decade


def chart(suite_front: SuiteFront, model: str = "") -> go.Figure:
    """Plots scores with their intervals against a cost: a trace per state, the front of the point values as a thin
    line, and a ring around `model`.
    """
    figure = go.Figure()
    lead = sorted((point for point in suite_front.with_cost if point.leads), key=lambda point: (point.cost, point.rank))
    if lead:
        most = max(point.cost for point in suite_front.with_cost)
        figure.add_scatter(
            x=_across(suite_front, [*(point.cost for point in lead), most]),
            y=[*(point.mean for point in lead), lead[-1].mean],
            mode="lines",
            name=LINE,
            line={"shape": "hv", "width": 1, "dash": "dot", "color": UNGROUPED},
            hoverinfo="skip",
        )
    for state, mark in MARKS.items():
        _add(figure, suite_front, suite_front.of(state), mark, state)
    chosen = [point for point in suite_front.with_cost if point.model == model]
    if chosen:
        figure.add_scatter(
            x=_across(suite_front, [point.cost for point in chosen]),
            y=[point.mean for point in chosen],
            mode="markers",
            name=unmarked(chosen[0].title),
            marker={"symbol": "circle-open", "size": 20, "color": PALETTE[1], "line": {"width": 2}},
            hoverinfo="skip",
        )
    plain(figure, height=420, x=suite_front.axis.title, y=suite_front.score, legend=True)
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(showgrid=True, gridwidth=1)
    if suite_front.axis.key == AGE:
        figure.update_xaxes(type="date")
    else:
        costs = [point.cost for point in suite_front.with_cost]
        # Speeds are written in images per second, which are to be the round ones.
        per_second = suite_front.axis.key in MACHINES
        values = [1 / rate for rate in _ticks([1 / cost for cost in costs])] if per_second else _ticks(costs)
        figure.update_xaxes(type="log", tickvals=values, ticktext=[suite_front.axis.write(value) for value in values])
    return figure


def _add(figure: go.Figure, suite_front: SuiteFront, points: Sequence[Any], mark: dict, state: str) -> None:
    if not points:
        return
    names = [unmarked(point.title) for point in points]
    parts = ("cost", "mean", "low", "high")
    cost, mean, low, high = (np.array([getattr(point, part) for point in points]) for part in parts)
    sides = _sides(suite_front, points) if state == ON else [""] * len(points)
    words = []
    for name, point in zip(names, points, strict=True):
        ends = "" if math.isnan(point.low) else f" ({span(point.low, point.high, digits=suite_front.digits)})"
        beaten = STATES[state].lower()
        if point.beaten_by:
            beaten = f"{unmarked(point.beaten_by[0][1])}, {suite_front.axis.no_more}, is significantly better"
        mean_in_words = f"{number(point.mean, digits=suite_front.digits)}{ends}"
        words.append("<br>".join([name, point.shown, mean_in_words, beaten]))
    figure.add_scatter(
        x=_across(suite_front, cost.tolist()),
        y=rounded_array(mean, suite_front.digits + 1),
        error_y={
            **BAR,
            "type": "data",
            "symmetric": False,
            "array": np.nan_to_num(rounded_array(high - mean, suite_front.digits + 1)),
            "arrayminus": np.nan_to_num(rounded_array(mean - low, suite_front.digits + 1)),
        },
        mode="markers+text" if any(sides) else "markers",
        name=STATES[state],
        marker=mark,
        **at_sides(names, sides),
        hovertext=words,
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _sides(suite_front: SuiteFront, points: Sequence[Any]) -> list[str]:
    """Returns positions for the names of some points that are clear of all points, in a chart that contains every
    interval.
    """
    others = [point for point in suite_front.with_cost if point not in points]
    x = np.array([point.cost for point in (*points, *others)])
    x = x if suite_front.axis.key == AGE else np.log(x)
    y = [point.mean for point in (*points, *others)]
    ends = [end for point in suite_front.with_cost for end in (point.low, point.high) if not math.isnan(end)]
    corners = [min([*ends, *y]), max([*ends, *y])]
    names = [unmarked(point.title) for point in points] + [""] * (len(others) + len(corners))
    return label_sides(names, np.append(x, [x.min()] * 2), np.array([*y, *corners]))[: len(points)]


def _across(suite_front: SuiteFront, costs: Sequence[float]) -> list[float] | list[str]:
    """Converts costs for plotly: days become dates."""
    if suite_front.axis.key == AGE:
        return list(map(iso, costs))
    return [float(f"{cost:.6g}") for cost in costs]


def _ticks(costs: Sequence[float]) -> list[float]:
    """Returns round costs in the range: powers of ten, with steps between them if they are few."""
    low, high = min(costs), max(costs)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = next(steps for most, steps in STEPS if high / low < most)
    values = [step * 10.0**decade for decade in decades for step in steps]
    return [value for value in values if low * 0.9 <= value <= high * 1.1] or [low]
