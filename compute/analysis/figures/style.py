"""Style shared by all figures. Text and lines are readable on white and on dark; on a page, look.css sets their
colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

# Okabe and Ito's palette without its yellow and black: colour-blind readers can distinguish them, on white and on dark.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8C6BB1", "#7F7F7F")
GROUPS = PALETTE[:-1]  # of groups of points; grey is for points without a group
UNGROUPED = "#8A94A3"
TEXT, LINES = "#767676", "rgba(128, 128, 128, .3)"  # for outside of pages: 4.5:1 on white and on black
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")


def plain(figure: go.Figure, *, height: int, x: str = "", y: str = "", legend: bool = False) -> go.Figure:
    """Applies the style that all figures share: no frame, no background, small margins, axis
    titles; height in pixels.
    """
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        showlegend=legend,
        colorway=PALETTE,
        template="none",
        font={"family": "Inter, system-ui, sans-serif", "size": 12, "color": TEXT},
        hoverlabel={"font": {"size": 12}},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        dragmode=False,
    )
    lines = {"automargin": True, "zeroline": False, "gridwidth": 1, "gridcolor": LINES}
    figure.update_xaxes(title=x, **lines, showline=True, linewidth=1, linecolor=LINES, ticks="outside", tickcolor=LINES)
    figure.update_yaxes(title=y, **lines)
    return figure


def plain_map(figure: go.Figure, *, meta: Mapping[str, Any], legend: bool) -> go.Figure:
    """Applies the style of a map, whose axes have no meaning: no axes, the legend below. `meta` is passed to the page's
    scripts.
    """
    plain(figure, height=560, legend=legend)
    hidden = {"showgrid": False, "showline": False, "showticklabels": False, "ticks": "", "title": ""}
    return figure.update_layout(
        meta=dict(meta),
        dragmode="lasso",
        hovermode="closest",
        xaxis=hidden,
        yaxis=hidden,
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0, "itemsizing": "constant"},
    )


def unmarked(text: str) -> str:
    """Replaces the characters that plotly would read as markup."""
    return text.replace("<", "‹").replace(">", "›")


def label_sides(
    names: Sequence[str],
    x: np.ndarray,
    y: np.ndarray,
    *,
    width: float = 1000,
    height: float = 330,
) -> list[str]:
    """Returns the side of its point on which each name hides neither points nor other names; empty if no side fits.

    Computed for a figure of this size in px; names in a narrower one may still overlap.
    """
    across, up = (np.ptp(values) or 1.0 for values in (x, y))
    px, py = (x - x.min()) / across * width * 0.9 + width * 0.05, (y - y.min()) / up * height * 0.9
    occupied = [(a - 5, b - 5, a + 5, b + 5) for a, b in zip(px, py, strict=True)]  # left, bottom, right, top, px
    sides = []
    for name, a, b in zip(names, px, py, strict=True):
        long, high = 5.6 * len(name), 11
        boxes = {
            "top center": (a - long / 2, b + 5, a + long / 2, b + 5 + high),
            "middle right": (a + 6, b - high / 2, a + 6 + long, b + high / 2),
            "middle left": (a - 6 - long, b - high / 2, a - 6, b + high / 2),
            "bottom center": (a - long / 2, b - 5 - high, a + long / 2, b - 5),
        }
        side = next(
            (
                side
                for side, box in boxes.items()
                if box[0] >= 0 and box[2] <= width and not any(_meet(box, other) for other in occupied)
            ),
            "",
        )
        if side:
            occupied.append(boxes[side])
        sides.append(side)
    return sides


def at_sides(names: Sequence[str], sides: Sequence[str]) -> dict[str, Any]:
    """Returns the names of a trace's points at their `label_sides`, as plotly arguments."""
    return {
        "text": [name if side else "" for name, side in zip(names, sides, strict=True)],
        "textposition": [side or "top center" for side in sides],
        "textfont": {"size": 10},
    }


def _meet(box: Sequence[float], other: Sequence[float]) -> bool:
    return box[0] < other[2] and box[2] > other[0] and box[1] < other[3] and box[3] > other[1]
