"""Where the answers stand: markup that Python renews, and the module that hides names and keeps the tally."""

from __future__ import annotations

import gradio as gr


def answers(assets: str) -> gr.HTML:
    """The place below the tray. `assets` is the address of answers.js, relative to the app's root."""
    return gr.HTML(
        "",
        apply_default_css=False,
        elem_id="answers",
        js_on_load=f"""
import(new URL('{assets}pages/compare/answers.js', document.baseURI)).then((module) => module.mount(element));
""",
    )
