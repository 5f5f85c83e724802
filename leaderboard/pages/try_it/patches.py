"""The Try page's section "Where do they agree?": two images under a grid of one model's patches."""

from __future__ import annotations

import base64
from itertools import combinations
from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from compute.live.inputs import thumbnail
from compute.live.questions import LiveQuestion
from compute.models import has_patches
from compute.types import BadInput
from leaderboard.html.components import folded, rendered
from leaderboard.html.templates import macro, render
from leaderboard.live.live import QUEUE
from leaderboard.page import Site, static_html
from leaderboard.pages.try_it.perturb import Section, names
from leaderboard.web.errors import caught

SENTENCE = (
    "Hover over a patch of one image to see which patches of the other are most similar to it for this model. Before "
    "that, each image shows where it has a close match in the other."
)


def section(site: Site, payload: gr.JSON) -> Section:
    """Builds the section, which is visible once two images were compared by a model with patch tokens."""
    with folded(site.blocks, "Where do they agree?") as accordion:
        static_html(f"<p class='pg-quiet'>{SENTENCE}</p>")
        with gr.Row(elem_classes="pg-controls"):
            pair = gr.Dropdown([], value=None, label="Between")
            model = gr.Dropdown([], value=None, label="For this model")
            show = gr.Button("Show", scale=0, min_width=120)
        output = rendered(site.assets, script="pages/try_it/patches.js")

    def renew(question: LiveQuestion, request: dict[str, Any]) -> dict[Any, Any]:
        pairs = _pairs(question)
        models = [(row.title, row.key) for row in site.live.models(request["models"]) if has_patches(row)]
        visible = bool(pairs and models)
        return {
            accordion: gr.update(visible=visible),
            pair: gr.update(choices=pairs, value=pairs[0][1] if visible else None),
            model: gr.update(choices=models, value=models[0][1] if visible else None),
            output: "",
        }

    @caught(macro("message"))
    def draw(between: str | None, key: str | None, payload: dict[str, Any], request: gr.Request) -> str:
        return patch_map(site, payload, request, between=str(between or ""), key=str(key or ""))

    show.click(
        draw,
        inputs=[pair, model, payload],
        outputs=[output],
        preprocess=False,  # the choices are those of the question
        concurrency_id=QUEUE,
        show_progress="minimal",
        trigger_mode="once",
        api_visibility="private",
    )
    return Section(components=[accordion, pair, model, output], renew=renew)


def _pairs(question: LiveQuestion) -> list[tuple[str, str]]:
    """Two images at a time: the reference with each of the others, else every two."""
    titles = names(question)
    images = [index for index, each in enumerate(question.inputs) if each.modality == "image"]
    pairs = [pair for pair in combinations(images, 2) if question.mode != "choice" or images[0] or not pair[0]]
    return [(f"{titles[first]} and {titles[second]}", f"{first},{second}") for first, second in pairs]


def patch_map(site: Site, payload: dict[str, Any], request: Any, *, between: str, key: str) -> Markup:
    """The two images under their grids. Raises LikenessError."""
    live = site.live
    live.admit(request)
    question, _ = live.read(payload)
    if not between:
        raise BadInput("Choose two images first")
    first, second = (question.inputs[int(index)] for index in between.split(","))
    result = live.patches(first, second, live.roster.row(key), session=str(payload.get("session", "")))
    return render(
        "pages/try_it/patches.html",
        ranks=base64.b64encode(np.round(result.ranks * 255).astype(np.uint8).tobytes()).decode(),
        sides=[
            ("first", first, thumbnail(first.content), result.first, result.seen[0]),
            ("second", second, thumbnail(second.content), result.second, result.seen[1]),
        ],
        notes=list(dict.fromkeys(seen.note for seen in result.seen if seen.note)),
        cosines=result.cosines,
    )
