"""Figures of the generators: ranks by people beside ranks by a metric, and the scores against each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from leaderboard.html.plot_style import PALETTE, plain, unmarked

NEAR, MOVED = "#7A8594", PALETTE[1]  # MOVED: two ranks or more
SUSPECT = PALETTE[3]


def slope(ranks: pd.DataFrame, *, metric: str) -> go.Figure:
    """A line for each generator from its rank by people to its rank by the metric. ranks: title, human, rank."""
    figure = go.Figure()
    names = {"left": ranks.sort_values("human"), "right": ranks.sort_values("rank")}
    for row in ranks.itertuples():
        moved = abs(row.rank - row.human) >= 2
        figure.add_scatter(
            x=[0, 1],
            y=[row.human, row.rank],
            mode="lines+markers",
            hoverinfo="text",
            text=f"{unmarked(row.title)}: {row.human:g} by people, {row.rank:g} by {metric}",
            line={"color": MOVED if moved else NEAR, "width": 2.5 if moved else 1.5},
            marker={"size": 7, "color": MOVED if moved else NEAR},
        )
    plain(figure, height=90 + 30 * max(len(ranks), 4))
    for side, frame in names.items():
        column, anchor, shift = ("human", "right", -10) if side == "left" else ("rank", "left", 10)
        for value, group in frame.groupby(column):
            label = " / ".join(unmarked(title) for title in group["title"])
            text = f"{label}  {value:g}" if side == "left" else f"{value:g}  {label}"
            figure.add_annotation(
                x=0 if side == "left" else 1,
                y=value,
                text=text,
                showarrow=False,
                xanchor=anchor,
                xshift=shift,
                font={"size": 11},
            )
    for x, text in ((0, "By people"), (1, f"By {metric}")):
        figure.add_annotation(x=x, y=0.2, text=f"<b>{text}</b>", showarrow=False, font={"size": 12}, yanchor="bottom")
    figure.update_xaxes(range=[-1.6, 2.6], visible=False)
    return figure.update_yaxes(range=[float(ranks[["human", "rank"]].to_numpy().max()) + 0.6, -0.4], visible=False)


def scatter(points: pd.DataFrame, *, metric: str, human: str, higher: bool) -> go.Figure:
    """Preference over the metric's score, one point for each generator. points: title, score, human, suspect (bool)."""
    figure = go.Figure()
    points = points.assign(side=_sides(points))
    for suspect, part in points.groupby("suspect"):
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
                "color": SUSPECT if suspect else PALETTE[0],
                "line": {"width": 2, "color": SUSPECT if suspect else PALETTE[0]},
            },
            hovertemplate="%{text}<br>" + metric + " %{x}<br>" + human + " %{y}<extra></extra>",
        )
    better = "higher is better" if higher else "lower is better"
    plain(
        figure,
        height=90 + 30 * max(len(points), 4),
        x=f"{metric} ({better})",
        y=human,
        legend=bool(points["suspect"].any()),
    )
    span = float(np.ptp(points["score"])) or 1.0
    return figure.update_xaxes(range=[points["score"].min() - 0.22 * span, points["score"].max() + 0.22 * span])


def _sides(points: pd.DataFrame) -> list[str]:
    """The side of each label: the first of four that overlaps points and earlier labels least."""
    x, y = (_unit(points[name].to_numpy(float)) for name in ("score", "human"))
    taken = [(px - 0.012, px + 0.012, py - 0.022, py + 0.022) for px, py in zip(x, y, strict=True)]
    sides = []
    for px, py, title in zip(x, y, points["title"], strict=True):
        width, gap = 0.014 * len(title), 0.018
        right, left = (
            (px + gap, px + gap + width, py - 0.022, py + 0.022),
            (px - gap - width, px - gap, py - 0.022, py + 0.022),
        )
        above, below = (
            (px - width / 2, px + width / 2, py + low, py + high) for low, high in ((0.025, 0.07), (-0.07, -0.025))
        )
        options = {"middle right": right, "middle left": left, "top center": above, "bottom center": below}
        if px > 0.5:
            options = {
                "middle left": left,
                "middle right": right,
                "top center": above,
                "bottom center": below,
            }
        cost = {side: sum(_overlap(box, other) for other in taken) for side, box in options.items()}
        best = min(cost, key=lambda side: (round(cost[side], 6), list(options).index(side)))
        sides.append(best)
        taken.append(options[best])
    return sides


def _unit(values: np.ndarray) -> np.ndarray:
    """Values as shares of the drawn range."""
    span = np.ptp(values) or 1.0
    return (values - values.min() + 0.22 * span) / (1.44 * span)


def _overlap(box: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide = min(box[1], other[1]) - max(box[0], other[0])
    high = min(box[3], other[3]) - max(box[2], other[2])
    return max(wide, 0.0) * max(high, 0.0)
