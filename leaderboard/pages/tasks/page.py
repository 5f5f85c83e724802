"""Every task in one list: search, filters, how its models score, with a link to each task's own page; then what each
type of task asks."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from leaderboard.data.memo import shared
from leaderboard.html.drawn_examples import short_markup
from leaderboard.html.templates import render
from leaderboard.page import Site, View, catalogue, fill
from leaderboard.pages.tasks.listing import summary, types
from leaderboard.pages.tasks.routes import routes

SENTENCE = (
    "Every task with its benchmark, category, metric and languages, and how the models score on it. Click a name for "
    "the task's own page."
)


@shared
def answer(site: Site) -> Markup:
    """The first sentence, with links to what it counts."""
    return render("pages/tasks/answer.html", **summary(site.db))


@shared
def drawn_types(site: Site) -> Markup:
    """What each type of task asks, by a drawn example."""
    drawn = [(example, short_markup(example), tasks) for example, tasks in types(site.db)]
    return render("pages/tasks/types.html", types=drawn)


def draw(site: Site) -> None:
    """The answer, the list, then what each type of task asks."""
    catalogue(
        site,
        title="Tasks",
        sentence=SENTENCE,
        answer=answer,
        script="pages/tasks/tasks.js",
        source="data/tasks",
    )
    drawn = gr.HTML(render("pages/tasks/types.html", types=[]), apply_default_css=False, elem_id="types")
    fill(site, section="What each type of task asks", outputs=[drawn], make=lambda: [drawn_types(site)])


TASKS = View(
    key="tasks",
    title="Tasks",
    sentence=SENTENCE,
    group="Models & tasks",
    draw=draw,
    routes=routes,
)
