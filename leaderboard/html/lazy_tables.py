"""The tables of the other pages as Gradio components: constant templates, filled by their modules in the browser."""

from __future__ import annotations

import gradio as gr


def lazy_tables(assets: str, *scripts: str) -> gr.HTML:
    """Fills what `markup.lazy_table` made on the page, also later; `scripts` export a `watch()` of their own."""
    return gr.HTML(
        value="",
        html_template="<span class='lk-watch'></span>",
        apply_default_css=False,
        js_on_load="\n".join(
            f"import(new URL('{assets}{script}', document.baseURI)).then((module) => module.watch());"
            for script in ("js/lazy_tables.js", *scripts)
        ),
    )


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
