"""Fewer tasks that rank models like a whole suite: which, how well, what is lost, and what is saved."""

from __future__ import annotations

from typing import Any

import gradio as gr

from compute.analysis.figures.curve import curve
from compute.analysis.table import USUAL
from leaderboard.html.labels import ORIGIN_CHOICES
from leaderboard.page import Canvas, Site, View, controls, instead
from leaderboard.pages.smaller_suite.choice import (
    SmallerSuiteQuery,
    answer,
    choose,
    export,
    held_out,
    own,
    tables,
)
from leaderboard.web.parameters import Number

NUMBERS = (  # of the parameters, the thresholds those of MIEB section 6.3: key, default, lowest, highest, label
    ("high", 0.5, -1, 1, "Drop tasks with a mean correlation above"),
    ("low", 0.45, -1, 1, "Then, of the rest, those above"),
)


def draw(site: Site) -> None:
    """Draws the choice and its curve, the controls, the export, then what the choice loses."""

    def choosable() -> list[tuple[str, str]]:
        suites = site.db.query("suites")
        suites = suites[suites["aggregate"] != "human"]
        return list(zip(suites["title"], suites["key"], strict=True))

    db, canvas = site.db, Canvas(site)
    head = canvas.waiting("Choosing tasks")
    with controls():
        canvas.choose("suite", choosable, default="mieb", noun="suite", label="Suite to shorten")
        canvas.choose("origin", ORIGIN_CHOICES, default=USUAL, label="Scores")
        size = gr.Number(None, minimum=0, maximum=200, precision=0, label="Number of tasks (empty: the knee)")
        canvas.control(Number(key="size", default=0, low=0, high=200, whole=True), size)
    canvas.figure(elem_classes="pg-figure-330")
    canvas.output(size)
    canvas.html()
    with gr.Accordion("Change which tasks count as redundant", open=False), controls():
        for key, default, low, high, label in NUMBERS:
            number = gr.Number(default, minimum=low, maximum=high, step=0.05, label=label)
            canvas.control(Number(key=key, default=default, low=low, high=high), number)
    canvas.html()

    def page(**values: Any) -> tuple:
        query = SmallerSuiteQuery(**values)
        chosen = choose(db, query)
        figure = curve(chosen, held_out=held_out(db, query), own=own(db, query.suite, query.origin))
        return (
            answer(db, query),
            gr.update(value=figure, visible=len(chosen.selection.order) > chosen.selection.fewest),
            gr.skip() if query.size else gr.update(value=None, placeholder=str(chosen.selection.size)),
            export(db, query),
            tables(db, query, titles=db.keyed("models")["title"]),
        )

    canvas.bind(page, instead=lambda **_: {head: instead("smaller-suite?suite=", choosable())})


SMALLER_SUITE = View(
    key="smaller-suite",
    title="Smaller suite",
    heading="A smaller suite",
    sentence="The fewest tasks of a suite that rank models like all of its tasks, and what skipping the others loses.",
    cites="mieb",
    group="Insights",
    draw=draw,
)
