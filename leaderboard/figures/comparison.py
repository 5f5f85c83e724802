"""Figures of a comparison: means by category as bars and as a radar, differences task by task."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from leaderboard.figures import PALETTE, plain

ROW = 16  # pixels a task


def bars(families: pd.DataFrame, *, names: tuple[str, ...]) -> go.Figure:
    """Category means as grouped bars. families: name, category, value in shown units; names give the colours."""
    figure = go.Figure()
    for name, part in families.groupby("name", sort=False):
        figure.add_bar(name=name, x=part["category"], y=part["value"], marker_color=_colour(name, names),
                       hovertemplate="%{x}<br>" + _plain(name) + ": %{y:.1f}<extra></extra>")
    return plain(figure, height=340, y="Mean of the category", legend=True).update_layout(barmode="group", bargap=0.25)


def radar(families: pd.DataFrame, *, names: tuple[str, ...]) -> go.Figure:
    """The same means around a circle, in the bars' colours; all axes share one range."""
    figure = go.Figure()
    for name, part in families.groupby("name", sort=False):
        closed = pd.concat([part, part.iloc[:1]])
        figure.add_scatterpolar(name=name, theta=closed["category"], r=closed["value"], mode="lines+markers",
                                line={"color": _colour(name, names), "width": 2}, marker={"size": 5},
                                hovertemplate="%{theta}<br>" + _plain(name) + ": %{r:.1f}<extra></extra>")
    plain(figure, height=340)
    low = float(np.floor(families["value"].min() / 10) * 10) if families["value"].notna().any() else 0
    figure.update_layout(margin={"l": 60, "r": 60, "t": 24, "b": 24}, polar={
        "bgcolor": "rgba(0,0,0,0)", "radialaxis": {"range": [max(low - 10, 0), 100], "gridcolor": "rgba(128,128,128,.3)",
                                                   "tickfont": {"size": 10}},
        "angularaxis": {"gridcolor": "rgba(128,128,128,.3)", "linecolor": "rgba(128,128,128,.3)"}})
    return figure


def differences(tasks: pd.DataFrame, *, names: tuple[str, ...]) -> go.Figure:
    """Each task's difference to the first name with its interval; right of zero the other model is better."""
    figure = go.Figure()
    sign = np.where(tasks["higher"], 1, -1)
    frame = tasks.assign(better=tasks["difference"] * sign, left=np.where(sign > 0, tasks["low"], -tasks["high"]),
                         right=np.where(sign > 0, tasks["high"], -tasks["low"]))
    order = frame.groupby("task")["better"].mean().sort_values().index.tolist()
    for name, part in frame.groupby("name", sort=False):
        figure.add_scatter(
            name=name, x=part["better"], y=part["task"], mode="markers",
            marker={"size": 6, "color": _colour(name, names)},
            error_x={"type": "data", "symmetric": False, "array": (part["right"] - part["better"]).fillna(0),
                     "arrayminus": (part["better"] - part["left"]).fillna(0), "thickness": 1, "width": 0},
            hovertemplate="%{y}<br>" + _plain(name) + ": %{x:+.2f}<extra></extra>")
    figure.add_vline(x=0, line_width=1, line_color="gray")
    plain(figure, height=120 + ROW * max(len(order), 4), x=f"Better than {_plain(names[0])} by (points)", legend=True)
    return figure.update_yaxes(categoryorder="array", categoryarray=order, tickfont={"size": 10})


def _colour(name: str, names: tuple[str, ...]) -> str:
    return PALETTE[names.index(name) % len(PALETTE)]


def _plain(text: str) -> str:
    """A name as plotly shows it: its own tags and templates defused."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("%{", "% {")
