"""A map of tasks or models: one mark a point, coloured by what is known of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from leaderboard.html.plot_style import GROUPS, SYMBOLS, UNGROUPED, label_sides, plain_map

LABELLED = 30  # points named on the figure itself
MOST = 17  # values with a mark of their own; rarer ones share one


def points(
    *, x: np.ndarray, y: np.ndarray, names: Sequence[str], values: Sequence[str], unknown: str, meta: Mapping[str, Any]
) -> go.Figure:
    """Points by a fact in words: a colour and a shape for each value; `unknown` values are grey."""
    counts = {value: list(values).count(value) for value in dict.fromkeys(values) if value != unknown}
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    order = sorted(ranked, key=natural) if len(ranked) <= MOST else ranked[:MOST]
    figure = go.Figure()
    for at, value in enumerate(order):
        _add(
            figure,
            x,
            y,
            names,
            [index for index, other in enumerate(values) if other == value],
            name=value,
            marker={"color": GROUPS[at % len(GROUPS)], "symbol": SYMBOLS[at % len(SYMBOLS)]},
        )
    rest = [index for index, value in enumerate(values) if value not in order]
    if rest:
        name = unknown if len(ranked) <= MOST else f"{unknown}, or {len(ranked) - MOST} rarer"
        _add(figure, x, y, names, rest, name=name, marker={"color": UNGROUPED, "symbol": "circle-open"})
    return plain_map(figure, height=560, meta=meta, dragmode="lasso", legend=True)


def measured(
    *,
    x: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    values: np.ndarray,
    title: str,
    log: bool,
    write: Callable[[float], str],
    meta: Mapping[str, Any],
) -> go.Figure:
    """Points by a number on a perceptually uniform scale; those without one are grey. `write` gives a number's text."""
    figure = go.Figure()
    known = [index for index, value in enumerate(values) if not math.isnan(value)]
    shown = np.log10(values[known]) if log else values[known]
    ticks = {}
    if log and known:
        whole = range(math.floor(shown.min()), math.ceil(shown.max()) + 1)
        ticks = {"tickvals": list(whole), "ticktext": [f"{10**power:g}" for power in whole]}
    _add(
        figure,
        x,
        y,
        names,
        known,
        name=title,
        extra=[write(values[index]) for index in known],
        marker={
            "color": shown.astype(np.float32),
            "colorscale": "Cividis",
            "showscale": True,
            "colorbar": {"title": {"text": title, "side": "right"}, "thickness": 10, "outlinewidth": 0, **ticks},
        },
    )
    rest = [index for index, value in enumerate(values) if math.isnan(value)]
    if rest:
        _add(figure, x, y, names, rest, name="Not known", marker={"color": UNGROUPED, "symbol": "circle-open"})
    return plain_map(figure, height=560, meta=meta, dragmode="lasso", legend=False)


def _add(
    figure: go.Figure,
    x: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    indices: list[int],
    *,
    name: str,
    marker: dict[str, Any],
    extra: list[str] | None = None,
) -> None:
    words = [names[index] for index in indices]
    sides = label_sides(names, x, y, height=500) if len(names) <= LABELLED else [""] * len(names)
    if extra is not None:
        words = [f"{word}: {more}" for word, more in zip(words, extra, strict=True)]
    named = {
        "mode": "markers+text",
        "text": [names[index] if sides[index] else "" for index in indices],
        "textposition": [sides[index] or "top center" for index in indices],
        "textfont": {"size": 10},
    }
    figure.add_scatter(
        x=x[indices].astype(np.float32),
        y=y[indices].astype(np.float32),
        name=name,
        hovertext=words,
        **(named if any(sides) else {"mode": "markers"}),
        customdata=indices,
        marker={"size": 9, **marker},
        unselected={"marker": {"opacity": 0.15}},
        hovertemplate="%{hovertext}<extra>" + name.replace("%", "") + "</extra>",
    )


def natural(value: str) -> tuple[int, str]:
    """Numbered names in the order of their numbers."""
    head = value.split(":")[0].rpartition(" ")[2]
    return (int(head) if head.isdigit() else 10**6, value)
