"""The tray as a Gradio component: a constant template, and the module that fills it in the browser."""

from __future__ import annotations

import gradio as gr

TEMPLATE = "<div class='likeness-tray'></div>"


def tray(assets: str) -> gr.HTML:
    """Mounts the tray; its event `compare` carries session, inputs, mode, question, models and blind.

    `download` carries the same, and comes in its place where weights of a chosen model are not here yet.
    `assets` is the address of tray.js and its modules, relative to the app's root.
    """
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        apply_default_css=False,
        js_on_load=f"""
const root = document.baseURI;
const place = element.querySelector('.likeness-tray');
const tell = (name, data) => {{
  if (name === 'compare') trigger('compare', data);
  if (name === 'download') trigger('download', data);
}};
import(new URL('{assets}pages/compare/tray.js', root)).then(
  (module) => module.mount(place, {{ trigger: tell, root }}),
  () => {{ place.textContent = 'The page did not load. Reload it to try again.'; }});
""",
    )
