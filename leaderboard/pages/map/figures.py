"""A map of tasks or models: one mark per point, coloured by a fact."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from compute.analysis.figures.style import GROUPS, SYMBOLS, UNGROUPED, at_sides, label_sides, plain_map

# The narrowest figure, px, whose names must not overlap; look.css hides names in narrower ones.
WIDTH, HEIGHT = 800, 500
MOST = 17  # values with their own mark; rarer ones share one


def points(facts: pd.DataFrame, *, values: pd.Series, unknown: str, meta: Mapping[str, Any]) -> go.Figure:
    """Plots points by a fact in words, with a colour and a shape per value; `unknown` values are grey.

    facts: x, y and name, a row per point; values [points].
    """
    counts = values[values != unknown].value_counts()
    ranked = sorted(counts.index, key=lambda value: (-counts[value], value))
    order = sorted(ranked, key=natural) if len(ranked) <= MOST else ranked[:MOST]
    marks = [{"color": GROUPS[at % len(GROUPS)], "symbol": SYMBOLS[at % len(SYMBOLS)]} for at, _ in enumerate(order)]
    layers = [_layer(facts[values == value], value, mark) for value, mark in zip(order, marks, strict=True)]
    name = unknown if len(ranked) <= MOST else f"{unknown}, or {len(ranked) - MOST} rarer"
    layers += _unknown(facts[~values.isin(order)], name)
    return plain_map(go.Figure(layers), meta=meta, legend=True)


def measured(
    facts: pd.DataFrame,
    *,
    values: pd.Series,
    title: str,
    log: bool,
    write: Callable[[float], str],
    meta: Mapping[str, Any],
) -> go.Figure:
    """Plots points by a number on a perceptually uniform scale; points without one are grey. `write` formats a
    number.
    """
    known = values.dropna()
    shown = (np.log10(known) if log else known).to_numpy(np.float32)
    ticks = {}
    if log and len(known):
        whole = range(math.floor(np.log10(known.min())), math.ceil(np.log10(known.max())) + 1)
        ticks = {"tickvals": list(whole), "ticktext": [f"{10**power:g}" for power in whole]}
    bar = {"title": {"text": title, "side": "right"}, "thickness": 10, "outlinewidth": 0, **ticks}
    marker = {"color": shown, "colorscale": "Cividis", "showscale": True, "colorbar": bar}
    named = facts.loc[known.index].assign(name=[f"{facts['name'][at]}: {write(known[at])}" for at in known.index])
    layers = [_layer(named, title, marker), *_unknown(facts[values.isna()], "Not known")]
    return plain_map(go.Figure(layers), meta=meta, legend=False)


def _unknown(facts: pd.DataFrame, name: str) -> list[go.Scatter]:
    return [_layer(facts, name, {"color": UNGROUPED, "symbol": "circle-open"})] if len(facts) else []


def _layer(facts: pd.DataFrame, name: str, marker: Mapping[str, Any]) -> go.Scatter:
    """Returns some points as a trace; each point's customdata is its row."""
    return go.Scatter(
        x=facts["x"].to_numpy(np.float32),
        y=facts["y"].to_numpy(np.float32),
        name=name,
        hovertext=facts["name"].tolist(),
        mode="markers",
        customdata=facts.index.tolist(),
        marker={"size": 9, **marker},
        unselected={"marker": {"opacity": 0.15}},
        hovertemplate="%{hovertext}<extra>" + name.replace("%", "") + "</extra>",
    )


def name_points(figure: go.Figure, facts: pd.DataFrame) -> None:
    """Writes the names of all points that hide nothing; modifies the chart."""
    x, y, names = facts["x"].to_numpy(float), facts["y"].to_numpy(float), facts["name"].tolist()
    sides = label_sides(names, x, y, width=WIDTH, height=HEIGHT)
    # Ranges of our own: plotly would widen them for names, also where these are hidden.
    across, up = (np.ptp(values) or 1.0 for values in (x, y))
    figure.update_layout(
        xaxis={"range": [x.min() - 0.055 * across, x.max() + 0.055 * across]},
        yaxis={"range": [y.min() - 0.09 * up, y.max() + 0.09 * up]},
    )
    for trace in figure.data:
        own = [sides[index] for index in trace.customdata]
        if any(own):
            trace.update(mode="markers+text", **at_sides([names[index] for index in trace.customdata], own))


def natural(value: str) -> tuple[int, str]:
    """Sorts numbered names by their numbers."""
    head = value.split(":")[0].rpartition(" ")[2]
    return (int(head) if head.isdigit() else 10**6, value)
