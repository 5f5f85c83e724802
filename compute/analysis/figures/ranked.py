"""Figures of values with intervals, one per row (a ranking, tasks, generators, two models), and the critical-difference
diagram.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from compute.analysis.figures.style import LINES, PALETTE, TEXT, plain, unmarked
from compute.arrays import Bools, Floats

ROW = 20  # pixels per row
MARGIN = 90  # pixels above and below the rows
LEVEL = 0.45  # bars' distance, in rows


def strip(
    *,
    names: Sequence[str],
    value: Floats,
    low: Floats,
    high: Floats,
    groups: Sequence[str],
    x: str,
    notes: Sequence[str],
    grey: str = "",
) -> go.Figure:
    """Draws a row per name, the first at the top: values with intervals [points], NaN if unknown. Each group has a
    colour; the group `grey` is grey.

    If there are twice as many points as names, each row has two, joined by a line: a dumbbell. notes [points]: shown
    below a row's name on hover.
    """
    figure, labels, count = go.Figure(), [unmarked(name) for name in names], len(names)
    if len(value) > count:
        ends = np.column_stack([value[:count], value[count:], np.full(count, np.nan)])
        figure.add_scatter(
            x=ends.ravel(),
            y=np.repeat(np.arange(count), 3),
            mode="lines",
            line={"width": 4, "color": LINES},
            hoverinfo="skip",
            showlegend=False,
        )
    for at, group in enumerate(dict.fromkeys(groups)):
        rows = [row for row, own in enumerate(groups) if own == group]
        colour = PALETTE[-1] if group == grey else PALETTE[at % (len(PALETTE) - 1)]
        figure.add_scatter(
            name=unmarked(group),
            x=value[rows],
            y=np.array(rows) % count,
            mode="markers",
            marker={"size": 8, "color": colour},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(high - value)[rows],
                "arrayminus": np.nan_to_num(value - low)[rows],
                "thickness": 1.5,
                "width": 0,
                "color": colour,
            },
            hovertext=[f"{labels[row % count]}<br>{notes[row]}" for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    plain(figure, height=MARGIN + ROW * count, x=x, legend=len(set(groups)) > 1)
    figure.update_xaxes(showgrid=True)
    figure.update_yaxes(tickvals=list(range(count)), ticktext=labels, showgrid=False)
    return figure.update_yaxes(range=[count - 0.4, -0.6])


def critical_difference(*, names: Sequence[str], value: Floats, differ: Bools, x: str, limit: float) -> go.Figure:
    """Draws models on one axis, the best on the left, with a bar over each run of models that do not differ
    significantly.

    value [models], best first; differ [models, models]: which pairs differ significantly; limit: the critical
    difference, drawn above the axis unless NaN. After Demšar (2006), figure 1.
    """
    figure, count, way = go.Figure(), len(names), 1 if value[0] <= value[-1] else -1
    width = float(abs(value[-1] - value[0])) or 1.0
    ends = [next((end for end in range(at, count) if differ[at:end, end].any()), count) for at in range(count)]
    bars = [(at, end - 1) for at, end in enumerate(ends) if end > at + 1 and (at == 0 or ends[at - 1] < end)]
    above = 2.2 if np.isnan(limit) else 3.8  # for the axis's numbers and title, and the critical difference
    below = LEVEL * (len(bars) + 1)  # where the names begin
    half = (count + 1) // 2
    for at, name in enumerate(names):
        left = at < half
        y = -below - (at if left else count - 1 - at)
        end = value[0] - way * 0.03 * width if left else value[-1] + way * 0.03 * width
        figure.add_scatter(
            x=[value[at], value[at], end],
            y=[0, y, y],
            mode="lines",
            line={"width": 1, "color": TEXT},
            hovertext=f"{unmarked(name)}: {value[at]:.4g}",
            hoverinfo="text",
        )
        figure.add_annotation(
            x=end, y=y, text=unmarked(name), showarrow=False, xanchor="right" if left else "left", font={"size": 11}
        )
    for at, (first, last) in enumerate(bars, start=1):
        figure.add_scatter(
            x=value[[first, last]],
            y=[-LEVEL * at] * 2,
            mode="lines",
            line={"width": 4, "color": PALETTE[0]},
            hovertext=f"{unmarked(names[first])} to {unmarked(names[last])}: no significant difference",
            hoverinfo="text",
        )
    if not np.isnan(limit):
        figure.add_scatter(
            x=[value[0], value[0] + way * limit],
            y=[2.7, 2.7],
            mode="lines+markers",
            line={"width": 2, "color": PALETTE[1]},
            marker={"symbol": "line-ns-open", "size": 8},
            hovertext=f"critical difference {limit:.3g}",
            hoverinfo="text",
        )
        figure.add_annotation(
            x=value[0] + way * limit / 2,
            y=2.7,
            text=f"critical difference {limit:.3g}",
            showarrow=False,
            yanchor="bottom",
        )
    plain(figure, height=round(ROW * (below + half + above)) + 16)
    space = 0.35 * width  # for names
    figure.update_xaxes(
        title={"text": x, "standoff": 2},
        side="top",
        anchor="free",
        position=(below + half) / (below + half + above),
        showgrid=False,
        range=[value[0] - way * space, value[-1] + way * space],
    )
    return figure.update_yaxes(visible=False, range=[-below - half, above])
