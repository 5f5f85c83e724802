"""Every task in one list: search, filters, how its models score, with a link to each task's own page; then what each
type of task asks."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from leaderboard.data.memo import shared
from leaderboard.html.drawn_examples import short_markup
from leaderboard.html.templates import render
from leaderboard.page import Site, catalogue, fill
from leaderboard.pages.tasks.listing import summary, tasks, types


@shared
def drawn_types(site: Site) -> Markup:
    """What each type of task asks, by a drawn example."""
    drawn = [(example, short_markup(example), tasks) for example, tasks in types(site.db)]
    return render("pages/tasks/types.html", types=drawn)


def rest(site: Site) -> None:
    """What each type of task asks, filled once the page is opened."""
    drawn = gr.HTML(render("pages/tasks/types.html", types=[]), apply_default_css=False, elem_id="types")
    fill(site, section="What each type of task asks", outputs=[drawn], make=lambda: [drawn_types(site)])


TASKS = catalogue(
    key="tasks",
    sentence="Every task with its benchmark, category, metric and languages, and how the models score on it. Click a "
    "name for the task's own page.",
    rows=tasks,
    summary=summary,
    rest=rest,
)
