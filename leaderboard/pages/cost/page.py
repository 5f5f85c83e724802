"""Score against size, memory, dimension, speed and release date, and what it takes to run a suite."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from compute.rounding import size
from leaderboard.data.fronts import SIZE
from leaderboard.html.components import html
from leaderboard.html.templates import macros
from leaderboard.page import PAPERS, Canvas, PartialRedraw, Site, View, controls, instead
from leaderboard.pages.cost import figures
from leaderboard.pages.cost.suite_front import AXES, suite_front, suite_items, suites
from leaderboard.web.parameters import Number, Text

FIGURE = "cost-figure"
SUITE = "unisim-core"  # the first with intervals and sizes
RATE = 100.0  # items per second
MEAN, ALL = ("The suite's mean", ""), ("All", "")


def draw(site: Site) -> None:
    """Draws the answer, the chart, its controls, the table, the notes and the calculator."""
    texts = macros("pages/cost/page.html")
    canvas = Canvas(site)
    head = canvas.waiting("Comparing scores and costs")
    with controls():
        listed = partial(suites, site.db)
        canvas.choose("suite", listed, default=SUITE, noun="suite", label="Suite", scale=2)
        category = gr.Dropdown([MEAN], value="", label="Score", scale=2)
        canvas.output(canvas.control(Text(key="category", longest=120), category))
        axes = [(each.title, key) for key, each in AXES.items()]
        canvas.choose("axis", axes, default=SIZE, kind=gr.Radio, label="Against", scale=5)

        def models() -> list[tuple[str, str]]:
            rows = site.db.query("catalogue")
            return [ALL, *zip(rows["title"], rows["key"], strict=True)]

        canvas.choose("model", models, noun="model", label="A model (type to search)", scale=2)
    canvas.figure(elem_id=FIGURE, elem_classes="pg-figure-420")
    canvas.html()
    html("<section class='pg-section'><h2>What it takes to run this suite</h2></section>")
    with controls():
        rate = gr.Number(RATE, minimum=0.01, maximum=1e6, label="Items a second", scale=0, min_width=200)
        canvas.control(Number(key="rate", default=RATE, low=0.01, high=1e6), rate)
    cost = canvas.html()

    def page(*, suite: str, category: str, axis: str, model: str, rate: float) -> tuple:
        front = suite_front(site.suite_cache, suite=suite, category=category, axis=axis)
        drawn = bool(front.with_cost)
        return (
            texts.answer(front, category, next(iter(site.db.records("model", key=model)), None)),
            gr.update(choices=[MEAN, *((name, name) for name in front.categories)], value=front.category),
            gr.update(value=figures.chart(front, model) if drawn else None, visible=drawn),
            texts.table(front) + texts.notes(front),
            *calculator(suite=suite, rate=rate),
        )

    def calculator(*, suite: str, rate: float, **_: Any) -> tuple:
        return (texts.calculator(suite_items(suite), suite=suite, rate=rate, size=size),)

    def without_it(**values: Any) -> dict[Any, Any]:
        """Returns the list of suites for an unknown suite, else the page without the unknown model."""
        if not values["suite"]:
            return {head: instead("cost?suite=", listed())}
        return dict(zip(canvas.outputs, page(**values | {"model": ""}), strict=True))

    canvas.bind(
        page,
        instead=without_it,
        parts=[PartialRedraw(("rate",), [cost], calculator)],
    )


COST = View(
    key="cost",
    title="Size & cost",
    sentence="Scores against parameters, memory, embedding dimension, speed and release date: which models have no "
    "smaller, faster or older one that is significantly better. Below, what it takes to run the suite.",
    cites=PAPERS,
    group="Insights",
    draw=draw,
)
