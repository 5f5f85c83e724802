"""How the agreement grows as tasks are added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from compute.rounding import rounded_array
from leaderboard.html.plot_style import PALETTE, plain


def path(*, agreement: np.ndarray, names: Sequence[str]) -> go.Figure:
    """How near the order of models comes to the whole suite's as tasks are added. Spearman, [steps]."""
    steps = np.arange(1, len(agreement) + 1, dtype=np.int16)
    figure = go.Figure(
        go.Scatter(
            x=steps,
            y=rounded_array(agreement, 3).astype(np.float32),
            mode="lines+markers",
            text=list(names),
            marker={"size": 5},
            line={"width": 1.5, "color": PALETTE[0]},
            hovertemplate="%{x} tasks: %{y:.3f}<br>added %{text}<extra></extra>",
        )
    )
    plain(figure, height=240, x="Tasks chosen", y="Spearman with the whole")
    return figure
