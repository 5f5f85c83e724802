"""Figures by language: the models for a language from best to worst, languages beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from leaderboard.data.language_evidence import LanguageModels, LanguageScore
from leaderboard.html.formatting import number
from leaderboard.html.named_points import add_names
from leaderboard.html.plot_style import PALETTE, SYMBOLS, plain, unmarked

HEIGHT = 340  # px


def models(ranking: LanguageModels) -> go.Figure:
    """The models with a mean from best to worst, each with its 95% interval where it is known, with names."""
    shown = ranking.ranked
    score = ranking.counted[0]
    rank = np.arange(1, len(shown) + 1, dtype=np.int16)
    mean, low, high = (
        score.scale * np.array([getattr(each, end) for each in shown]) for end in ("mean", "low", "high")
    )
    names = [unmarked(each.title) for each in shown]
    figure = go.Figure(
        go.Scatter(
            x=rank,
            y=mean,
            mode="markers",
            text=[f"{number(value, digits=score.digits)}  {name}" for value, name in zip(mean, names, strict=True)],
            marker={"size": 7, "color": PALETTE[0]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(high - mean),
                "arrayminus": np.nan_to_num(mean - low),
                "thickness": 1,
                "width": 0,
            },
            hovertemplate="%{text}<extra></extra>",
        )
    )
    add_names(figure, names=names, x=rank, y=mean, higher=score.higher)
    what = score.metric if len(ranking.counted) == 1 else "Mean score"
    plain(figure, height=HEIGHT, x="Best to worst", y=f"{what}, %")
    return figure.update_xaxes(showgrid=False)


def one_task(
    score: LanguageScore,
    *,
    origin: str,
    languages: Sequence[str],
    best: np.ndarray,
    leaders: Sequence[str],
    median: np.ndarray,
) -> go.Figure:
    """The best and the median model of a task in each language by figures of one origin, the languages by the best.

    Values in shown units.
    """
    order = np.argsort(-best, kind="stable")
    names = [languages[at] for at in order]
    figure = go.Figure()
    for title, values, texts, symbol in (
        ("Best model", best, leaders, SYMBOLS[0]),
        ("Median model", median, [""] * len(order), SYMBOLS[1]),
    ):
        figure.add_scatter(
            name=title,
            x=names,
            y=values[order],
            mode="markers",
            text=[f"{number(values[at], digits=score.digits)}  {unmarked(texts[at]) or title}" for at in order],
            marker={"size": 8, "symbol": symbol},
            hovertemplate="%{x}: %{text}<extra></extra>",
        )
    plain(figure, height=HEIGHT, x=f"{unmarked(score.title)}, {origin} figures", y=f"{score.metric}, %", legend=True)
    return figure.update_xaxes(showgrid=False, tickangle=-60)


def one_model(points: Sequence[tuple[str, str, float]], *, digits: int) -> go.Figure:
    """A model's scores: (task, language, value in shown units) in the order of the languages."""
    languages = list(dict.fromkeys(language for _, language, _ in points))
    figure = go.Figure()
    for at, task in enumerate(dict.fromkeys(task for task, _, _ in points)):
        own = [(language, value) for name, language, value in points if name == task]
        figure.add_scatter(
            name=unmarked(task),
            x=[language for language, _ in own],
            y=[value for _, value in own],
            mode="markers",
            marker={"size": 8, "symbol": SYMBOLS[at % len(SYMBOLS)]},
            text=[number(value, digits=digits) for _, value in own],
            hovertemplate="%{x}: %{text}<extra></extra>",
        )
    plain(figure, height=HEIGHT, y="Score, %", legend=True)
    return figure.update_xaxes(showgrid=False, tickangle=-60, categoryorder="array", categoryarray=languages)
