"""Frames to plotly figures. Colours, fonts and dark mode follow the page: look.css sets text and grid lines."""

from __future__ import annotations

import plotly.graph_objects as go

# Okabe and Ito's palette without its yellow and black: told apart by colour-blind readers, on white and on dark.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C6BB1", "#7F7F7F")
CONFIG = {"displaylogo": False, "responsive": True}


def plain(figure: go.Figure, *, height: int, x: str = "", y: str = "", legend: bool = False) -> go.Figure:
    """The look all figures share: no frame, no background, small margins, axis titles; height in pixels."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=legend,
        colorway=PALETTE,
        template="none",
        font={"family": "system-ui, sans-serif", "size": 12},
        hoverlabel={"font": {"size": 12}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        dragmode=False,
    )
    figure.update_xaxes(title=x, automargin=True, zeroline=False, showline=True, linewidth=1, ticks="outside")
    figure.update_yaxes(title=y, automargin=True, zeroline=False, gridwidth=1)
    return figure
