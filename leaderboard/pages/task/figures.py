"""Figures of one task: its models in order with their intervals, and how the scores spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from compute.analysis.figures.style import PALETTE, plain, unmarked
from compute.types import shortened
from leaderboard.data.board_table import SuiteColumn
from leaderboard.html.formatting import number
from leaderboard.html.labels import explained_signs

MARKS = {  # of an origin: name, symbol, colour
    "published": ("Printed in the paper", "circle", PALETTE[0]),
    "computed": ("Computed here", "square", PALETTE[2]),
    "imported": ("Imported result files", "diamond-open", PALETTE[1]),
}
NAMES = "names"  # what js/named_points.js knows the traces by
LONGEST = 30  # characters of a name
SIZE = 11
FALLING = ("top right", "bottom left", "top left", "bottom right")  # away from the curve first
RISING = ("bottom right", "top left", "bottom left", "top right")
APART = 14  # px, twice the room between a point and its name


def scores(points: pd.DataFrame, column: SuiteColumn) -> go.Figure:
    """Models from best to worst with their names and 95% intervals, a histogram at the side, and the level of chance.

    points: title, origin, marks, value, low, high (NaN: unknown), best first, in shown units.
    """
    digits, chance = column.digits, np.nan if column.chance is None else column.chance * column.scale
    figure = make_subplots(cols=2, shared_yaxes=True, column_widths=[0.84, 0.16], horizontal_spacing=0.015)
    rank = np.arange(1, len(points) + 1)
    for origin, (name, symbol, colour) in MARKS.items():
        at = (points["origin"] == origin).to_numpy()
        if not at.any():
            continue
        part = points[at]
        figure.add_scatter(
            name=name,
            x=rank[at].astype(np.int16),
            y=part["value"],
            mode="markers",
            customdata=[
                f"{number(value, digits=digits)}  "
                + "<br>".join(filter(None, (unmarked(title), explained_signs(marks))))
                for title, marks, value in zip(part["title"], part["marks"], part["value"], strict=True)
            ],
            marker={"symbol": symbol, "size": 7, "color": colour},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (part["high"] - part["value"]).fillna(0),
                "arrayminus": (part["value"] - part["low"]).fillna(0),
                "thickness": 1,
                "width": 0,
                "color": colour,
            },
            hovertemplate="%{customdata}<extra></extra>",
            row=1,
            col=1,
        )
    falls = bool(points["value"].iloc[0] >= points["value"].iloc[-1])
    names = [unmarked(title) for title in points["title"]]
    add_names(figure, names=names, x=rank.astype(np.int16), y=points["value"], higher=falls, row=1, col=1)
    figure.add_histogram(
        y=points["value"],
        nbinsy=24,
        marker_color="#8A94A3",
        showlegend=False,
        row=1,
        col=2,
        hovertemplate="%{y}: %{x} rows<extra></extra>",
    )
    low, high = float(points["value"].min()), float(points["value"].max())
    away = not np.isnan(chance) and min(abs(low - chance), abs(high - chance)) > 2 * max(high - low, 1e-9)
    if away and not low <= chance <= high:  # the line would squeeze all models into one
        figure.add_annotation(
            text=f"chance is {number(chance, digits=digits)}, {'below' if chance < low else 'above'} this view",
            x=0,
            y=0,
            xref="x domain",
            yref="y domain",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"size": 11},
        )
    elif not np.isnan(chance):
        figure.add_hline(
            y=chance,
            line_width=1.5,
            line_dash="dot",
            line_color="#B45309",
            row=1,
            col=1,
            annotation_text="chance",
            annotation_position="bottom left",
            annotation_font_size=11,
        )
    plain(figure, height=340, legend=True)
    figure.update_xaxes(title="Best to worst", row=1, col=1, showgrid=False, dtick=1 if len(points) <= 12 else None)
    figure.update_xaxes(title="Models", row=1, col=2, showgrid=False, nticks=3, dtick=1 if len(points) <= 5 else None)
    return figure.update_yaxes(title=f"{column.metric_title}{', %' * bool(column.unit)}", row=1, col=1)


def add_names(
    figure: go.Figure, *, names: Sequence[str], x: np.ndarray, y: np.ndarray, higher: bool, **at: Any
) -> None:
    """Adds the names of points that stand from best to worst, on each side of the curve.

    names must be free of markup. x, y [points]; higher: whether the best is at the top, so that the curve falls. `at`
    is the row and column of a subplot. js/named_points.js shows those that fit at the figure's width.
    """
    for side in FALLING if higher else RISING:
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers+text",
            marker={"size": APART, "opacity": 0},  # it only keeps the name off the point
            text=[shortened(name, LONGEST) for name in names],
            textposition=side,
            textfont={"size": SIZE},
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
            meta=NAMES,
            **at,
        )
