"""The correlation matrix, the two columns behind one cell, and the path of a smaller suite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from compute.analysis.correlation import Correlation
from compute.rounding import rounded_array
from leaderboard.html.formatting import number
from leaderboard.html.plot_style import PALETTE, label_sides, plain

SMALL = 40  # axes up to which a cell carries its interval; above, one byte a cell
NAMED = 60  # axes up to which both sides are labelled
WRITTEN = 12  # axes up to which the number is written in the cell
MOST_BLANKS = 2000  # blank cells that are marked one by one
LABELLED = 16  # models of a pair named in the figure
GAP = -128  # a blank cell among whole percents
# Orange to blue through nothing: distinct for colour-blind readers, and at 0 the page shows through, light or dark.
# Less than full strength at the ends keeps text readable on them.
SCALE = (
    (0.0, "rgba(213,94,0,0.8)"),
    (0.5, "rgba(213,94,0,0)"),
    (0.5, "rgba(0,114,178,0)"),
    (1.0, "rgba(0,114,178,0.8)"),
)
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")


def heatmap(*, labels: Sequence[str], keys: Sequence[str], correlation: Correlation, minimum: int) -> go.Figure:
    """Correlations [axes, axes] as colours; blank where NaN. Percents as bytes when there are many axes."""
    names, size = list(labels), len(labels)
    r, n, low, high = correlation.r, correlation.n, correlation.low, correlation.high
    figure = go.Figure()
    if size <= SMALL:
        # Too few models for an interval leave any correlation possible.
        bounds = np.where(np.isnan(low), -1, low), np.where(np.isnan(high), 1, high)
        detail = np.stack([n, *(rounded_array(bound, 2) for bound in bounds)], axis=2).astype(np.float32)
        figure.add_heatmap(
            z=rounded_array(r, 2).astype(np.float32),  # what the cell writes
            x=names,
            y=names,
            zmin=-1,
            zmax=1,
            colorscale=SCALE,
            showscale=False,
            customdata=detail,
            hoverongaps=False,
            xgap=1,
            ygap=1,
            texttemplate="%{z:.2f}" if size <= WRITTEN else None,
            hovertemplate="%{y}<br>%{x}<br>%{z:.2f}, 95% interval %{customdata[1]:.2f} to %{customdata[2]:.2f}, "
            "%{customdata[0]} models<extra></extra>",
        )
    else:
        percent = np.nan_to_num(rounded_array(r, 0, scale=100), nan=GAP).astype(np.int8)
        # The scale runs from GAP, so that a blank cell has a colour of its own: none.
        start, span = (-100 - GAP) / (100 - GAP), 200 / (100 - GAP)
        figure.add_heatmap(
            z=percent,
            x=names,
            y=names,
            zmin=GAP,
            zmax=100,
            showscale=False,
            colorscale=[
                (0.0, "rgba(0,0,0,0)"),
                (start, "rgba(0,0,0,0)"),
                *((start + span * at, colour) for at, colour in SCALE),
            ],
            hovertemplate="%{y}<br>%{x}<br>%{z} / 100; click for models and interval<extra></extra>",
        )
    rows, columns = np.nonzero(np.isnan(r))
    if 0 < len(rows) <= MOST_BLANKS:
        kind = np.uint8 if size < 256 else np.int16
        figure.add_scatter(  # on axes of its own: whole numbers on the named ones would be new names
            x=columns.astype(kind),
            y=rows.astype(kind),
            xaxis="x2",
            yaxis="y2",
            mode="markers",
            customdata=n[rows, columns].astype(np.int16),
            marker={"symbol": "x-thin-open", "size": 5 if size <= SMALL else 3, "color": "#7F7F7F"},
            hovertemplate=f"blank: %{{customdata}} models with both, or all alike; {minimum} are needed<extra></extra>",
        )
    wide = size <= NAMED
    side = 34 if size <= WRITTEN else 15 if wide else 8.5  # of a cell, px
    plain(figure, height=int(np.clip(size * side + (150 if wide else 30), 300, 1250)))
    figure.update_layout(meta={"keys": list(keys)}, hovermode="closest")
    axis = {
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "constrain": "domain",
        "type": "category",
        "dtick": 1,
        "categoryorder": "array",
        "categoryarray": names,
    }
    figure.update_layout(
        xaxis={**axis, "side": "bottom", "tickangle": -40 if wide else 0, "showticklabels": wide},
        yaxis={**axis, "autorange": "reversed", "showticklabels": wide},
    )
    over = {"visible": False, "showgrid": False, "type": "linear", "fixedrange": True}
    figure.update_layout(
        xaxis2={**over, "overlaying": "x", "range": [-0.5, size - 0.5]},
        yaxis2={**over, "overlaying": "y", "range": [size - 0.5, -0.5]},
    )
    if size > WRITTEN:
        figure.update_layout(font={"size": 10 if wide else 8})
    return figure


def scatter(
    *,
    names: Sequence[str],
    kinds: Sequence[str],
    notes: Sequence[str],
    x: np.ndarray,
    y: np.ndarray,
    x_title: str,
    y_title: str,
) -> go.Figure:
    """Two columns against each other, one mark a model; its kind has a colour and a shape. Shown units.

    `notes` are shown below a model's name and scores on pointing at it; empty for none.
    """
    figure = go.Figure()
    sides = label_sides(names, x, y) if len(names) <= LABELLED else [""] * len(names)
    for at, kind in enumerate(dict.fromkeys(kinds)):
        members = [index for index, other in enumerate(kinds) if other == kind]
        figure.add_scatter(
            x=x[members],
            y=y[members],
            mode="markers+text",
            hovertext=[names[index] for index in members],
            name=kind,
            customdata=[
                f"{number(x[index], digits=2)}, {number(y[index], digits=2)}"
                + (f"<br>{notes[index]}" if notes[index] else "")
                for index in members
            ],
            text=[names[index] if sides[index] else "" for index in members],
            textfont={"size": 10},
            textposition=[sides[index] or "top center" for index in members],
            marker={"size": 8, "color": PALETTE[at % len(PALETTE)], "symbol": SYMBOLS[at % len(SYMBOLS)]},
            hovertemplate="%{hovertext}<br>%{customdata}<extra></extra>",
        )
    plain(figure, height=420, x=x_title, y=y_title, legend=len(set(kinds)) > 1)
    figure.update_xaxes(showgrid=True, gridwidth=1)
    figure.update_layout(hovermode="closest")
    return figure


def path(*, agreement: np.ndarray, names: Sequence[str]) -> go.Figure:
    """How near the order of models comes to the whole suite's as tasks are added. Spearman, [steps]."""
    steps = np.arange(1, len(agreement) + 1, dtype=np.int16)
    figure = go.Figure(
        go.Scatter(
            x=steps,
            y=rounded_array(agreement, 3).astype(np.float32),
            mode="lines+markers",
            text=list(names),
            marker={"size": 5},
            line={"width": 1.5, "color": PALETTE[0]},
            hovertemplate="%{x} tasks: %{y:.3f}<br>added %{text}<extra></extra>",
        )
    )
    plain(figure, height=240, x="Tasks chosen", y="Spearman with the whole")
    return figure
