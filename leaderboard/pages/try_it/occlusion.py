"""The Try page's section "Where do they agree?": how far a score falls without each part of an image."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from compute.live.inputs import thumbnail
from compute.live.questions import LiveQuestion
from compute.models.model_rows import pairing_of, scores
from compute.types import BadInput
from leaderboard.html.components import folded, html
from leaderboard.html.templates import macro, render
from leaderboard.live.live import QUEUE
from leaderboard.page import Site, controls, static_html
from leaderboard.pages.try_it.perturb import Section, names
from leaderboard.web.errors import caught

SENTENCE = (
    "Each part of an image is greyed in turn, and the model compares the two again. Where the score falls, it rests on "
    "that part; where it rises, that part spoke against it."
)


def section(site: Site, payload: gr.JSON) -> Section:
    """Builds the section, for images compared by models with scores."""
    title = "Where do they agree?"
    with folded(site.blocks, title, elem_id="agree") as accordion, gr.Column(visible=False) as body:
        static_html(f"<p class='pg-quiet'>{SENTENCE}</p>")
        with controls():
            pair = gr.Dropdown([], value=None, label="Between")
            model = gr.Dropdown([], value=None, label="For this model")
            show = gr.Button("Show", scale=0, min_width=120)
        output = html()

    def renew(question: LiveQuestion, request: dict[str, Any]) -> dict[Any, Any]:
        pairs = _pairs(question)
        models = [(row.title, row.key) for row in site.live.models(request["models"]) if scores(row, question.pairing)]
        return {
            pair: gr.update(choices=pairs, value=pairs[0][1] if pairs else None),
            model: gr.update(choices=models, value=models[0][1] if models else None),
            output: "",
        }

    @caught(macro("message"))
    def draw(between: str | None, key: str | None, payload: dict[str, Any], request: gr.Request) -> str:
        return occlusion_map(site, payload, request, between=str(between or ""), key=str(key or ""))

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
    return Section(key="agree", accordion=accordion, body=body, message=output, components=[pair, model], renew=renew)


def _pairs(question: LiveQuestion) -> list[tuple[str, str]]:
    """Returns pairs of inputs with at least one image: the reference with each of the others, else every pair."""
    titles, kinds = names(question), question.kinds
    found = [
        pair
        for pair in combinations(range(len(kinds)), 2)
        if "image" in (kinds[pair[0]], kinds[pair[1]]) and (question.mode != "choice" or not pair[0])
    ]
    return [(f"{titles[first]} and {titles[second]}", f"{first},{second}") for first, second in found]


def occlusion_map(site: Site, payload: dict[str, Any], request: Any, *, between: str, key: str) -> Markup:
    """Returns the images of a pair under their grids. Raises LikenessError."""
    live = site.live
    live.admit(request)
    question, _ = live.read(payload)
    if between not in [places for _, places in _pairs(question)]:
        raise BadInput("Choose two inputs first")
    pair = [question.inputs[int(index)] for index in between.split(",")]
    row = live.roster.row(key)
    if not scores(row, pairing_of(*(each.modality for each in pair))):
        raise BadInput(f"{row.title} gives no score for these two. Choose another model")
    whole, grids = live.drops(row, pair, session=str(payload.get("session", "")))
    images = [(each, grid) for each, grid in zip(pair, grids, strict=True) if grid is not None]
    return render(
        "pages/try_it/occlusion.html",
        images=[
            (
                each.name,
                each.content.size,
                thumbnail(each.content),
                grid.tolist(),
                np.unravel_index(grid.argmax(), grid.shape),
            )
            for each, grid in images
        ],
        model=row.title,
        whole=whole,
        most=max(float(np.abs(grid).max()) for _, grid in images),
    )
