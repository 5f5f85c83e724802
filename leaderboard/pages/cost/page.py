"""Score against size, memory, dimension and release date, and what it takes to run a suite."""

from __future__ import annotations

from typing import Any

import gradio as gr

from compute.rounding import size
from leaderboard.data.fronts import SIZE
from leaderboard.data.memo import memoised
from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import macros
from leaderboard.page import PartialRedraw, Site, View, bind, citations, heading, instead, message_box
from leaderboard.pages.cost import figures
from leaderboard.pages.cost.suite_front import AXES, suite_front, suite_items, suites
from leaderboard.web.parameters import Choice, Number, Text

FIGURE = "cost-figure"
SENTENCE = (
    "Scores against parameters, memory, embedding dimension and release date: which models have no smaller "
    "or older one that is significantly better. Below, what it takes to run the suite."
)
SUITE = "unisim-core"  # the first with intervals and sizes
RATE = 100.0  # items a second
MEAN = ("The suite's mean", "")


def draw(site: Site) -> None:
    """The answer, the picture, its controls, the table, the notes and the calculator."""
    texts = macros("pages/cost/page.html")
    times = memoised(lambda: site.db.query("image_times"), of=site.db)
    lists = {"suite": lambda: suite_choices(suites(site.db))}
    heading(title="Size & cost", sentence=SENTENCE, cite=citations(site))
    message = message_box()
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Comparing scores and costs …</p>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        suite = gr.Dropdown([], value=None, label="Suite", scale=2)
        category = gr.Dropdown([MEAN], value="", label="Score", scale=2)
        axis = gr.Radio([(each.title, key) for key, each in AXES.items()], value=SIZE, label="Against", scale=3)
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE, elem_classes="pg-figure-420")
    foot = gr.HTML("", apply_default_css=False)
    gr.HTML("<section class='pg-section'><h2>What it takes to run this suite</h2></section>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        rate = gr.Number(RATE, minimum=0.01, maximum=1e6, label="Items a second", scale=0, min_width=200)
    cost = gr.HTML("", apply_default_css=False)

    def page(*, suite: str, category: str, axis: str, rate: float) -> tuple:
        front = suite_front(site.suite_cache, suite=suite, category=category, axis=axis)
        drawn = bool(front.with_cost)
        return (
            gr.update(choices=[MEAN, *((name, name) for name in front.categories)], value=front.category),
            texts.answer(front, category),
            gr.update(value=figures.chart(front) if drawn else None, visible=drawn),
            texts.table(front) + texts.notes(front),
            *calculator(suite=suite, rate=rate),
        )

    def calculator(*, suite: str, rate: float, **_: Any) -> tuple:
        return (texts.calculator(suite_items(suite), suite=suite, rate=rate, times=times(), size=size),)

    def blank(**_: Any) -> tuple:
        return gr.skip(), instead("cost?suite=", lists["suite"]()), gr.update(value=None, visible=False), "", ""

    bind(
        site,
        parameters=(
            Choice(key="suite", default=SUITE, choices=(SUITE,), noun="suite"),
            Text(key="category", longest=120),
            Choice(key="axis", default=SIZE, choices=tuple(AXES)),
            Number(key="rate", default=RATE, low=0.01, high=1e6),
        ),
        controls=[suite, category, axis, rate],
        outputs=[category, head, figure, foot, cost],
        draw=page,
        parts=(PartialRedraw(keys=("rate",), outputs=[cost], draw=calculator),),
        message=message,
        blank=blank,
        lists=lists,
        lists_at_start=False,
    )


COST = View(
    key="cost",
    title="Size & cost",
    sentence=SENTENCE,
    group="Insights",
    draw=draw,
    figures=True,
)
