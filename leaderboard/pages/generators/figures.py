"""Figures of the generators: ranks by people and by a metric, and the scores against each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from compute.analysis.figures.style import PALETTE, label_sides, plain, unmarked

NEAR, MOVED = "#7A8594", PALETTE[1]  # MOVED: two ranks or more
SUSPECT = PALETTE[3]
LEAST = 360  # pixels, which the page reserves


def slope(ranks: pd.DataFrame, *, metric: str) -> go.Figure:
    """A line for each generator from its rank by people to its rank by the metric. ranks: title, human, rank."""
    figure = go.Figure()
    for row in ranks.itertuples():
        moved = abs(row.rank - row.human) >= 2
        colour = MOVED if moved else NEAR
        figure.add_scatter(
            x=[0, 1],
            y=[row.human, row.rank],
            mode="lines+markers",
            hoverinfo="text",
            text=f"{unmarked(row.title)}: {row.human:g} by people, {row.rank:g} by {metric}",
            line={"color": colour, "width": 2.5 if moved else 1.5},
            marker={"size": 7, "color": colour},
        )
    plain(figure, height=max(LEAST, 90 + 30 * len(ranks)))
    for x, column, anchor, shift in ((0, "human", "right", -10), (1, "rank", "left", 10)):
        for value, group in ranks.sort_values(column).groupby(column):
            label, rank = " / ".join(map(unmarked, group["title"])), f"{value:g}"
            figure.add_annotation(
                x=x,
                y=value,
                text="  ".join((label, rank) if x == 0 else (rank, label)),
                showarrow=False,
                xanchor=anchor,
                xshift=shift,
                font={"size": 11},
            )
    for x, anchor, shift, text in ((0, "right", 8, "By people"), (1, "left", -8, f"By {metric}")):
        figure.add_annotation(
            x=x,
            y=0.2,
            text=f"<b>{text}</b>",
            showarrow=False,
            font={"size": 12},
            xanchor=anchor,
            xshift=shift,
            yanchor="bottom",
        )
    figure.update_xaxes(range=[-2.4, 3.4], visible=False)
    return figure.update_yaxes(range=[float(ranks[["human", "rank"]].to_numpy().max()) + 0.6, -0.4], visible=False)


def scatter(points: pd.DataFrame, *, metric: str, human: str, higher: bool) -> go.Figure:
    """Preference over the metric's score, one point a generator. points: title, score, human, suspect (bool), words."""
    figure = go.Figure()
    height = max(LEAST, 90 + 30 * len(points))
    sides = label_sides(points["title"], points["score"], points["human"], width=560, height=height - 70)
    points = points.assign(side=[side or "top center" for side in sides])
    for suspect, part in points.groupby("suspect"):
        colour = SUSPECT if suspect else PALETTE[0]
        figure.add_scatter(
            x=part["score"],
            y=part["human"],
            mode="markers+text",
            text=[unmarked(title) for title in part["title"]],
            textposition=part["side"],
            textfont={"size": 11},
            name="Likely misprint" if suspect else "Generator",
            marker={
                "size": 9,
                "symbol": "circle-open" if suspect else "circle",
                "color": colour,
                "line": {"width": 2, "color": colour},
            },
            customdata=part["words"],
            hovertemplate="%{text}<br>%{customdata}<extra></extra>",
        )
    better = "higher is better" if higher else "lower is better"
    plain(
        figure,
        height=height,
        x=f"{metric} ({better})",
        y=human,
        legend=bool(points["suspect"].any()),
    )
    span = float(np.ptp(points["score"])) or 1.0
    return figure.update_xaxes(range=[points["score"].min() - 0.22 * span, points["score"].max() + 0.22 * span])
