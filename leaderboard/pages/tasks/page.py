"""Every task in one list: search, filters, how its models score, with a link to each task's own page."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from leaderboard.data.memo import memoised
from leaderboard.html.components import scripted
from leaderboard.html.templates import render
from leaderboard.page import Site, View, heading
from leaderboard.pages.tasks.listing import summary
from leaderboard.pages.tasks.routes import routes

SENTENCE = (
    "Every task with its benchmark, category, metric and languages, and how the models score on it. Click a name for "
    "the task's own page."
)


def answer(site: Site) -> Markup:
    """The first sentence, with links to what it counts."""
    return render("pages/tasks/answer.html", **summary(site.db))


def draw(site: Site) -> None:
    """The answer, then the list, which keeps its state in the address itself."""
    heading(title="Tasks", sentence=SENTENCE)
    current = memoised(lambda: answer(site), of=site.db)
    sentence = gr.HTML(answer(site), apply_default_css=False)
    site.blocks.load(current, outputs=[sentence], queue=False, show_progress="hidden", api_visibility="private")
    mount = "module.mount(target, 'data/tasks');"
    scripted(site.assets, script="pages/tasks/tasks.js", run=mount, css_class="likeness-board")


TASKS = View(key="tasks", title="Tasks", sentence=SENTENCE, group="Models & tasks", draw=draw, routes=routes)
