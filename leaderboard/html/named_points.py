"""Names at the points of a figure that goes from best to worst: as many as fit, which the browser decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from compute.types import shortened

NAMES = "names"  # what js/named_points.js knows the traces by
LONGEST = 30  # characters of a name
SIZE = 11
FALLING = ("top right", "bottom left", "top left", "bottom right")  # away from the curve first
RISING = ("bottom right", "top left", "bottom left", "top right")
APART = 14  # px, twice the room between a point and its name


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
