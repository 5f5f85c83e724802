"""A map of one task's images: one mark an image, coloured by its label; pictures are shown by figure.js."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from leaderboard.html.plot_style import GROUPS, SYMBOLS, UNGROUPED, plain_map

MOST = 21  # labels with a mark of their own: three shapes of every colour


def images(points: pd.DataFrame, *, meta: Mapping[str, Any]) -> go.Figure:
    """points: image, label, x, y. Of many labels the most frequent have marks of their own, the others are grey.

    Each point's customdata is its row among the points; `meta` goes to the page with the figure.
    """
    figure = go.Figure()
    counts = points["label"].value_counts()
    shown = sorted(sorted(counts.index, key=lambda label: (-counts[label], label))[:MOST])
    rows = np.arange(len(points))
    size = 7 if len(points) <= 600 else 5
    for at, label in enumerate(shown):
        _add(
            figure,
            points,
            rows[(points["label"] == label).to_numpy()],
            name=label,
            marker={"size": size, "color": GROUPS[at % len(GROUPS)], "symbol": SYMBOLS[at // len(GROUPS)]},
        )
    rest = rows[~points["label"].isin(shown).to_numpy()]
    if len(rest):
        _add(
            figure,
            points,
            rest,
            name=f"{len(counts) - len(shown)} more labels",
            marker={"size": size, "color": UNGROUPED, "symbol": "circle-open"},
        )
    plain_map(figure, height=520, meta=meta, dragmode="zoom", legend=True)
    return figure.update_yaxes(scaleanchor="x", scaleratio=1)


def _add(figure: go.Figure, points: pd.DataFrame, rows: np.ndarray, *, name: str, marker: dict[str, Any]) -> None:
    figure.add_scatter(  # not in WebGL, which not every browser gives
        x=points["x"].to_numpy()[rows].astype(np.float32),
        y=points["y"].to_numpy()[rows].astype(np.float32),
        name=name.replace("<", "&lt;"),
        mode="markers",
        customdata=rows.tolist(),
        marker=marker,
        unselected={"marker": {"opacity": 0.12}},
        hoverinfo="none",
    )
