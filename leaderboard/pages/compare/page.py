"""Try the models on images and texts of one's own: the tray, the answers, where images agree, and perturbations."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr

from compute.types import LikenessError
from leaderboard import page as ui
from leaderboard.data.records import records
from leaderboard.html.markup import message
from leaderboard.live import calibrated as judged
from leaderboard.live.live import QUEUE
from leaderboard.page import View
from leaderboard.pages.compare import answers as compare_blocks
from leaderboard.pages.compare import batch_section, perturb, routes
from leaderboard.pages.compare import patches as compare_patches
from leaderboard.pages.compare.answers_component import answers as answers_place
from leaderboard.pages.compare.tray_component import tray

if TYPE_CHECKING:
    from compute.live.answers import Asked

SENTENCE = (
    "Drop images or texts, choose models, and see how each judges them: on its own scale, beside what it gives "
    "to pairs that match and pairs that do not, and beside its published results. What you add stays in memory "
    "for this visit only."
)
PAUSE = 0.4  # seconds between two looks at what has come so far
DOWNLOADS, WATCHERS = "downloads", 8  # of weights: one at a time, watched by some; nobody's comparison waits for it
RENEW = "() => { document.querySelector('.likeness-tray')?.likenessTray?.ask(); }"  # which models are here now
Result = tuple[str, "Asked | None"]  # the markup so far, and the question once all models have answered
log = logging.getLogger(__name__)


def draw(site: ui.Site) -> None:
    """The tray, the answers below it, two ways to look closer, and batches."""
    ui.heading(site, title="Compare", sentence=SENTENCE, copy=False)
    inputs = tray(site.assets)
    # What was asked last, for the parts below. A gr.State would make every page of the app keep a connection open.
    payload = gr.JSON({}, visible=False)
    with gr.Row(elem_classes="pg-controls"):
        fetched = gr.HTML("", apply_default_css=False)
        stop = gr.Button("Stop the download", visible=False, size="sm", scale=0, min_width=160)
    answers = answers_place(site.assets)
    with gr.Column(visible=False, elem_id="closer") as closer:
        patches = compare_patches.section(site, payload)
        perturbed = perturb.section(site, payload)
    batch_section.section(site)
    outputs = [answers, payload, closer, *patches.components, *perturbed.components]

    def compare(event: gr.EventData, request: gr.Request) -> Iterator[list[Any]]:
        yield from shown(_payload(event), request)

    def shown(asked_for: dict[str, Any], request: Any) -> Iterator[list[Any]]:
        for markup, asked in answered(site, asked_for, request):
            if asked is None:
                yield [markup, *[gr.skip()] * (len(outputs) - 1)]
            else:
                yield [
                    markup,
                    asked_for,
                    gr.update(visible=True),
                    *patches.renew(asked, asked_for),
                    *perturbed.renew(asked, asked_for),
                ]

    run = {
        "outputs": outputs,
        "concurrency_id": QUEUE,
        "show_progress": "minimal",
        "show_progress_on": [answers],
        "api_visibility": "private",
    }
    inputs.compare(compare, concurrency_limit=1, trigger_mode="always_last", **run)
    inputs.compare(lambda: "", outputs=[fetched], queue=False, show_progress="hidden", api_visibility="private")

    def download(event: gr.EventData, request: gr.Request) -> Iterator[list[Any]]:
        asked_for = _payload(event)
        for line, at_work in downloaded(site, asked_for, request):
            yield [line, gr.update(visible=at_work), asked_for]

    def compare_then(asked_for: dict[str, Any], request: gr.Request) -> Iterator[list[Any]]:
        yield from shown(asked_for, request)

    # The weights first, in a queue of their own, then the comparison as ever.
    done = inputs.download(
        download,
        outputs=[fetched, stop, payload],
        concurrency_id=DOWNLOADS,
        concurrency_limit=WATCHERS,
        show_progress="hidden",
        api_visibility="private",
    )
    done.then(None, js=RENEW, api_visibility="private")
    done.then(compare_then, inputs=[payload], **run)

    def end(asked_for: Any) -> None:
        site.panel.live.stop(str(asked_for.get("session", "")) if isinstance(asked_for, dict) else "")

    stop.click(end, inputs=[payload], queue=False, show_progress="hidden", api_visibility="private")


def _payload(event: gr.EventData) -> dict[str, Any]:
    return event._data if isinstance(event._data, dict) else {}


def answered(site: ui.Site, payload: dict[str, Any], request: Any) -> Iterator[Result]:
    """The answers as they come. A fault of the visitor's, or of ours, is a sentence in their place."""
    try:
        site.panel.admit(request)
        asked, rows = site.panel.live.read(payload)
        with site.db.snapshot():
            references = site.panel.references()
            published = records(
                site.suite_cache,
                models=[row.key for row in rows],
                mode=asked.mode,
                kinds=asked.kinds,
                question=asked.question,
            )
        known = frozenset(model for model, pairing in references if pairing == judged.pairing(asked))
        found, shown = [], time.perf_counter()
        if any(site.panel.live.to_load(row) for row in rows):
            yield _markup(asked, [], [row.title for row in rows], published, payload), None
        for answer in site.panel.live.judge(asked, rows, session=str(payload.get("session", "")), calibrated=known):
            found.append(judged.judged(answer, rows[len(found)], asked, references))
            left = [row.title for row in rows[len(found) :]]
            if left and time.perf_counter() - shown > PAUSE:
                shown = time.perf_counter()
                yield _markup(asked, found, left, published, payload), None
        yield _markup(asked, found, [], published, payload), asked
    except LikenessError as error:
        yield message(str(error)), None
    except Exception:
        log.exception("A comparison failed")
        yield message(ui.FAILED), None


def _markup(
    asked: Asked, found: Sequence[judged.Judged], left: Sequence[str], published: Any, payload: dict[str, Any]
) -> str:
    return compare_blocks.result(asked, found, left=left, records=published, blind=payload.get("blind") is True)


def downloaded(site: ui.Site, payload: dict[str, Any], request: Any) -> Iterator[tuple[str, bool]]:
    """What the download of the chosen models' weights has come to, and whether it is still at work."""
    try:
        site.panel.admit(request)
        _, rows = site.panel.live.read(payload)
        for row, come in site.panel.live.fetch(rows, session=str(payload.get("session", ""))):
            yield compare_blocks.download(row, come.here, come.whole, behind=come.behind), True
        yield "", False
    except LikenessError as error:
        yield message(str(error)), False
    except Exception:
        log.exception("A download failed")
        yield message(ui.FAILED), False


COMPARE = View(key="compare", title="Compare", draw=draw, routes=routes.routes)
