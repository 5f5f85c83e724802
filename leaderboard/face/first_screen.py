"""The first screen of a page as markup: what Gradio's scripts will show, available before any of them runs.

The page's own components are walked in order: markup as it is, or as the events that fill it when the page is opened
make it for this address; what a script of ours mounts, which starts at once; a control as its label and value; a figure
as the room that it takes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import gradio as gr
from markupsafe import Markup

from leaderboard.html.templates import FOLDER, macros
from leaderboard.page import ESCAPED
from leaderboard.web import static

# Characters of markup that fill a screen; what follows is left to the page itself, as is a very long part after the
# page's first ones.
ENOUGH, LITTLE, MOST = 8_000, 5_000, 40_000
VERSION = gr.__version__.replace(".", "-")  # as Gradio writes it in a class
CHOICES = ("radio", "checkboxgroup")  # controls that show all that can be chosen
CONTROLS = ("dropdown", *CHOICES, "slider", "checkbox", "textbox", "number")


def first_screen(blocks: gr.Blocks, page: str, query: Mapping[str, str], *, assets: str, filled: bool) -> Markup:
    """Returns the first screen of the page with this key at an address with this query. `assets`: the address of the
    scripts' folders. Without `filled`, it has only static content, which takes no time.
    """
    opening = [
        fn
        for fn in blocks.fns.values()
        if fn.page == page and fn.fn and any(event == "load" for _, event in fn.targets)
    ]
    props = {one["id"]: one["props"] for one in blocks.config["components"]}
    fills = {one._id: fn for fn in opening if filled for one in fn.outputs}

    def filled_props(key: int) -> dict[str, Any]:
        """Returns the properties of a component. Those filled by an event are computed when the first of them is
        drawn.
        """
        if fn := fills.get(key):
            values = fn.fn(*[SimpleNamespace(query_params=query)] * len(inspect.signature(fn.fn).parameters))
            for one, value in zip(fn.outputs, values if len(fn.outputs) > 1 else [values], strict=True):
                props[one._id] = props[one._id] | (value if isinstance(value, dict) else {"value": value})
                fills.pop(one._id, None)
        return props[key]

    draw = macros("face/first.html")
    early: list[dict[str, Any]] = []

    def drawn(nodes: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
        """Yields the markup of some components, except hidden ones."""
        for node in nodes:
            block, own = blocks.blocks[node["id"]], filled_props(node["id"])
            kind, classes, width = block.get_block_name(), own.get("elem_classes") or (), own.get("min_width") or 160
            if own.get("visible", True) is not True or "pg-silent" in classes:
                continue
            if part := getattr(block, "early", None):
                data = part.data(query) if callable(part.data) else part.data
                early.append(part._asdict() | {"files": static.needed(part.script), "data": data})
                rows = part.rows(query) if filled else ""
                yield draw.mounted(rows or Markup(part.markup), classes, part.css_class)
            elif kind == "html":
                yield draw.markup(_markup(own), classes)
            elif kind in CONTROLS:
                titles, looks = _titles(own, all=kind in CHOICES), "many" if own.get("multiselect") else "value"
                looks = "choice" if kind in CHOICES else looks
                yield draw.control(own.get("label"), titles, looks, own.get("scale") or 1, width)
            elif kind == "plot":
                layout = getattr(own.get("value"), "layout", None)
                yield draw.room(getattr(layout, "height", None) or 0, width)
            elif kind == "accordion":
                yield draw.folded(own.get("label"))
            elif inside := Markup("").join(drawn(node.get("children") or ())):
                yield draw.group(kind, inside, classes)

    parts, length, each = [], 0, drawn(blocks.config["page"][page]["layout"]["children"])
    while length <= ENOUGH and (part := next(each, None)) is not None:  # what follows is not even made
        if length > LITTLE and len(part) > MOST:
            break
        parts.append(part)
        length += len(part)
    return draw.first(parts, early, fills=len(opening), version=VERSION, assets=assets)


@cache
def sheet(blocks: gr.Blocks) -> Markup:
    """Returns the style rules of a first screen: the theme's, Gradio's general rules, and ours."""
    look = Markup((FOLDER / "html" / "look.css").read_text())
    (whole,) = static.GRADIO.glob("index-*.css")
    general, _, _ = whole.read_text().partition(f".gradio-container-{VERSION} .cropper")
    return macros("face/first.html").sheet(look, Markup(blocks.theme_css), Markup(general))


def _markup(props: Mapping[str, Any]) -> Markup:
    template = props.get("html_template", "${value}")
    if template == "${value}":
        return Markup(props.get("value") or "")
    for sign, escaped in ESCAPED:
        template = template.replace(escaped, sign)
    return Markup(template)


def _titles(props: Mapping[str, Any], *, all: bool) -> list[str]:
    """Returns what a control shows: the titles of what is chosen, or `all` that can be."""
    choices, value = props.get("choices") or (), props.get("value")
    chosen = value if isinstance(value, list) else [value]
    shown = [str(title) for title, key in choices if all or key in chosen]
    return shown if choices else ["" if value is None else str(value)]
