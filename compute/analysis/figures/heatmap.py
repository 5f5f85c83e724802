"""The correlation matrix."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from compute.analysis.correlation import Correlation
from compute.analysis.figures.style import PALETTE, plain
from compute.rounding import rounded, rounded_array

SMALL = 40  # axes up to which a cell shows its interval
NAMED = 60  # axes up to which both sides are labelled
WRITTEN = 12  # axes up to which the number is written in the cell
MOST_BLANKS = 2000  # blank cells that are marked one by one
BAND = 0.014  # width of a strip of groups, as a share of the figure's
# MIEB has ten categories; PALETTE has seven colours and a grey. Four come from Paul Tol's muted scheme.
BANDS = (*PALETTE[:-1], "#882255", "#DDCC77", "#117733", "#332288", PALETTE[-1])
RUN = 4  # axes of one group in a row whose name is written next to them
# Orange to blue through transparent: distinct for colour-blind readers, and at 0 the page shows through, light or dark.
# Less than full strength at the ends keeps text readable on them.
ENDS = ("213,94,0", "0,114,178")
STRENGTH = 0.8
# Widths of the 95% interval up to which a cell has each share of its strength; the last share is for wider and unknown
# ones.
WIDTHS = (0.75, 1.25)
SHARES = (1.0, 0.5, 0.2)


CENTRES = (0, 300, 600)  # of SHARES: a cell's value is the centre of its share plus the correlation in percent


def _colours() -> dict[str, Any]:
    """Returns the colour scale of a heatmap of such values."""
    low, top = CENTRES[0] - 100, CENTRES[-1] + 100
    stops: list[tuple[float, str]] = []
    for centre, share in zip(CENTRES, SHARES, strict=True):
        alpha = STRENGTH * share
        negative, positive = (f"rgba({end},{{:g}})" for end in ENDS)
        stops += [
            ((value - low) / (top - low), colour)
            for value, colour in (
                (centre - 100, negative.format(alpha)),
                (centre, negative.format(0)),
                (centre, positive.format(0)),
                (centre + 100, positive.format(alpha)),
            )
        ]
    return {"zmin": low, "zmax": top, "showscale": False, "colorscale": stops}


def heatmap(
    *, labels: Sequence[str], keys: Sequence[str], groups: Sequence[str], correlation: Correlation, minimum: int
) -> go.Figure:
    """Draws correlations [axes, axes] as colours, fainter if the interval is wide, blank if NaN.

    `groups` [axes] are drawn as a band along both sides if there are several groups and many axes. With many axes, a
    cell shows only the correlation.
    """
    names, size = list(labels), len(labels)
    r, n, low, high = correlation.r, correlation.n, correlation.low, correlation.high
    share = np.where(np.isnan(r), 0, np.digitize(np.nan_to_num(high - low, nan=np.inf), WIDTHS, right=True))
    percent = rounded_array(r, 0, scale=100)
    small, figure = size <= SMALL, go.Figure()
    # With too few models for an interval, any correlation is possible.
    bounds = np.where(np.isnan(low), -1, low), np.where(np.isnan(high), 1, high)
    detail = np.stack([rounded_array(r, 2), n, *(rounded_array(bound, 2) for bound in bounds)], axis=2)
    more = ", 95% interval %{customdata[2]:.2f} to %{customdata[3]:.2f}, %{customdata[1]} models"
    figure.add_heatmap(
        z=(np.array(CENTRES)[share] + percent).astype(np.float32),
        x=names,
        y=names,
        **_colours(),
        customdata=detail.astype(np.float32) if small else np.nan_to_num(percent).astype(np.int8),
        hoverongaps=False,
        xgap=int(small),
        ygap=int(small),
        text=[["" if np.isnan(value) else rounded(value, 2).replace("-", "−") for value in row] for row in r]
        if size <= WRITTEN
        else None,
        texttemplate="%{text}" if size <= WRITTEN else None,
        hovertemplate=f"%{{y}}<br>%{{x}}<br>%{{customdata[0]:.2f}}{more}<extra></extra>"
        if small
        else "%{y}<br>%{x}<br>%{customdata} / 100; click for models and interval<extra></extra>",
    )
    rows, columns = np.nonzero(np.isnan(r))
    if 0 < len(rows) <= MOST_BLANKS:
        kind = np.uint8 if size < 256 else np.int16
        figure.add_scatter(  # on separate axes: integers on the named axes would be new names
            x=columns.astype(kind),
            y=rows.astype(kind),
            xaxis="x2",
            yaxis="y2",
            mode="markers",
            customdata=n[rows, columns].astype(np.int16),
            marker={"symbol": "x-thin-open", "size": 5 if small else 3, "color": "#7F7F7F"},
            hovertemplate=f"blank: %{{customdata}} models with both, or all equal; {minimum} are needed<extra></extra>",
        )
    named = size <= NAMED
    side = 34 if size <= WRITTEN else 15 if named else 8.5  # of a cell, px
    plain(figure, height=int(np.clip(size * side + (150 if named else 30), 300, 1250)))
    figure.update_layout(meta={"keys": list(keys)}, hovermode="closest")
    banded = size > WRITTEN and len(set(groups)) > 1
    axis = {
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "constrain": "domain",
        "type": "category",
    }
    figure.update_layout(
        # On a narrow screen the names turn upright, then some are dropped.
        xaxis={
            **axis,
            "side": "bottom",
            "autotickangles": [-40, -90],
            "tickfont": {"size": 11 if size <= WRITTEN else 10},
            "showticklabels": named,
        },
        yaxis={**axis, "dtick": 1, "autorange": "reversed", "showticklabels": named},
    )
    over = {"visible": False, "showgrid": False, "type": "linear", "fixedrange": True}
    figure.update_layout(
        xaxis2={**over, "overlaying": "x", "range": [-0.5, size - 0.5]},
        yaxis2={**over, "overlaying": "y", "range": [size - 0.5, -0.5]},
    )
    if banded:
        _add_bands(figure, names=names, groups=groups, named=named)
    if size > WRITTEN:
        figure.update_layout(font={"size": 10})
    return figure


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """Returns a colour per group, in the order of its first member; groups beyond the list share the last colour."""
    return {group: BANDS[min(at, len(BANDS) - 1)] for at, group in enumerate(dict.fromkeys(groups))}


def _add_bands(figure: go.Figure, *, names: Sequence[str], groups: Sequence[str], named: bool) -> None:
    """Adds a strip of the groups' colours on the left and at the top, and the groups' names if the axes have none."""
    colours = group_colours(groups)
    codes = np.array([list(colours).index(group) for group in groups], np.uint8)
    steps = [(edge / len(colours), colour) for at, colour in enumerate(colours.values()) for edge in (at, at + 1)]
    strip = {
        "zmin": -0.5,
        "zmax": len(colours) - 0.5,
        "colorscale": steps,
        "showscale": False,
        "hoverinfo": "skip",
    }
    figure.add_heatmap(z=codes[:, None], x=[0], y=names, xaxis="x3", yaxis="y", **strip)
    figure.add_heatmap(z=codes[None, :], x=names, y=[0], xaxis="x", yaxis="y3", **strip)
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(yaxis={"anchor": "free", "position": 0})  # its labels are left of the strip
    inner = [BAND + 0.004, 1.0]
    figure.update_layout(
        xaxis3={**hidden, "domain": [0, BAND], "anchor": "y"},
        yaxis3={**hidden, "domain": [1 - BAND, 1], "anchor": "x"},
        **{name: {"domain": inner} for name in ("xaxis", "xaxis2")},
        **{name: {"domain": [0, 1 - inner[0]]} for name in ("yaxis", "yaxis2")},
    )
    if named:
        return
    edges = [0, *(np.flatnonzero(np.diff(codes.astype(int))) + 1).tolist(), len(codes)]
    runs = [(start, stop) for start, stop in itertools.pairwise(edges) if stop - start >= RUN]
    figure.update_layout(
        yaxis={
            "showticklabels": True,
            "tickmode": "array",
            "tickvals": [names[(start + stop - 1) // 2] for start, stop in runs],
            "ticktext": [groups[start] for start, _ in runs],
        }
    )
