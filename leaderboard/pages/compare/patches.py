"""The Compare page's part "Where do they agree": two images under a grid of one model's patches."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np

from compute.types import BadInput, LikenessError, Model
from leaderboard import page
from leaderboard.html.markup import message, text, webp
from leaderboard.live.live import QUEUE
from leaderboard.pages.compare.perturb import Part, names

if TYPE_CHECKING:
    from compute.live.answers import Asked
    from compute.live.inputs import Input
    from compute.live.patches import PatchMap
    from compute.models.encoders.framing import Seen

SENTENCE = (
    "Point at a place in one image to see which places of the other are most like it to this model. Before you "
    "do, each image shows where it has a close counterpart in the other."
)
log = logging.getLogger(__name__)


def section(site: page.Site, payload: gr.JSON) -> Part:
    """Builds the part; it is there when two images were compared by a model with patch tokens."""
    with gr.Accordion("Where do they agree?", open=False, visible=False) as around:
        page.static_html(f"<p class='pg-quiet'>{SENTENCE}</p>")
        with gr.Row(elem_classes="pg-controls"):
            pair = gr.Dropdown([], value=None, label="Between")
            model = gr.Dropdown([], value=None, label="To this model")
            show = gr.Button("Show", scale=0, min_width=120)
        shown = gr.HTML("", apply_default_css=False, js_on_load=_mount(site.assets))

    def renew(asked: Asked, asked_for: dict[str, Any]) -> list[Any]:
        pairs = _pairs(asked)
        able = [(row.title, row.key) for row in _able(site, asked_for)]
        there = bool(pairs and able)
        return [
            gr.update(visible=there),
            gr.update(choices=pairs, value=pairs[0][1] if there else None),
            gr.update(choices=able, value=able[0][1] if there else None),
            "",
        ]

    def draw(between: str | None, key: str | None, asked_for: dict[str, Any], request: gr.Request) -> str:
        return agreed(site, asked_for, request, between=between or "", key=key or "")

    show.click(
        draw,
        inputs=[pair, model, payload],
        outputs=[shown],
        concurrency_id=QUEUE,
        show_progress="minimal",
        trigger_mode="once",
        api_visibility="private",
    )
    return Part(components=[around, pair, model, shown], renew=renew)


def _mount(assets: str) -> str:
    script = f"{assets}pages/compare/patches.js"
    return f"import(new URL('{script}', document.baseURI)).then((module) => module.mount(element));"


def _pairs(asked: Asked) -> list[tuple[str, str]]:
    """Two images at a time: the reference with each of the others, else every two."""
    called = names(asked)
    images = [at for at, one in enumerate(asked.inputs) if one.modality == "image"]
    found = [(0, at) for at in images[1:]] if asked.mode == "choice" and 0 in images else list(combinations(images, 2))
    return [(f"{called[one]} and {called[other]}", f"{one},{other}") for one, other in found]


def _able(site: page.Site, payload: dict[str, Any]) -> list[Model]:
    try:
        return [row for row in site.panel.live.read(payload)[1] if site.panel.live.has_patches(row)]
    except LikenessError:
        return []


def agreed(site: page.Site, payload: dict[str, Any], request: Any, *, between: str, key: str) -> str:
    """The two images under their grids as markup, or a sentence why not."""
    try:
        site.panel.admit(request)
        asked, _ = site.panel.live.read(payload)
        first, second = _two(asked, between)
        found = site.panel.live.patches(
            first, second, site.panel.live.row(key), session=str(payload.get("session", ""))
        )
        return _markup(found, first, second, site.panel.live.small)
    except LikenessError as error:
        return message(str(error))
    except Exception:
        log.exception("A map failed")
        return message(page.FAILED)


def _two(asked: Asked, between: str) -> tuple[Input, Input]:
    places = [int(part) for part in between.split(",") if part.isdigit()]
    if len(places) != 2 or max(places) >= len(asked.inputs):
        raise BadInput("Choose two images first")
    return asked.inputs[places[0]], asked.inputs[places[1]]


def _markup(found: PatchMap, first: Input, second: Input, small: Callable[[Input], bytes]) -> str:
    """Ranks as bytes, 0 to 255, for the page to draw: a cell of the table is a pair of patches."""
    table = base64.b64encode(np.round(found.ranks * 255).astype(np.uint8).tobytes()).decode()
    sides = "".join(
        _side(name, image, grid, seen, small)
        for name, image, grid, seen in (
            ("first", first, found.first, found.seen[0]),
            ("second", second, found.second, found.seen[1]),
        )
    )
    notes = " ".join(dict.fromkeys(filter(None, (one.note for one in found.seen))))
    low, high = found.cosines
    return (
        f"<div class='cp-patches' data-ranks='{table}'>{sides}</div>"
        f"<p class='pg-quiet' role='status'></p><p class='pg-quiet'>Colour is rank among all pairs of places of "
        f"these two images, whose cosines run from {low:.2f} to {high:.2f}. {text(notes, missing='')}</p>"
    )


def _side(side: str, image: Input, grid: tuple[int, int], seen: Seen, small: Callable[[Input], bytes]) -> str:
    width, height = image.content.size
    place = (
        f"left:{100 * seen.left:.2f}%;top:{100 * seen.top:.2f}%;width:{100 * (seen.right - seen.left):.2f}%;"
        f"height:{100 * (seen.bottom - seen.top):.2f}%"
    )
    return (
        f"<figure class='cp-side' data-side='{side}' data-rows='{grid[0]}' data-columns='{grid[1]}' "
        f"style='aspect-ratio:{width}/{height}'><img alt='{text(image.name)}' "
        f"src='{webp(small(image))}'><canvas style='{place}' tabindex='0' role='application' "
        f"aria-label='Places of the {side} image; arrow keys choose one'></canvas></figure>"
    )
