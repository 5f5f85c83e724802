"""Gradio components that one of our scripts fills in the browser: a constant template, and its script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gradio as gr


class Early(NamedTuple):
    """What mounts a component on the first screen: its script, the class of its element, and JavaScript using `target`
    and `root`.
    """

    script: str
    css_class: str
    run: str
    data: str | Callable[[Mapping[str, str]], str]
    rows: Callable[[Mapping[str, str]], str]
    markup: str  # what the script finds if there are no rows yet


def html(value: str = "", **facts: Any) -> gr.HTML:
    """Markup without Gradio's styling."""
    return gr.HTML(value, apply_default_css=False, **facts)


def scripted(
    assets: str,
    *,
    script: str,
    run: str,
    css_class: str,
    events: tuple[str, ...] = (),
    silent: bool = False,
    early: bool = True,
    data: str | Callable[[Mapping[str, str]], str] = "",
    rows: Callable[[Mapping[str, str]], str] = lambda query: "",
    markup: str = "",
) -> gr.HTML:
    """Returns a `<div class=css_class>` around `markup`, and the JavaScript `run` over it, where `module` is the
    imported ES module.

    `assets` is the address of the scripts' folders, `script` a path below it. In `run`, `target` is the div, `root` the
    app's address, `fire(name, data)` fires one of the component's `events`, and the promise `gradio` has its `props`
    and `watch`. `silent` hides the component while it is empty. One that is `early` is mounted on the page's first
    screen, before Gradio is there: `data` is the address that its script fetches first, or makes it for a query, and
    `rows` the markup that the script replaces once it has that.
    """
    load = (
        f"import(new URL('{assets}{script}', root)).then((module) => {{ const fire = (...event) => "
        f"gradio.then((component) => component.fire(...event)); {run} }}, () => {{ target.textContent = "
        "'This part of the page did not load. Reload the page to try again.'; });"
    )
    # Gradio finds the events by their quoted names in the script.
    component = html(
        html_template=f"<div class='{css_class}'>{markup}</div>",
        elem_classes="pg-silent" if silent else None,
        js_on_load=f"""
const root = document.baseURI;
const target = element.querySelector('.{css_class.replace(" ", ".")}');
const fire = (name, data) => {{ if ({list(events)}.includes(name)) trigger(name, data); }};
const gradio = Promise.resolve({{ props, watch, fire }});
if (!window.likenessFirst?.take(target, gradio)) {load}
""",
    )
    if early:
        component.early = Early(script, css_class, load, data, rows, markup)
    return component


def mounted(assets: str, script: str) -> str:
    """Returns JavaScript for a component whose markup Python renders: `script` mounts itself on it."""
    return f"import(new URL('{assets}{script}', document.baseURI)).then((module) => module.mount(element));"


def figure_bridge(assets: str, *, script: str, figure: str, silent: bool = True) -> gr.HTML:
    """Mounts `script` (an address below `assets`) for the chart with the element id `figure`.

    The script exports `mount(owner, {id, select})`; `select(data)` fires the component's `select` event. `silent` hides
    the component.
    """
    run = f"module.mount(target, {{ id: '{figure}', select: (data) => fire('select', data) }});"
    return scripted(
        assets, script=script, run=run, css_class="pg-bridge", events=("select",), silent=silent, early=False
    )


def folded(blocks: gr.Blocks, label: str, *, elem_id: str) -> gr.Accordion:
    """Returns a section that is hidden at first, and collapsed when it is shown; filled as a context manager.

    Gradio mounts the contents of a closed accordion when it is first opened, and a frame later sets every control back
    to the server's value: what a visitor moves before that is lost. So this one is built open, where its contents are
    mounted with it, and the browser closes it before it is shown. `blocks` is the app.
    """
    accordion = gr.Accordion(label, open=True, visible=False, elem_id=elem_id)
    blocks.load(None, js="() => ({__type__: 'update', open: false})", outputs=[accordion], api_visibility="private")
    return accordion


def lazy_tables(assets: str, *scripts: str) -> gr.HTML:
    """Fills the results of the macro `lazy_table` on the page, also later ones; `scripts` export their own
    `watch()`.
    """
    return html(
        html_template="<span class='lk-watch'></span>",
        js_on_load="\n".join(
            f"import(new URL('{assets}{script}', document.baseURI)).then((module) => module.watch());"
            for script in ("js/lazy_tables.js", *scripts)
        ),
    )
