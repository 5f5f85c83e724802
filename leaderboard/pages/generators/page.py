"""Generators by people and by every automatic metric, and how far each metric can be trusted on which set."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr
import numpy as np
import pandas as pd

from leaderboard.data import suite_queries, task_queries
from leaderboard.data.memo import memoised
from leaderboard.html.formatting import number
from leaderboard.html.labels import SUSPECT
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.generators import figures
from leaderboard.pages.generators.metrics import METRIC_MODELS, MetricComparison, compare_metrics
from leaderboard.web.parameters import Choice

SENTENCE = (
    "Which text-to-image generators people prefer, how nine automatic metrics rank the same generators, "
    "and where such a metric may stand in for people."
)
SETS = {"hpdv2": "HPDv2", "parti": "Parti-Prompts", "coco": "COCO"}


def draw(site: Site) -> None:
    """The overview first, then one set and one metric in detail."""
    heading(
        title="Generators",
        sentence=SENTENCE,
        cite=suite_queries.benchmark(site.db, key="cfred").iloc[0]["bibtex"],
    )
    titles = suite_queries.metrics(site.db)["title"]
    parameters = (
        Choice(key="set", default="hpdv2", choices=tuple(SETS), noun="set"),
        Choice(key="metric", default="cfred", choices=tuple(METRIC_MODELS), noun="metric"),
    )
    with gr.Row(elem_classes="pg-controls"):
        which = gr.Radio(
            [(title, key) for key, title in SETS.items()],
            value="hpdv2",
            label="Set of generators",
            scale=2,
            min_width=260,
        )
        metric = gr.Dropdown(
            [(titles[key], key) for key in METRIC_MODELS],
            value="cfred",
            label="Metric beside people",
            scale=1,
            min_width=260,
        )
    message = message_box()
    head = gr.HTML("<p class='pg-quiet'>Comparing the metrics with people …</p>", apply_default_css=False)
    with gr.Row(elem_classes="lk-figures"):
        slope = gr.Plot(show_label=False, container=False)
        scatter = gr.Plot(show_label=False, container=False)
    rest = gr.HTML("", apply_default_css=False)
    comparisons = memoised(lambda key: compare_metrics(site.db, site.suite_cache.table(f"cfred-{key}")), of=site.db)
    bind(
        site,
        parameters=parameters,
        controls=[which, metric],
        outputs=[head, slope, scatter, rest],
        draw=lambda set, metric: page(site, comparisons, chosen=set, metric=metric),
        message=message,
        blank=lambda **_: (every_metric(titles), gr.update(visible=False), gr.update(visible=False), ""),
    )


def every_metric(titles: pd.Series) -> str:
    """Every metric on every set of generators as a link."""
    return macro("index")(
        [
            (title, [(titles[metric], f"generators?set={key}&metric={metric}") for metric in METRIC_MODELS])
            for key, title in SETS.items()
        ]
    )


def page(site: Site, comparisons: Callable[[str], MetricComparison], *, chosen: str, metric: str) -> tuple:
    """The four outputs: the reading of one metric on the `chosen` set, both figures, and the tables."""
    comparison = comparisons(chosen)
    shown, people = comparison.metric(metric), comparison.people
    models = [row.model for row in comparison.table.rows]
    titles = [comparison.table.models.loc[model, "title"] for model in models]
    short = [title.replace("Stable Diffusion", "SD") for title in titles]
    slope = figures.slope(
        pd.DataFrame({"title": short, "human": comparison.human_ranks, "rank": shown.ranks}), metric=shown.title
    )
    scatter = figures.scatter(
        pd.DataFrame(
            {
                "title": short,
                "score": shown.scores * shown.column.scale,
                "human": comparison.human * people.scale,
                "suspect": (shown.marks & SUSPECT) > 0,
                "words": [
                    f"{shown.title} {number(score, digits=shown.column.digits, scale=shown.column.scale)}<br>"
                    f"{people.title} {number(rating, digits=people.digits, scale=people.scale)}"
                    for score, rating in zip(shown.scores, comparison.human, strict=True)
                ],
            }
        ),
        metric=shown.title,
        human=people.title,
        higher=shown.column.higher,
    )
    reading = render("pages/generators/reading.html", comparison=comparison, metric=shown, on_parti=chosen == "parti")
    tables = render(
        "pages/generators/page.html",
        comparison=comparison,
        comparisons=[(SETS[key], comparisons(key)) for key in SETS],
        metrics=list(METRIC_MODELS),
        generators=[
            (index, models[index], titles[index]) for index in np.argsort(comparison.human_ranks, kind="stable")
        ],
        notes=task_queries.task_notes(site.db, task=comparison.people.task),
    )
    return reading, gr.update(value=slope, visible=True), gr.update(value=scatter, visible=True), tables


GENERATORS = View(key="generators", title="Generators", draw=draw, figures=True)
