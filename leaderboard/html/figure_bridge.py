"""The bridge from a figure to the page: a constant template, and the module that listens in the browser."""

from __future__ import annotations

import gradio as gr

TEMPLATE = "<div class='pg-bridge'></div>"


def pairs(assets: str, *, figure: str) -> gr.HTML:
    """Its `select` event fires when a cell of the figure with the element id `figure` is clicked: value `x,y`."""
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        apply_default_css=False,
        elem_classes="pg-silent",
        js_on_load=f"""
import(new URL('{assets}js/figure.js', document.baseURI)).then((module) =>
  module.pairs(element.querySelector('.pg-bridge'), {{ id: '{figure}', open: (pair) => trigger('select', pair) }}));
""",
    )


def selection(assets: str, *, figure: str) -> gr.HTML:
    """A line that turns a lasso, a box or a chosen group of the figure into a link to the board."""
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        apply_default_css=False,
        js_on_load=f"""
import(new URL('{assets}js/figure.js', document.baseURI)).then((module) =>
  module.selection(element.querySelector('.pg-bridge'), {{ id: '{figure}' }}));
""",
    )


def pictures(assets: str, *, figure: str) -> gr.HTML:
    """Shows the images behind the points of the figure: the one pointed at, and those of a chosen label."""
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        apply_default_css=False,
        elem_classes="pg-silent",
        js_on_load=f"""
import(new URL('{assets}js/figure.js', document.baseURI)).then((module) =>
  module.pictures(element.querySelector('.pg-bridge'), {{ id: '{figure}' }}));
""",
    )
