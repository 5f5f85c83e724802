"""Your eyes: a visitor answers questions about images, and sees which models give the same answers."""

from __future__ import annotations

from typing import Any

import gradio as gr

from leaderboard.html.components import scripted
from leaderboard.html.templates import render
from leaderboard.live.live import QUEUE
from leaderboard.page import QUIET, Site, View, payload_of, script_json
from leaderboard.pages.eyes import routes
from leaderboard.pages.eyes.studies import Studies
from leaderboard.web.errors import explain
from leaderboard.web.redact import redact_paths


def draw(site: Site) -> None:
    """The page, which is drawn by one script. Its event `make` is a turn of `Studies`, with its number `turn`."""
    folder = str(site.study is not None).lower()
    if site.study_key:
        folder += " && new URLSearchParams(location.search).has('key')"
    studies = Studies(site)
    eyes = scripted(
        site.assets,
        script="pages/eyes/eyes.js",
        css_class="likeness-eyes",
        markup=render("pages/eyes/start.html", styled=False),
        rows=lambda query: render("pages/eyes/start.html", styled=True),
        events=("make",),
        run=f"const view = module.mount(target, {{ trigger: fire, root, folder: {folder} }});"
        " gradio.then(({ props, watch }) =>"
        " watch('value', () => { if (props.value) view.made(JSON.parse(props.value)); }));",
    )

    def make(event: gr.EventData, request: gr.Request) -> str:
        payload: dict[str, Any] = payload_of(event)
        try:
            facts = studies.turn(payload, request)
        except Exception as error:
            facts = {"state": "failed", "message": redact_paths(explain(error, action="A study"))}
        number = payload.get("turn")  # no two answers are equal, or the second would not arrive
        return script_json(facts | {"turn": number if isinstance(number, int) else 0})

    eyes.make(make, outputs=[eyes], concurrency_id=QUEUE, trigger_mode="multiple", **QUIET)


EYES = View(
    key="eyes",
    title="Your eyes",
    sentence="Compare images for five minutes, and see which model agrees with you.",
    copied=False,
    inline=True,
    group="Your eyes",
    draw=draw,
    routes=routes.routes,
)
