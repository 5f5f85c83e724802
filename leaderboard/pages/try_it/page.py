"""Try the models on your own images and texts: the tray, the answers, a closer look, and tables of pairs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import gradio as gr
from markupsafe import Markup

from compute.live import examples
from compute.live.questions import MOST_INPUTS, Answer, LiveQuestion
from leaderboard.html.components import html, mounted, scripted
from leaderboard.html.templates import macro, render
from leaderboard.live.live import QUEUE
from leaderboard.page import QUIET, Site, View, controls, payload_of
from leaderboard.pages.try_it import batch, occlusion, perturb, routes
from leaderboard.pages.try_it.answers import result
from leaderboard.pages.try_it.perturb import Section
from leaderboard.web.errors import caught

PAUSE = 0.4  # seconds between two updates of the answers
DOWNLOADS, WATCHERS = "downloads", 8  # a queue of its own with 8 slots, so that no comparison waits for a download
RENEW = "() => document.querySelector('.likeness-tray')?.likenessTray?.ask()"  # which models are ready now
# The answers so far and, once all models have answered, the question and the sections that it fits.
Result = tuple[Markup, LiveQuestion | None, Sequence[str]]


def draw(site: Site) -> None:
    """Draws the tray, the answers below it, two sections for a closer look, and tables of pairs."""
    # Its event `compare` carries session, inputs, mode, question, models, judges, pressed, asked and open.
    # `pressed` is true where a visitor's press asks: without one no judge is asked, `models` has no judges, and
    # `judges` alone says which are ticked. `asked` counts the page's questions. `open`: keys of the sections that are.
    # `download` carries the same, and is sent instead where a selected model's weights are missing.
    tray = scripted(
        site.assets,
        script="pages/try_it/tray/tray.js",
        css_class="likeness-tray lk-try",
        events=("compare", "download"),
        data="live/examples",
        rows=opened,
        run="module.mount(target, { trigger: fire, root });",
    )
    # The last question, for the sections below. A gr.State would make every page of the app keep a connection open.
    sent = gr.JSON({}, visible=False)
    with controls():
        progress = html()
        stop = gr.Button("Stop the download", visible=False, size="sm", scale=0, min_width=160)
    answers = html(elem_id="answers", js_on_load=mounted(site.assets, "pages/try_it/answers.js"))
    with gr.Column(visible=False, elem_id="closer") as closer:
        sections = [occlusion.section(site, sent), perturb.section(site, sent)]
    batch.section(site)
    outputs = [answers, sent, closer, *(each for section in sections for each in section.outputs)]
    for section in sections:
        section.on_opening(site, sent)

    def compare(event: gr.EventData, request: gr.Request) -> Iterator[dict[Any, Any]]:
        yield from updates(payload_of(event), request)

    def updates(payload: dict[str, Any], request: gr.Request) -> Iterator[dict[Any, Any]]:
        for markup, question, fit in answered(site, payload, request):
            values = {answers: markup}
            if question is not None:
                values |= {sent: payload, closer: gr.update(visible=bool(fit))}
                values |= below(sections, payload, question, fit)
            yield values

    run = {
        "outputs": outputs,
        "concurrency_id": QUEUE,
        "show_progress": "minimal",
        "show_progress_on": [answers],
        "api_visibility": "private",
    }
    # Not `always_last`: Gradio would send the payload of the question that is under way once more.
    tray.compare(compare, concurrency_limit=1, trigger_mode="multiple", **run)
    tray.compare(lambda: "", outputs=[progress], queue=False, **QUIET)

    # The weights first, in their own queue, then the comparison as usual.
    done = downloads(site, tray, [progress, stop, sent])
    done.then(None, js=RENEW, api_visibility="private")
    done.then(updates, inputs=[sent], **run)


def opened(query: Mapping[str, str]) -> Markup:
    """Returns the inputs of an address, else of the ready comparison that the tray opens with."""
    listed = examples.listing()
    known = {each["key"]: each for each in listed["inputs"]}
    asked, ready = query.get("mode", ""), listed["comparisons"]
    usual = next((each for each in ready if each["mode"] == asked), ready[0])
    named = [key for key in query.get("inputs", "").split(",") if key in known][:MOST_INPUTS]
    keys = named or usual["inputs"]
    choice = (asked if named else usual["mode"]) == "choice"
    labels = ["Reference"] * choice + list(ascii_uppercase)
    inputs = [known[key] | {"label": label} for key, label in zip(keys, labels, strict=False)]
    return render("pages/try_it/first.html", inputs=inputs)


def downloads(site: Site, tray: gr.HTML, outputs: Sequence[gr.components.Component]) -> Any:
    """Connects the tray's event `download` and the button that stops it to `outputs`: the progress, the button and what
    was sent. Returns the event.
    """
    _, stop, sent = outputs

    def download(event: gr.EventData, request: gr.Request) -> Iterator[list[Any]]:
        payload = payload_of(event)
        for line, running in downloaded(site, payload, request):
            yield [line, gr.update(visible=running), payload]

    def end(payload: Any) -> None:
        site.live.stop(str(payload.get("session", "")) if isinstance(payload, dict) else "")

    stop.click(end, inputs=[sent], queue=False, **QUIET)
    return tray.download(download, outputs=outputs, concurrency_id=DOWNLOADS, concurrency_limit=WATCHERS, **QUIET)


def below(
    sections: Sequence[Section], payload: dict[str, Any], question: LiveQuestion, fit: Sequence[str]
) -> dict[Any, Any]:
    """Renews the open sections about a question, if their keys are in `fit`; closes the others."""
    is_open = payload.get("open") if isinstance(payload.get("open"), list) else []
    values: dict[Any, Any] = {}
    for section in sections:
        if section.key in fit and section.key in is_open:
            values |= section.renewed(question, payload)
        else:
            values[section.accordion] = gr.update(visible=section.key in fit, open=False)
            values[section.body] = gr.update(visible=False)
    return values


@caught(lambda sentence: (macro("message")(sentence), None, ()))
def answered(site: Site, payload: dict[str, Any], request: Any) -> Iterator[Result]:
    """Yields the answers as they come."""
    live = site.live
    live.admit(request)
    question, rows = live.read(payload)
    asked = payload.get("asked")
    number = asked if isinstance(asked, int) else 0
    calibrations = live.calibrations()
    answers: list[Answer] = []

    def markup() -> Markup:
        pending = [row.title for row in rows[len(answers) :]]
        return result(question, answers, asked=number, pending=pending, calibrations=calibrations)

    updated = time.perf_counter()
    if any(live.needs_loading(row) for row in rows):
        yield markup(), None, ()
    session, judges = str(payload.get("session", "")), live.judges(request, pressed=payload.get("pressed"))
    for answer in live.answers(question, rows, session=session, judges=judges):
        answers.append(answer)
        if len(answers) < len(rows) and time.perf_counter() - updated > PAUSE:
            updated = time.perf_counter()
            yield markup(), None, ()
    has_scores = any(each.unit in ("cosine", "own") for each in answers)
    fit = {"agree": len(question.inputs) > 1 and has_scores, "perturb": True} if "image" in question.kinds else {}
    yield markup(), question, [key for key, fits in fit.items() if fits]


@caught(lambda sentence: (macro("message")(sentence), False))
def downloaded(site: Site, payload: dict[str, Any], request: Any) -> Iterator[tuple[Markup, bool]]:
    """Yields the progress of downloading the selected models' weights, and whether it is still going."""
    site.live.admit(request)
    _, rows = site.live.read(payload)
    for row, progress in site.live.download(rows, session=str(payload.get("session", ""))):
        yield render("pages/try_it/download.html", title=row.title, progress=progress), True
    yield Markup(), False


TRY = View(
    key="try",
    title="Try",
    sentence="Give images or texts, and see how similar each model finds them. What you add stays in memory for this "
    "visit only.",
    copied=False,
    inline=True,
    group="Try",
    draw=draw,
    routes=routes.routes,
)
