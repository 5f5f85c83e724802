"""The page's Gradio components that its scripts fill."""

from __future__ import annotations

import gradio as gr

from leaderboard.html.components import rendered, scripted


def tray(assets: str) -> gr.HTML:
    """The inputs and controls.

    Its event `compare` carries session, inputs, mode, question, models, judges, pressed and change.
    `pressed` is true where a visitor's own press asks: without one no judge is asked, `models` leaves judges out, and
    `judges` alone says which are ticked. `change` is true where the address shows a changed image. `download` carries
    the same, and is sent instead where a selected model's weights are missing. `assets` is the address of the scripts'
    folders, relative to the app's root.
    """
    return scripted(
        assets,
        script="pages/compare/tray/tray.js",
        css_class="likeness-tray",
        events=("compare", "download"),
        run="module.mount(target, { trigger: fire, root });",
    )


def batch(assets: str) -> gr.HTML:
    """Tables of pairs; its events are `batch` {session, file, models, judges, turn}, `turn` and `stop` {session, turn}.

    Its value is the JSON that batch_section returns.
    """
    return scripted(
        assets,
        script="pages/compare/batch.js",
        css_class="likeness-batch likeness-turns",
        events=("batch", "turn", "stop"),
        run="const view = module.mount(target, { trigger: fire });"
        " watch('value', () => { if (props.value) view.show(JSON.parse(props.value)); });",
    )


JUDGING_READY = "() => document.querySelector('.likeness-judging')?.likenessJudging?.ready()"


def judging(assets: str) -> gr.HTML:
    """The buttons that ask judges of a changed image; its value is the JSON of ratings.state.

    Its events are `ask` {view, judge, turn, pressed}, where `pressed` is true for a visitor's own press, `settle` once
    a drag rests, and `restore` {view} for what the address of the page shows.
    """
    return scripted(
        assets,
        script="pages/compare/judging.js",
        css_class="likeness-judging",
        events=("ask", "settle", "restore"),
        # It is mounted once the section is shown, after its value has come.
        run="const view = module.mount(target, { trigger: fire });"
        " const show = () => { if (props.value) view.show(JSON.parse(props.value)); };"
        " watch('value', show); show();",
    )


def answers(assets: str) -> gr.HTML:
    """The answers, which Python renders; the script brings them into view."""
    return rendered(assets, script="pages/compare/answers.js", elem_id="answers")


def patches(assets: str) -> gr.HTML:
    """Two images under a grid of patches, which Python renders; the script colours them."""
    return rendered(assets, script="pages/compare/patches.js")
