"""Score against size, age and encode time: which models no cheaper model is proved to beat."""

from __future__ import annotations

from typing import Any

import gradio as gr

from leaderboard.html.labels import suite_choices
from leaderboard.html.templates import macro, macros
from leaderboard.page import Site, View, bind, citations, heading, message_box
from leaderboard.pages.cost import figures
from leaderboard.pages.cost.suite_front import AXES, SIZE, STATES, TIME, CostQuery, SuiteFronts, parameters

FIGURE = "cost-figure"
SENTENCE = (
    "Scores against parameters, release date and measured encode time, and which models no smaller, older or faster "
    "model is proved to beat: the Pareto front with its uncertainty."
)
MEAN, MOST_USED = ("The suite's mean", ""), ("The most used", "")


def draw(site: Site) -> None:
    """The answer, the picture, its controls, the notes and the table."""
    suite_fronts, texts = SuiteFronts(site.suite_cache), macros("pages/cost/page.html")
    lists = {
        "suite": lambda: suite_choices(suite_fronts.suites()),
        "device": lambda: [MOST_USED, *((device, device) for device in suite_fronts.devices())],
    }
    heading(title="Size, age and cost", sentence=SENTENCE, cite=citations(site))
    message = message_box()
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Comparing scores and costs …</p>", apply_default_css=False)
    figure = gr.Plot(show_label=False, container=False, elem_id=FIGURE)
    with gr.Row(elem_classes="pg-controls"):
        suite = gr.Dropdown([], value=None, label="Suite", scale=2)
        category = gr.Dropdown([MEAN], value="", label="Score", scale=2)
        axis = gr.Radio([(each.title, key) for key, each in AXES.items()], value=SIZE, label="Against", scale=3)
        device = gr.Dropdown([MOST_USED], value="", label="Device", visible=False, scale=1)
    foot = gr.HTML("", apply_default_css=False)

    def page(**values: Any) -> tuple:
        query = CostQuery(**values)
        suite_front = suite_fronts.get(query)
        choices = [MEAN, *((name, name) for name in suite_front.categories)]
        drawn = bool(suite_front.with_cost)
        return (
            gr.update(choices=choices, value=suite_front.category),
            gr.update(visible=query.axis == TIME),
            texts.answer(suite_front, query.category),
            gr.update(value=figures.chart(suite_front) if drawn else None, visible=drawn),
            texts.notes(suite_front) + texts.table(suite_front, STATES),
        )

    def blank(**_: Any) -> tuple:
        links = [(title, f"cost?suite={key}") for title, key in lists["suite"]()]
        return gr.skip(), gr.skip(), macro("index")([("", links)]), gr.update(value=None, visible=False), ""

    bind(
        site,
        parameters=parameters(),
        controls=[suite, category, axis, device],
        outputs=[category, device, head, figure, foot],
        draw=page,
        message=message,
        blank=blank,
        lists=lists,
        lists_at_start=False,
    )


COST = View(
    key="cost",
    title="Size, age and cost",
    sentence=SENTENCE,
    group="Insights",
    draw=draw,
    figures=True,
)
