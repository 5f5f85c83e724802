"""Generators by people and by every automatic metric, and how far each metric can be trusted on which set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr
import numpy as np
import pandas as pd
from markupsafe import Markup

from leaderboard.data import suite_queries
from leaderboard.html.formatting import number
from leaderboard.html.labels import SUSPECT, choice_title
from leaderboard.html.templates import macro, render
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.generators import backbones, computed_page, figures
from leaderboard.pages.generators import computed as computed_sets
from leaderboard.pages.generators.computed_page import SHOWN_FIRST
from leaderboard.pages.generators.metrics import METRIC_MODELS, SETS, MetricComparison, comparison_of
from leaderboard.web.parameters import Choice, Text

SENTENCE = (
    "Which text-to-image generators people prefer, how nine automatic metrics rank the same generators, "
    "and which metric you can trust in place of people."
)
MOST_BUTTONS = 6  # sets above which they are chosen from a list
FIGURE = 300  # pixels below which one figure is below the other
HIDDEN = gr.update(visible=False)
METRIC = "Metric to compare with people"


def draw(site: Site) -> None:
    """Which metric can be trusted where, one metric on one set as figures, the controls, then the details."""
    heading(
        title="Generators",
        sentence=SENTENCE,
        cite=site.db.query("benchmark", key="cfred").iloc[0]["bibtex"],
    )
    titles = suite_queries.metrics(site.db)["title"]
    listed = [(titles[key], key) for key in METRIC_MODELS]
    computed = partial(computed_sets.sets_of, site)

    def sets() -> list[tuple[str, str]]:
        own = [(choice_title(each.title, each.benchmark), key) for key, each in computed().items()]
        return [*((title, key) for key, title in SETS.items()), *own]

    def metrics() -> list[tuple[str, str]]:
        keys = dict.fromkeys((*METRIC_MODELS, *(key for each in computed().values() for key in each.columns)))
        return [(suite_queries.metrics(site.db)["title"][key], key) for key in keys]

    parameters = (
        Choice(key="set", default="coco", choices=tuple(key for _, key in sets()), noun="set"),
        Choice(key="metric", default="cfred", choices=tuple(key for _, key in metrics()), noun="metric"),
        Text(key="backbone"),
    )
    message = message_box()
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Comparing the metrics with people …</p>", apply_default_css=False)
    with gr.Row(elem_classes="lk-figures", elem_id="generators-figures"):
        slope = gr.Plot(show_label=False, container=False, min_width=FIGURE)
        scatter = gr.Plot(show_label=False, container=False, min_width=FIGURE)
    with gr.Row(elem_classes="pg-controls"):
        pick = gr.Radio if len(sets()) <= MOST_BUTTONS else gr.Dropdown
        which = pick(sets(), value="coco", label="Set of generators", scale=2, min_width=260)
        metric = gr.Dropdown(listed, value="cfred", label=METRIC, scale=1, min_width=260)
        backbone = gr.Dropdown([SHOWN_FIRST], value="", label="Features of", visible=False, scale=1, min_width=200)
    rest = gr.HTML("", apply_default_css=False)
    comparisons = partial(comparison_of, site)

    def whole(*, set: str, metric: str, backbone: str) -> tuple:
        if set in computed():
            return computed_page.page(site, computed()[set], metric=metric, backbone=backbone)
        return (
            *page(site, comparisons, chosen=set, metric=metric),
            gr.update(choices=listed, value=metric, label=METRIC),
            gr.update(choices=[SHOWN_FIRST], value="", visible=False),
        )

    def blank(**_: Any) -> tuple:
        links = [
            (title, [(name, f"generators?set={key}&metric={metric}") for name, metric in listed])
            for key, title in SETS.items()
        ]
        return macro("index")(links), HIDDEN, HIDDEN, "", gr.skip(), HIDDEN

    bind(
        site,
        parameters=parameters,
        controls=[which, metric, backbone],
        outputs=[head, slope, scatter, rest, metric, backbone],
        draw=whole,
        message=message,
        blank=blank,
        lists={"set": sets, "metric": metrics},
    )
    backbones.draw(site)


def answer(comparisons: Callable[[str], MetricComparison]) -> Markup:
    """Which metric can be trusted where, in a sentence and a line for each set."""
    trust = [comparisons(key).trust for key in SETS]
    agree = Counter(metric.title for each in trust for metric in each.agree)
    return render(
        "pages/generators/answer.html",
        trust=trust,
        everywhere=[title for title, count in agree.items() if count == len(trust)],
        several=[title for title, count in agree.items() if count > 1],
    )


def page(site: Site, comparisons: Callable[[str], MetricComparison], *, chosen: str, metric: str) -> tuple:
    """The four outputs: the answer and the reading of one metric on the `chosen` set, both figures, and the tables."""
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
    head = render("pages/generators/reading.html", comparison=comparison, metric=shown, on_parti=chosen == "parti")
    tables = render(
        "pages/generators/page.html",
        comparison=comparison,
        metric=shown,
        comparisons=[(SETS[key], comparisons(key)) for key in SETS],
        metrics=list(METRIC_MODELS),
        generators=[
            (index, models[index], titles[index]) for index in np.argsort(comparison.human_ranks, kind="stable")
        ],
        notes=site.db.query("task_notes", task=comparison.people.task),
    )
    return (
        answer(comparisons) + head,
        gr.update(value=slope, visible=True),
        gr.update(value=scatter, visible=True),
        tables,
    )


GENERATORS = View(key="generators", title="Generators", sentence=SENTENCE, group="Insights", draw=draw, figures=True)
