"""The Try page's section for many pairs: a CSV or ZIP in, each selected model's scores as a CSV out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import gradio as gr

from leaderboard.live.live import QUEUE
from leaderboard.live.panel import sender
from leaderboard.page import Site
from leaderboard.pages.compare import components
from leaderboard.pages.compare.batch import RUNNING, PairScoring, ScoringProgress, Tables
from leaderboard.pages.compare.batch_table import preview, source, table
from leaderboard.pages.compare.turns import answered

ACTION = "A table"  # in the log, where it fails


def section(site: Site) -> None:
    """Builds the section. The browser requests each turn, so that the queue lets other visitors in between."""
    batch, tables = components.batch(site.assets), Tables(site.panel.live)

    def start(event: gr.EventData, request: gr.Request) -> str:
        return answered(event._data, lambda payload: started(site, tables, payload, request), action=ACTION)

    def turn(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: turned(site, tables, payload), action=ACTION)

    def stop(event: gr.EventData) -> str:
        return answered(event._data, lambda payload: stopped(tables, payload), action=ACTION)

    quiet = {"outputs": [batch], "show_progress": "hidden", "api_visibility": "private", "trigger_mode": "multiple"}
    batch.batch(start, concurrency_id=QUEUE, **quiet)
    batch.turn(turn, concurrency_id=QUEUE, **quiet)
    batch.stop(stop, queue=False, **quiet)


def started(site: Site, tables: Tables, payload: dict[str, Any], request: Any) -> dict[str, Any]:
    """Starts a table and takes its first turn: {session, file, models, judges}. Raises BadInput.

    `judges` is true where the visitor chose that judges, which cost the host, score the table too.
    """
    site.panel.admit(request)
    models = payload.get("models")
    keys = [str(key) for key in models] if isinstance(models, list) else []
    judges = site.panel.judges(request, pressed=payload.get("judges"))
    session, file = str(payload.get("session", "")), str(payload.get("file", ""))
    scoring = tables.start(session, file, keys, sender=sender(request), judges=judges)
    return record(scoring, scoring.turn(site.panel.live, site.panel.calibrations()))


def turned(site: Site, tables: Tables, payload: dict[str, Any]) -> dict[str, Any]:
    """Takes the next turn: {session}. Raises BadInput where the table is gone."""
    scoring = tables.current(str(payload.get("session", "")))
    return record(scoring, scoring.turn(site.panel.live, site.panel.calibrations()))


def stopped(tables: Tables, payload: dict[str, Any]) -> dict[str, Any]:
    """Stops the table: {session}. The finished part is returned at once, without the queue. Raises BadInput."""
    scoring = tables.current(str(payload.get("session", "")))
    return record(scoring, scoring.stop())


def record(scoring: PairScoring, progress: ScoringProgress) -> dict[str, Any]:
    """The progress as JSON; with the results at the end."""
    facts = asdict(progress)
    if progress.state == RUNNING:
        return facts
    scored = scoring.pairs()
    return facts | {
        "csv": table(scoring.models, scored),
        "preview": preview(scoring.models, scored),
        "source": source([score for pair in scored for score in pair.scores]),
    }
