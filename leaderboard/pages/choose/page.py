"""Guided choice: a few questions, and at most five models with reasons, what is not known, and how to try each."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from leaderboard.data.languages import SPELLINGS, name_of
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import render
from leaderboard.page import Site, View, bind, heading, static_html
from leaderboard.pages.choose.needs import HARDWARE, LANGUAGES, LICENSES, MANY, NEEDS, SIZES
from leaderboard.pages.choose.shortlist import Conditions, shortlist
from leaderboard.web import parameters as address

SENTENCE = (
    "Say what you need. The shortlist has at most five models: the best that fits, then models that are not "
    "significantly worse than it, by their mean."
)

READY = (
    ("Search in many languages, at most 1 B, stated licence", "language=many&size=1b&license=stated"),
    ("Classify images on a laptop", "need=classification&hardware=cpu"),
    ("Find pages and documents, permissive licence", "need=documents&license=permissive"),
    ("Judge the quality of images", "need=quality"),
)


def draw(site: Site) -> None:
    """The questions, then the shortlist."""
    heading(title="Choose a model", sentence=SENTENCE)
    static_html(render("pages/choose/ready.html", views=READY))
    needs = [(need.title, need.key) for need in NEEDS]
    sizes, hardware = ([("Any", ""), *((one.title, one.key) for one in limits)] for limits in (SIZES, HARDWARE))
    licenses = [("Any, also unknown", ""), *((title, key) for key, title in LICENSES)]
    languages = [("English, or any", ""), *((title, key) for key, title in LANGUAGES)]
    choices = {"need": needs, "language": languages, "size": sizes, "license": licenses, "hardware": hardware}
    parameters = tuple(
        address.Choice(
            key=key,
            default=listed[0][1],
            choices=tuple(value for _, value in listed),
            spellings=SPELLINGS if key == "language" else {},
        )
        for key, listed in choices.items()
    )
    with gr.Row(elem_classes="pg-controls"):
        need = gr.Dropdown(needs, value=needs[0][1], label="What for", scale=3, min_width=280)
        language = gr.Dropdown(languages, value="", label="Language", scale=2, min_width=200)
        size = gr.Dropdown(sizes, value="", label="Size", scale=2, min_width=180)
        license = gr.Dropdown(licenses, value="", label="Licence", scale=2, min_width=200)
        machine = gr.Dropdown(hardware, value="", label="Hardware", scale=2, min_width=200)
    answer = gr.HTML("<p class='pg-quiet'>Loading …</p>", apply_default_css=False, elem_id="shortlist")
    bind(
        site,
        parameters=parameters,
        controls=[need, language, size, license, machine],
        outputs=[answer],
        draw=lambda need, **conditions: (shown(site.suite_cache, need=need, conditions=Conditions(**conditions)),),
    )


def shown(suite_cache: SuiteCache, *, need: str, conditions: Conditions) -> Markup:
    """The shortlist for the need with a key, as markup."""
    chosen = next(one for one in NEEDS if one.key == need)
    if not chosen.suite:
        return render("pages/choose/generators.html")
    result = shortlist(suite_cache, need=chosen, conditions=conditions)
    about = result.table.suite
    return render(
        "pages/choose/page.html",
        list=result,
        conditions=conditions,
        suite=about,
        board=f"board?suite={about['key']}"
        + (f"&language={language}" if (language := result.table.cut.language) else ""),
        language="many languages" if conditions.language == MANY else name_of(conditions.language),
        categories=chosen.asked(conditions.language),
    )


CHOOSE = View(key="choose", title="Choose a model", sentence=SENTENCE, group="Choose", draw=draw)
