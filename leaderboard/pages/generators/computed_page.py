"""What the page shows of a computed set: the answer, its picture, and every metric."""

from __future__ import annotations

import gradio as gr
import numpy as np
import pandas as pd

from compute.analysis.figures.ranked import strip
from compute.types import unknown
from leaderboard.data import suite_queries
from leaderboard.html.formatting import blank, number, span
from leaderboard.html.templates import render
from leaderboard.page import Site
from leaderboard.pages.generators import figures
from leaderboard.pages.generators.computed import ComputedSet, MetricColumn

SHOWN_FIRST = ("As shown first", "")  # the choice of features that is none
UNTESTED = "an interval needs 30 prompts and a value for two generators"


def shown(computed: ComputedSet, *, metric: str, backbone: str, titles: pd.Series) -> tuple[MetricColumn, str]:
    """The scores that the address means, and a sentence where they are others than it names."""
    moved = ""
    if metric not in computed.columns:
        first = next(iter(computed.columns))
        moved = f"{titles.get(metric, metric)} is not computed for this set: {titles[first]} is shown instead."
        metric = first
    column = computed.column(metric, backbone=backbone)
    if backbone and backbone not in computed.subsets:
        moved += f" {unknown('features of', backbone, computed.subsets)}"
    elif backbone and column.subset != backbone:
        moved += f" {column.title} does not rest on {backbone.replace('|', ' and ')}: here it is on {column.features}."
    return column, moved.strip()


def page(site: Site, computed: ComputedSet, *, metric: str, backbone: str) -> tuple:
    """The reading of one metric, its intervals as a figure, its values against people's ratings, the tables, and the
    controls with what this set has to choose from."""
    metrics = suite_queries.metrics(site.db)
    titles = metrics["title"]
    column, moved = shown(computed, metric=metric, backbone=backbone, titles=titles)
    columns = computed.every_column(backbone=backbone)
    readings = computed.beside_people(columns)
    people = None if computed.people is None else metrics.loc[computed.people[0]]
    head = render(
        "pages/generators/computed_head.html",
        computed=computed,
        column=column,
        moved=moved,
        first=[computed.generators[row].title for row in column.first],
        reading=next((each for each in readings if each.column.metric == column.metric), None),
        untested=UNTESTED,
    )
    tables = render(
        "pages/generators/computed.html",
        computed=computed,
        columns=columns,
        order=[*column.order, *np.flatnonzero(column.ranks < 0)],
        readings=readings,
        people=people,
        people_title="" if people is None else people.title,
    )
    return (
        head,
        gr.update(value=interval_figure(computed, column), visible=True),
        gr.update(value=None, visible=False) if people is None else _beside(computed, column, people),
        tables,
        gr.update(choices=[(titles[key], key) for key in computed.columns], value=column.metric, label="Metric"),
        gr.update(
            choices=[SHOWN_FIRST, *((subset.replace("|", " and "), subset) for subset in computed.subsets)],
            value=backbone if backbone in computed.subsets else "",
            visible=True,
        ),
    )


def interval_figure(computed: ComputedSet, column: MetricColumn) -> object:
    """Every generator with its interval, best on top."""
    rows, tested = column.order, column.differences is not None
    first, rest = "First, or not significantly worse", "Significantly worse than the first"
    if not tested:
        first, rest = "First", "Others; no difference is tested"
    figure = strip(
        names=[computed.generators[row].title for row in rows],
        value=column.values[rows] * column.scale,
        low=column.low[rows] * column.scale,
        high=column.high[rows] * column.scale,
        groups=[first if int(row) in column.first else rest for row in rows],
        notes=[_words(column, row) for row in rows],
        x=f"{column.title} ({'higher' if column.higher else 'lower'} is better)",
        grey=rest,
    )
    return figure.update_layout(height=max(figures.LEAST, figure.layout.height))


def _words(column: MetricColumn, row: int) -> str:
    digits, scale = column.decimals, column.scale
    words = f"{column.title} {number(column.values[row], digits=digits, scale=scale)}"
    if not blank(column.low[row]):
        words += f" ({span(column.low[row], column.high[row], digits=digits, scale=scale)})"
    if column.differences is not None:
        low, high = column.differences.rank_low[row], column.differences.rank_high[row]
        words += f"<br>rank {column.ranks[row]}, 95% interval {low} to {high}"
    return words


def _beside(computed: ComputedSet, column: MetricColumn, people: pd.Series) -> object:
    ratings = computed.people[1] if computed.people else np.zeros(0)
    rows = np.flatnonzero(np.isfinite(ratings) & np.isfinite(column.values))
    if len(rows) < 2:
        return gr.update(value=None, visible=False)
    points = pd.DataFrame(
        {
            "title": [computed.generators[row].title for row in rows],
            "score": column.values[rows] * column.scale,
            "human": ratings[rows] * people.scale,
            "suspect": False,
            "words": [_words(column, row) for row in rows],
        }
    )
    plot = figures.scatter(points, metric=column.title, human=people.title, higher=column.higher)
    return gr.update(value=plot, visible=True)
