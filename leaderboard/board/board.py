"""The table as a Gradio component: a constant template, and the module that fills it in the browser."""

from __future__ import annotations

import gradio as gr

TEMPLATE = "<div class='likeness-board'></div>"


def board(assets: str) -> gr.HTML:
    """Mounts the table. `assets` is the address of board.js and its modules, relative to the app's root."""
    return gr.HTML(value="", html_template=TEMPLATE, apply_default_css=False, js_on_load=f"""
const root = document.baseURI;
import(new URL('{assets}board.js', root)).then((module) =>
  module.mount(element.querySelector('.likeness-board'), {{ trigger, root }}));
""")
