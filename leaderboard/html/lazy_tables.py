"""The tables of the other pages as Gradio components: constant templates, filled by their modules in the browser."""

from __future__ import annotations

import gradio as gr

from leaderboard.html.components import lazy_tables

__all__ = ["claims", "lazy_tables"]


def claims(assets: str) -> gr.HTML:
    """The table of claims with its filters; it keeps its state in the address."""
    return gr.HTML(
        value="",
        html_template="<div class='likeness-board lk-claims'></div>",
        apply_default_css=False,
        js_on_load=f"""
import(new URL('{assets}pages/claims/claims.js', document.baseURI)).then((module) =>
  module.mount(element.querySelector('.lk-claims'), 'data/claims'));
""",
    )
