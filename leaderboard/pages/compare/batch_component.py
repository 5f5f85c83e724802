"""The place for tables of pairs as a Gradio component: a constant template, and the module that fills it."""

from __future__ import annotations

import gradio as gr

TEMPLATE = "<div class='likeness-batch'></div>"


def batch(assets: str) -> gr.HTML:
    """Mounts the place; its events are `batch` {session, file, models, turn}, `turn` and `stop` {session, turn}.

    Its value is what batch_section answers. `assets` is the address of batch.js and its modules,
    relative to the app's root.
    """
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        apply_default_css=False,
        js_on_load=f"""
const events = ['batch', 'turn', 'stop'];
const place = element.querySelector('.likeness-batch');
const tell = (name, data) => {{ if (events.includes(name)) trigger(name, data); }};
import(new URL('{assets}pages/compare/batch.js', document.baseURI)).then((module) => {{
  const view = module.mount(place, {{ trigger: tell }});
  watch('value', () => {{ if (props.value) view.show(JSON.parse(props.value)); }});
}}, () => {{ place.textContent = 'This part did not load. Reload the page to try again.'; }});
""",
    )
