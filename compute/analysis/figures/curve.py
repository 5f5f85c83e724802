"""Curves: agreement as tasks are added, and averages during training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from compute.analysis.figures.style import LINES, PALETTE, plain
from compute.analysis.lite.smaller import Fidelity, HeldOut, Smaller
from compute.rounding import rounded_array

CHOSEN, OTHERS, OWN = PALETTE[0], PALETTE[1], PALETTE[2]


def curve(result: Smaller, *, held_out: HeldOut | None, own: Fidelity | None) -> go.Figure:
    """Draws Spearman's correlation with the whole suite by number of tasks: for the models that the tasks were chosen
    on, for held-out models (median and quartiles of the halves), for the choice, and for the paper's suite.
    """
    selection, figure = result.selection, go.Figure()
    first = selection.fewest - 1  # before this step some category has no task
    if held_out is not None:
        low, middle, high = (_shown(np.quantile(held_out.curve[:, first:], q, axis=0)) for q in (0.25, 0.5, 0.75))
        steps = np.arange(first + 1, first + 1 + len(middle), dtype=np.int16)
        figure.add_scatter(
            x=np.concatenate([steps, steps[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            mode="lines",
            fill="toself",
            fillcolor="rgba(213, 94, 0, .12)",
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=steps,
            y=middle,
            mode="lines",
            name=f"held-out models: median and middle half of {len(held_out.curve)} splits",
            line={"width": 1.5, "color": OTHERS, "dash": "dot"},
            hovertemplate="%{x} tasks: %{y:.3f} on held-out models<extra></extra>",
        )
    figure.add_scatter(
        x=np.arange(first + 1, len(selection.order) + 1, dtype=np.int16),
        y=_shown(selection.curve[first:]),
        mode="lines",
        name="the models that the tasks were chosen on",
        text=[result.scores.titles[task] for task in selection.order[first:]],
        line={"width": 2, "color": CHOSEN},
        hovertemplate="%{x} tasks: %{y:.3f}<br>added %{text}<extra></extra>",
    )
    points = [(selection.size, float(selection.agreement[-1]), CHOSEN, "circle", f"{selection.size} tasks")]
    if own is not None:
        points.append((own.tasks, own.spearman, OWN, "diamond", f"MIEB-lite: {own.tasks} tasks"))
    for tasks, spearman, colour, symbol, name in points:
        figure.add_scatter(
            x=[tasks],
            y=_shown(np.array([spearman])),
            mode="markers",
            name=name,
            marker={"size": 12, "color": colour, "symbol": symbol},
            hovertemplate=f"{name}: %{{y:.3f}}<extra></extra>",
        )
    plain(figure, height=330, x="Number of tasks", y="Spearman correlation with the whole suite", legend=True)
    return figure.add_vline(x=selection.size, line={"width": 1, "dash": "dash", "color": CHOSEN})


def training(sides: Mapping[str, Mapping[int, float]], *, best: int | None) -> go.Figure:
    """Draws averages in percent by step, a line per side with its base dashed; `best` is the step with the stored
    weights.
    """
    figure = go.Figure()
    for (title, values), colour in zip(sides.items(), (CHOSEN, OTHERS), strict=True):
        if values:
            steps, shown = list(values), rounded_array(list(values.values()), 1)
            figure.add_scatter(
                x=steps,
                y=shown,
                mode="lines+markers",
                name=title,
                line={"width": 2, "color": colour},
                hovertemplate=f"step %{{x}}: %{{y:.1f}}%<extra>{title}</extra>",
            )
            figure.add_hline(y=shown[0], line={"width": 1, "dash": "dash", "color": colour})
    plain(figure, height=330, x="Training step", y="Validation average, %", legend=True)
    return figure if best is None else figure.add_vline(x=best, line={"width": 1, "dash": "dot", "color": LINES})


def _shown(values: np.ndarray) -> np.ndarray:
    return rounded_array(values, 3).astype(np.float32)
