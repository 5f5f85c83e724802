"""Score against size, memory, dimension and release date, and what it takes to run a suite."""

from __future__ import annotations

from typing import Any

import gradio as gr

from compute.rounding import size
from leaderboard.data.memo import memoised
from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import macro, macros
from leaderboard.page import PartialRedraw, Site, View, bind, citations, heading, message_box
from leaderboard.pages.cost import figures
from leaderboard.pages.cost.suite_front import AXES, RATE, SIZE, CostQuery, SuiteFronts, parameters, suite_items

FIGURE = "cost-figure"
SENTENCE = (
    "Scores against parameters, memory, embedding dimension and release date: which models have no smaller "
    "or older one that is significantly better. Below, what it takes to run the suite."
)
MEAN = ("The suite's mean", "")


def draw(site: Site) -> None:
    """The answer, the picture, its controls, the table, the notes and the calculator."""
    suite_fronts, texts = SuiteFronts(site.suite_cache), macros("pages/cost/page.html")
    times = memoised(lambda: site.db.query("image_times"), of=site.db)
    lists = {"suite": lambda: suite_choices(suite_fronts.suites())}
    heading(title="Size & cost", sentence=SENTENCE, cite=citations(site))
    message = message_box()
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Comparing scores and costs …</p>", apply_default_css=False)
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE, elem_classes="pg-figure-420")
    with gr.Row(elem_classes="pg-controls"):
        suite = gr.Dropdown([], value=None, label="Suite", scale=2)
        category = gr.Dropdown([MEAN], value="", label="Score", scale=2)
        axis = gr.Radio([(each.title, key) for key, each in AXES.items()], value=SIZE, label="Against", scale=3)
    foot = gr.HTML("", apply_default_css=False)
    gr.HTML("<section class='pg-section'><h2>What it takes to run this suite</h2></section>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        rate = gr.Number(RATE, minimum=0.01, maximum=1e6, label="Items a second", scale=0, min_width=200)
    cost = gr.HTML("", apply_default_css=False)

    def page(**values: Any) -> tuple:
        query = CostQuery(**values)
        suite_front = suite_fronts.get(query)
        choices = [MEAN, *((name, name) for name in suite_front.categories)]
        drawn = bool(suite_front.with_cost)
        return (
            gr.update(choices=choices, value=suite_front.category),
            texts.answer(suite_front, query.category),
            gr.update(value=figures.chart(suite_front) if drawn else None, visible=drawn),
            texts.table(suite_front) + texts.notes(suite_front),
            *calculator(**values),
        )

    def calculator(*, suite: str, rate: float, **_: Any) -> tuple:
        return (texts.calculator(suite_items(suite), suite=suite, rate=rate, times=times(), size=size),)

    def blank(**_: Any) -> tuple:
        links = [(title, f"cost?suite={key}") for title, key in lists["suite"]()]
        return gr.skip(), macro("index")([("", links)]), gr.update(value=None, visible=False), "", ""

    bind(
        site,
        parameters=parameters(),
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
