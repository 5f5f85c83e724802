"""Scores against the strength of a change: one line a model, each on its own calibrated scale."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from leaderboard.html.formatting import number
from leaderboard.html.plot_style import PALETTE, plain

DASHES = ("solid", "dash", "dot", "dashdot")  # with the colours, so that lines differ not only in colour


def curves(
    lines: Sequence[tuple[str, Sequence[float]]], y: str, *, chosen: float, title: str, unit: str, most: float
) -> go.Figure:
    """`lines`: names and values, 0 to 100, at evenly spaced strengths 0..1, of which 1 is `most` in `unit`s.

    `chosen` is the slider's strength, 0..1.
    """
    figure = go.Figure()
    for at, (name, values) in enumerate(lines):
        figure.add_scatter(
            x=[most * step / (len(values) - 1) for step in range(len(values))],
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": PALETTE[at % len(PALETTE)], "width": 2, "dash": DASHES[at // len(PALETTE) % len(DASHES)]},
            marker={"size": 5},
            customdata=[number(value, digits=0) for value in values],
            hovertemplate=f"{_plain(name)}<br>%{{x:.3g}} {unit}: %{{customdata}}<extra></extra>",
        )
    figure.add_vline(x=most * chosen, line={"width": 1, "dash": "dot", "color": "#7F7F7F"})
    plain(figure, height=360, x=f"{title} ({unit})", y=y, legend=True)
    values = [value for _, line in lines for value in line]
    low, high = min(0.0, *values), max(100.0, *values)
    figure.update_yaxes(range=[low - 0.02 * (high - low), high + 0.02 * (high - low)])
    figure.update_xaxes(range=[-0.02 * most, 1.02 * most])
    return figure


def _plain(name: str) -> str:
    """A name without what plotly reads as markup or as a template."""
    return name.replace("<", "‹").replace(">", "›").replace("%{", "% {")
