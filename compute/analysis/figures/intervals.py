"""Rows on one axis with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from compute.analysis.figures.style import PALETTE, plain, unmarked
from compute.arrays import Floats

ROW = 20  # pixels a row
MARGIN = 90  # pixels above and below the rows


def strip(
    *,
    names: Sequence[str],
    value: Floats,
    low: Floats,
    high: Floats,
    groups: Sequence[str],
    x: str,
    notes: Sequence[str],
) -> go.Figure:
    """A row each, the first at the top: value and interval [rows], NaN unknown. A group has a colour; empty: grey.

    notes: what is shown below a row's name on pointing at it.
    """
    figure, labels = go.Figure(), [unmarked(name) for name in names]
    for at, group in enumerate(dict.fromkeys(groups)):
        rows = [row for row, own in enumerate(groups) if own == group]
        colour = PALETTE[at % (len(PALETTE) - 1)] if group else PALETTE[-1]
        figure.add_scatter(
            name=group,
            x=value[rows],
            y=rows,
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
            hovertext=[f"{labels[row]}<br>{notes[row]}" for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    plain(figure, height=MARGIN + ROW * len(names), x=x, legend=len(set(groups)) > 1)
    figure.update_xaxes(showgrid=True)
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=labels, showgrid=False)
    return figure.update_yaxes(range=[len(names) - 0.4, -0.6])
