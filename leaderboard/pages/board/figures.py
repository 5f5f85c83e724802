"""Figures of a comparison: means by category as bars and as a radar, differences task by task."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from leaderboard.html.plot_style import PALETTE, plain

ROW = 16  # pixels a task
MOST = 40  # tasks one can still read
LINE = 15  # characters of a line around the radar


def bars(families: pd.DataFrame, *, names: tuple[str, ...]) -> go.Figure:
    """Category means as grouped bars. families: name, category, value in shown units; names give the colours."""
    figure = go.Figure()
    for name, part in families.groupby("name", sort=False):
        figure.add_bar(
            name=name,
            x=part["category"],
            y=part["value"],
            marker_color=_colour(name, names),
            hovertemplate="%{x}<br>" + _plain(name) + ": %{y:.1f}<extra></extra>",
        )
    return plain(figure, height=340, y="Mean of the category", legend=True).update_layout(barmode="group", bargap=0.25)


def radar(families: pd.DataFrame, *, names: tuple[str, ...]) -> go.Figure:
    """The same means around a circle, in the bars' colours; all axes share one range."""
    figure = go.Figure()
    for name, part in families.groupby("name", sort=False):
        closed = pd.concat([part, part.iloc[:1]])
        figure.add_scatterpolar(
            name=name,
            theta=[_lines(text) for text in closed["category"]],
            r=closed["value"],
            mode="lines+markers",
            line={"color": _colour(name, names), "width": 2},
            marker={"size": 5},
            hovertemplate="%{theta}<br>" + _plain(name) + ": %{r:.1f}<extra></extra>",
        )
    plain(figure, height=340)
    low = float(np.floor(families["value"].min() / 10) * 10) if families["value"].notna().any() else 0
    figure.update_layout(
        margin={"l": 84, "r": 84, "t": 40, "b": 40},
        polar={
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": {
                "range": [max(low - 10, 0), 100],
                "gridcolor": "rgba(128,128,128,.3)",
                "tickfont": {"size": 10},
            },
            "angularaxis": {
                "tickfont": {"size": 11},
                "gridcolor": "rgba(128,128,128,.3)",
                "linecolor": "rgba(128,128,128,.3)",
            },
        },
    )
    return figure


def differences(tasks: pd.DataFrame, *, names: tuple[str, ...]) -> go.Figure:
    """Each task's difference to the first name with its interval; right of zero the other model is better.

    Of many tasks the MOST with the largest differences are drawn, as `cut_note` says.
    """
    figure = go.Figure()
    tasks = tasks[tasks["task"].isin(_largest(tasks))]
    sign = np.where(tasks["higher"], 1, -1)
    frame = tasks.assign(
        better=tasks["difference"] * sign,
        left=np.where(sign > 0, tasks["low"], -tasks["high"]),
        right=np.where(sign > 0, tasks["high"], -tasks["low"]),
    )
    order = frame.groupby("task")["better"].mean().sort_values().index.tolist()
    for name, part in frame.groupby("name", sort=False):
        figure.add_scatter(
            name=name,
            x=part["better"],
            y=part["task"],
            mode="markers",
            marker={"size": 6, "color": _colour(name, names)},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (part["right"] - part["better"]).fillna(0),
                "arrayminus": (part["better"] - part["left"]).fillna(0),
                "thickness": 1,
                "width": 0,
            },
            hovertemplate="%{y}<br>" + _plain(name) + ": %{x:+.2f}<extra></extra>",
        )
    figure.add_vline(x=0, line_width=1, line_color="gray")
    plain(
        figure,
        height=150 + ROW * max(len(order), 4),
        x=f"Better than {_plain(names[0])}<br>in points",
        legend=True,
    )
    figure.update_layout(legend={"x": 0, "xref": "container", "y": 1, "itemsizing": "constant"}, margin={"t": 60})
    # Plotly would leave a twentieth of the height empty at either end.
    return figure.update_yaxes(
        categoryorder="array", categoryarray=order, range=[-0.8, len(order) - 0.2], tickfont={"size": 10}
    )


def cut_note(tasks: pd.DataFrame) -> str:
    """What `differences` leaves out, in one sentence; empty when it draws every task."""
    count = tasks["task"].nunique() if len(tasks) else 0
    return f"{MOST} of {count} tasks with the largest differences; the table has all." if count > MOST else ""


def _largest(tasks: pd.DataFrame) -> pd.Index:
    """The MOST tasks in which any model differs most from the reference."""
    return tasks["difference"].abs().groupby(tasks["task"]).max().nlargest(MOST).index


def _lines(text: str) -> str:
    """A category's name in lines short enough to fit beside the radar on a telephone."""
    return "<br>".join(_plain(line) for line in textwrap.wrap(text, LINE, break_long_words=False))


def _colour(name: str, names: tuple[str, ...]) -> str:
    return PALETTE[names.index(name) % len(PALETTE)]


def _plain(text: str) -> str:
    """A name as plotly shows it: its own tags and templates defused."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("%{", "% {")
