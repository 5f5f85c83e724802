"""The table as a Gradio component: a constant template, and the module that fills it in the browser."""

from __future__ import annotations

import gradio as gr

TEMPLATE = "<div class='likeness-board' data-suite='unisim-core'></div>"


def board(assets: str) -> gr.HTML:
    """Mounts the table; its event `compare` carries ids, suite and query of the rows to set side by side.

    `assets` is the address of board.js and its modules, relative to the app's root.
    """
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        apply_default_css=False,
        js_on_load=f"""
const root = document.baseURI;
const place = element.querySelector('.likeness-board');
const tell = (name, data) => {{ if (name === 'compare') trigger('compare', data); }};
import(new URL('{assets}pages/board/board.js', root)).then(
  (module) => module.mount(place, {{ trigger: tell, root }}),
  () => {{ place.textContent = 'The table did not load. Reload the page to try again.'; }});
""",
    )
