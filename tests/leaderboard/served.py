"""The app's own routes in a test client, without Gradio's pages around them."""

from __future__ import annotations

import gradio as gr
from starlette.applications import Starlette
from starlette.testclient import TestClient

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live.live import Live
from leaderboard.page import Site
from leaderboard.server import routes


def rows_of(data: dict) -> list[dict]:
    """The rows of a table for the browser, by column; `link` is what follows the last column."""
    keys = [column["key"] for column in data["columns"]]
    return [dict(zip([*keys, "link"], row, strict=True)) for row in data["rows"]]


def client(suite_cache: SuiteCache, *, raises: bool = True) -> TestClient:
    """Every route that the pages hand to the server; with `raises`, an error that no boundary caught fails the test."""
    site = Site(db=suite_cache.db, suite_cache=suite_cache, blocks=gr.Blocks(), assets="", live=Live())
    return TestClient(Starlette(routes=routes(site)), raise_server_exceptions=raises)
