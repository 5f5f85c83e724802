"""Fewer tasks that order models as a whole suite does: which, how well, what is lost, and what is saved."""

from __future__ import annotations

from typing import Any

import gradio as gr

from compute.analysis.table import USUAL
from leaderboard.data import model_queries, suite_queries
from leaderboard.html.labels import ORIGIN_CHOICES
from leaderboard.html.templates import macro
from leaderboard.page import Site, View, bind, heading, message_box
from leaderboard.pages.smaller_suite import figures
from leaderboard.pages.smaller_suite.choice import SIZE, SmallerSuiteQuery, SmallerSuites, answer, parameters, tables

SENTENCE = (
    "Which few tasks of a suite order models as all of them do, what is lost with the others, and what it saves. "
    "Redundant tasks need not all be run: as in MIEB section 6.3, tasks whose mean correlation with the others is "
    "highest are dropped, those above one threshold and then those above a second; where the paper then picks by hand, "
    "tasks are added here one at a time, each category first, always the one that brings the order of models nearest "
    "to the whole suite's."
)


def draw(site: Site) -> None:
    """The choice and what it loses, its curve, then the controls."""

    def choosable() -> list[tuple[str, str]]:
        suites = suite_queries.suites(site.db)
        suites = suites[suites["aggregate"] != "human"]
        return list(zip(suites["title"], suites["key"], strict=True))

    suites = SmallerSuites(site.db)
    heading(
        title="A smaller suite",
        sentence=SENTENCE,
        cite=suite_queries.benchmark(site.db, key="mieb").iloc[0]["bibtex"],
    )
    message = message_box()
    head = gr.HTML("<p class='pg-waiting pg-quiet'>Choosing tasks …</p>", apply_default_css=False)
    curve = gr.Plot(show_label=False, container=False)
    with gr.Row(elem_classes="pg-controls"):
        of = gr.Dropdown(choosable(), value="mieb", label="Of")
        origin = gr.Dropdown(ORIGIN_CHOICES, value=USUAL, label="Scores")
        by = gr.Dropdown([("Tasks", "tasks"), ("Hours", "hours")], value="tasks", label="Limit by")
        size = gr.Number(SIZE, minimum=1, maximum=200, precision=0, label="Tasks")
        hours = gr.Number(5, minimum=0.01, maximum=1000, label="Hours a model")
        high = gr.Number(0.5, minimum=-1, maximum=1, step=0.05, label="Redundant above")
        low = gr.Number(0.45, minimum=-1, maximum=1, step=0.05, label="Then above")
    rest = gr.HTML("", apply_default_css=False)

    def page(**values: Any) -> tuple:
        query = SmallerSuiteQuery(**values)
        chosen = suites.choose(query)
        names = [chosen.scores.titles[task] for task in chosen.selection.path]
        return (
            answer(suites, query),
            gr.update(value=figures.path(agreement=chosen.selection.agreement, names=names), visible=True),
            tables(suites, query, titles=model_queries.models(site.db)["title"]),
        )

    def blank(**_: Any) -> tuple:
        links = [(title, f"smaller-suite?suite={key}") for title, key in choosable()]
        return macro("index")([("", links)]), gr.update(value=None, visible=False), ""

    bind(
        site,
        parameters=parameters(suite_queries.suites(site.db)),
        controls=[of, origin, by, size, hours, high, low],
        outputs=[head, curve, rest],
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
