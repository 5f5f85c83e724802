"""Fewer tasks that order models as a whole suite does: which, how well, what is lost, and what is saved."""

from __future__ import annotations

from typing import Any

import gradio as gr

from compute.analysis.figures.curve import curve
from compute.analysis.table import USUAL
from leaderboard.html.labels import ORIGIN_CHOICES
from leaderboard.page import Site, View, bind, heading, instead, message_box
from leaderboard.pages.smaller_suite.choice import (
    SmallerSuiteQuery,
    SmallerSuites,
    answer,
    export,
    parameters,
    tables,
)

SENTENCE = "The fewest tasks of a suite that rank models like all of its tasks, and what skipping the others loses."


def draw(site: Site) -> None:
    """The choice and its curve, the controls, the export, then what the choice loses."""

    def choosable() -> list[tuple[str, str]]:
        suites = site.db.query("suites")
        suites = suites[suites["aggregate"] != "human"]
        return list(zip(suites["title"], suites["key"], strict=True))

    suites = SmallerSuites(site.db)
    heading(
        title="A smaller suite",
        sentence=SENTENCE,
        cite=site.db.query("benchmark", key="mieb").iloc[0]["bibtex"],
    )
    message = message_box()
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Choosing tasks …</p>", apply_default_css=False)
    with gr.Row(elem_classes="pg-controls"):
        suite = gr.Dropdown(choosable(), value="mieb", label="Suite to shorten")
        origin = gr.Dropdown(ORIGIN_CHOICES, value=USUAL, label="Scores")
        size = gr.Number(None, minimum=0, maximum=200, precision=0, label="Number of tasks (empty: the knee)")
    plot = gr.Plot(show_label=False, container=False, elem_classes="pg-figure-330")
    files = gr.HTML("", apply_default_css=False)
    more = "Limit the running time, or change which tasks count as redundant"
    with gr.Accordion(more, open=False), gr.Row(elem_classes="pg-controls"):
        by = gr.Dropdown([("Number of tasks", "tasks"), ("Running time", "hours")], value="tasks", label="Limit")
        hours = gr.Number(5, minimum=0.01, maximum=1000, label="Hours per model, all tasks together")
        high = gr.Number(0.5, minimum=-1, maximum=1, step=0.05, label="Drop tasks with a mean correlation above")
        low = gr.Number(0.45, minimum=-1, maximum=1, step=0.05, label="Then, of the rest, those above")
    rest = gr.HTML("", apply_default_css=False)

    def page(**values: Any) -> tuple:
        query = SmallerSuiteQuery(**values)
        chosen = suites.choose(query)
        figure = curve(chosen, held_out=suites.held_out(query), own=suites.own(query.suite, query.origin))
        return (
            answer(suites, query),
            gr.update(value=figure, visible=len(chosen.selection.order) > chosen.selection.fewest),
            gr.skip() if query.size else gr.update(value=None, placeholder=str(chosen.selection.size)),
            export(suites, query),
            tables(suites, query, titles=site.db.keyed("models")["title"]),
        )

    def blank(**_: Any) -> tuple:
        return instead("smaller-suite?suite=", choosable()), gr.update(value=None, visible=False), gr.skip(), "", ""

    bind(
        site,
        parameters=parameters(site.db.query("suites")),
        controls=[suite, origin, size, by, hours, high, low],
        outputs=[head, plot, size, files, rest],
        draw=page,
        message=message,
        blank=blank,
        lists={"suite": choosable},
    )


SMALLER_SUITE = View(
    key="smaller-suite",
    title="Smaller suite",
    sentence=SENTENCE,
    group="Insights",
    draw=draw,
    figures=True,
)
