"""The page's Gradio components: constant templates, and the modules that fill them in the browser."""

from __future__ import annotations

import gradio as gr

# In a `mount` below, `place` is the component's div, `root` the app's address, and `fire` triggers an event of the
# component if it is one of its own.
MOUNT = """
const root = document.baseURI;
const place = element.querySelector('.{css_class}');
const events = {events};
const fire = (name, data) => {{ if (events.includes(name)) trigger(name, data); }};
import(new URL('{assets}pages/compare/{script}', root)).then((module) => {{ {mount} }},
  () => {{ place.textContent = '{failure}'; }});
"""


def _component(assets: str, *, script: str, css_class: str, events: list[str], mount: str, failure: str) -> gr.HTML:
    # Gradio finds the events by their quoted names in the script.
    return gr.HTML(
        value="",
        html_template=f"<div class='{css_class}'></div>",
        apply_default_css=False,
        js_on_load=MOUNT.format(
            assets=assets, script=script, css_class=css_class, events=events, mount=mount, failure=failure
        ),
    )


def tray(assets: str) -> gr.HTML:
    """The inputs and controls; its event `compare` carries session, inputs, mode, question, models and blind.

    `download` carries the same, and is sent instead where a selected model's weights are missing. `assets` is the
    address of the scripts' folders, relative to the app's root.
    """
    return _component(
        assets,
        script="tray.js",
        css_class="likeness-tray",
        events=["compare", "download"],
        mount="module.mount(place, { trigger: fire, root });",
        failure="The page did not load. Reload it to try again.",
    )


def batch(assets: str) -> gr.HTML:
    """Tables of pairs; its events are `batch` {session, file, models, turn}, `turn` and `stop` {session, turn}.

    Its value is the JSON that batch_section returns.
    """
    return _component(
        assets,
        script="batch.js",
        css_class="likeness-batch",
        events=["batch", "turn", "stop"],
        mount="const view = module.mount(place, { trigger: fire });"
        " watch('value', () => { if (props.value) view.show(JSON.parse(props.value)); });",
        failure="This part did not load. Reload the page to try again.",
    )


def answers(assets: str) -> gr.HTML:
    """The answers, which Python renders; the script hides names and counts the tally of blind mode."""
    return _rendered(assets, script="answers.js", elem_id="answers")


def patches(assets: str) -> gr.HTML:
    """Two images under a grid of patches, which Python renders; the script colours them."""
    return _rendered(assets, script="patches.js")


def _rendered(assets: str, *, script: str, elem_id: str | None = None) -> gr.HTML:
    return gr.HTML(
        "",
        apply_default_css=False,
        elem_id=elem_id,
        js_on_load=f"import(new URL('{assets}pages/compare/{script}', document.baseURI))"
        ".then((module) => module.mount(element));",
    )
