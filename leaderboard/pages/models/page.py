"""Every model in one list: search, filters, ranks and category means, with a link to each model's own page."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from leaderboard.data.memo import memoised
from leaderboard.html.components import scripted
from leaderboard.html.templates import render
from leaderboard.page import Site, View, heading
from leaderboard.pages.models.listing import summary
from leaderboard.pages.models.routes import routes

SENTENCE = (
    "Every model with what it takes, its size and licence, and its rank and category means in a suite. Click a name "
    "for the model's own page."
)


def answer(site: Site) -> Markup:
    """The first sentence, with links to what it counts."""
    return render("pages/models/answer.html", **summary(site.db))


def draw(site: Site) -> None:
    """The answer, then the list, which keeps its state in the address itself."""
    heading(title="Models", sentence=SENTENCE)
    current = memoised(lambda: answer(site), of=site.db)
    sentence = gr.HTML(answer(site), apply_default_css=False)
    site.blocks.load(current, outputs=[sentence], queue=False, show_progress="hidden", api_visibility="private")
    mount = "module.mount(target, 'data/models');"
    scripted(site.assets, script="pages/models/models.js", run=mount, css_class="likeness-board")


MODELS = View(key="models", title="Models", sentence=SENTENCE, group="Models & tasks", draw=draw, routes=routes)
