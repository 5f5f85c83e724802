"""Scores against the strength of a change: one line a model, each on its own calibrated scale."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from leaderboard.html.plot_style import PALETTE, plain

DASHES = ("solid", "dash", "dot", "dashdot")  # with the colours, so that lines differ not only in colour


def curves(lines: Sequence[tuple[str, Sequence[float]]], *, chosen: float, x: str) -> go.Figure:
    """`lines`: names and percentiles at evenly spaced strengths 0..1; `chosen` is the slider's strength."""
    figure = go.Figure()
    for at, (name, values) in enumerate(lines):
        figure.add_scatter(
            x=[step / (len(values) - 1) for step in range(len(values))],
            y=list(values),
            name=name,
            mode="lines+markers",
            line={"color": PALETTE[at % len(PALETTE)], "width": 2, "dash": DASHES[at // len(PALETTE) % len(DASHES)]},
            marker={"size": 5},
            hovertemplate=f"{_plain(name)}<br>strength %{{x:.3g}}: %{{y:.0f}}<extra></extra>",
        )
    figure.add_vline(x=chosen, line={"width": 1, "dash": "dot", "color": "#7F7F7F"})
    plain(figure, height=360, x=x, y="Percentile of its own scores", legend=True)
    figure.update_yaxes(range=[-2, 102])
    figure.update_xaxes(range=[-0.02, 1.02])
    return figure


def _plain(name: str) -> str:
    """A name without what plotly reads as markup or as a template."""
    return name.replace("<", "‹").replace(">", "›").replace("%{", "% {")
