"""A script that listens to a Gradio figure: clicks, selections, the pointer."""

from __future__ import annotations

import gradio as gr


def figure_bridge(assets: str, *, script: str, figure: str, silent: bool = True) -> gr.HTML:
    """Mounts `script` (an address below `assets`) for the figure with the element id `figure`.

    The script exports `mount(owner, {id, select})`; `select(data)` fires the component's `select` event. `silent` hides
    the component.
    """
    return gr.HTML(
        value="",
        html_template="<div class='pg-bridge'></div>",
        apply_default_css=False,
        elem_classes="pg-silent" if silent else None,
        js_on_load=f"""
import(new URL('{assets}{script}', document.baseURI)).then((module) => module.mount(
  element.querySelector('.pg-bridge'), {{ id: '{figure}', select: (data) => trigger('select', data) }}));
""",
    )
