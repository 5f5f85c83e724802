"""The Try page's section for two sets of images: FD, KID, precision and recall by one encoder's features."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import gradio as gr

from leaderboard.live.live import QUEUE
from leaderboard.live.panel import sender
from leaderboard.page import Site
from leaderboard.pages.compare import components
from leaderboard.pages.compare.sets_report import report
from leaderboard.pages.compare.turns import answered
from leaderboard.pages.compare.two_sets import DONE, SetRuns, SetsProgress, SetsRun

ACTION = "A comparison of two sets"  # in the log, where it fails


def section(site: Site) -> None:
    """Builds the section. The browser requests each turn, so that the queue lets other visitors in between."""
    sets, runs = components.two_sets(site.assets), SetRuns(site.panel.live)

    def offer(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: offered(runs), action=ACTION)

    def start(event: gr.EventData, request: gr.Request) -> str:
        return answered(event._data, lambda payload: started(site, runs, payload, request), action=ACTION)

    def turn(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: turned(site, runs, payload), action=ACTION)

    def stop(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: stopped(runs, payload), action=ACTION)

    quiet = {"outputs": [sets], "show_progress": "hidden", "api_visibility": "private", "trigger_mode": "multiple"}
    sets.offer(offer, queue=False, **quiet)
    sets.sets(start, concurrency_id=QUEUE, **quiet)
    sets.turn(turn, concurrency_id=QUEUE, **quiet)
    sets.stop(stop, queue=False, **quiet)


def offered(runs: SetRuns) -> dict[str, Any]:
    """The encoders that can compare sets now."""
    return {"state": "offered", "encoders": runs.encoders()}


def started(site: Site, runs: SetRuns, payload: dict[str, Any], request: Any) -> dict[str, Any]:
    """Starts a comparison and takes its first turn: {session, reference, generated, encoder}. Raises BadInput."""
    site.panel.admit(request)
    session = str(payload.get("session", ""))
    run = runs.start(session, payload, str(payload.get("encoder", "")), sender=sender(request))
    return record(run, run.turn(site.panel.live))


def turned(site: Site, runs: SetRuns, payload: dict[str, Any]) -> dict[str, Any]:
    """Takes the next turn: {session}. Raises BadInput where the comparison is gone."""
    run = runs.current(str(payload.get("session", "")))
    return record(run, run.turn(site.panel.live))


def stopped(runs: SetRuns, payload: dict[str, Any]) -> dict[str, Any]:
    """Stops the comparison: {session}. Raises BadInput where it is gone."""
    run = runs.current(str(payload.get("session", "")))
    return record(run, run.stop())


def record(run: SetsRun, progress: SetsProgress) -> dict[str, Any]:
    """The progress as JSON; with the results at the end."""
    facts = asdict(progress)
    return facts | {"report": report(run.result, synthetic=run.synthetic)} if progress.state == DONE else facts
