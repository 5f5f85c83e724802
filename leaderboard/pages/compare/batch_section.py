"""The Compare page's part for many pairs: a CSV or ZIP in, each chosen model's scores as a CSV out, turn by turn."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import gradio as gr

from compute.types import LikenessError
from leaderboard import page
from leaderboard.live.live import QUEUE
from leaderboard.pages.compare.batch import RUNNING, Batches, Progress, Work
from leaderboard.pages.compare.batch_component import batch
from leaderboard.pages.compare.batch_table import preview, source, table

FAILED = "failed"  # beside the states of a Progress
log = logging.getLogger(__name__)


def section(site: page.Site) -> None:
    """Builds the part. The browser asks for each turn anew, so the queue lets other visitors in between."""
    place, batches = batch(site.assets), Batches(site.panel.live)

    def start(event: gr.EventData, request: gr.Request) -> str:
        return answered(event._data, lambda payload: started(site, batches, payload, request))

    def turn(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: turned(site, batches, payload))

    def stop(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: stopped(batches, payload))

    quiet = {"outputs": [place], "show_progress": "hidden", "api_visibility": "private", "trigger_mode": "multiple"}
    place.batch(start, concurrency_id=QUEUE, **quiet)
    place.turn(turn, concurrency_id=QUEUE, **quiet)
    place.stop(stop, queue=False, **quiet)


def started(site: page.Site, batches: Batches, payload: dict[str, Any], request: Any) -> dict[str, Any]:
    """Begins a table and takes its first turn: {session, file, models}. Raises BadInput."""
    site.panel.admit(request)
    models = payload.get("models")
    keys = [str(key) for key in models] if isinstance(models, list) else []
    work = batches.start(str(payload.get("session", "")), str(payload.get("file", "")), keys)
    return told(work, work.turn(site.panel.live, site.panel.references()))


def turned(site: page.Site, batches: Batches, payload: dict[str, Any]) -> dict[str, Any]:
    """Takes the next turn: {session}. Raises BadInput where the table is gone."""
    work = batches.at_work(str(payload.get("session", "")))
    return told(work, work.turn(site.panel.live, site.panel.references()))


def stopped(batches: Batches, payload: dict[str, Any]) -> dict[str, Any]:
    """Ends the table: {session}. What is finished is told at once, whoever is in the queue. Raises BadInput."""
    work = batches.at_work(str(payload.get("session", "")))
    return told(work, work.stop())


def told(work: Work, progress: Progress) -> dict[str, Any]:
    """What the browser is told; the results once the work is over."""
    facts = asdict(progress)
    if progress.state == RUNNING:
        return facts
    lines = work.lines()
    return facts | {
        "csv": table(work.models, lines),
        "preview": preview(work.models, lines),
        "source": source([cell for line in lines for cell in line.cells]),
    }


def answered(payload: Any, tell: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """What `tell` gives, as JSON with the payload's `turn`, so that no two answers are equal and none is taken for
    another's. A fault of the visitor's, or of ours, is a sentence in its place."""
    given = payload if isinstance(payload, dict) else {}
    try:
        facts = tell(given)
    except LikenessError as error:
        facts = {"state": FAILED, "message": str(error)}
    except Exception:
        log.exception("A table failed")
        facts = {"state": FAILED, "message": page.FAILED}
    number = given.get("turn")
    said = json.dumps(facts | {"turn": number if isinstance(number, int) else 0}, ensure_ascii=False)
    return said.replace("<", "\\u003c")  # for Gradio it is no markup
