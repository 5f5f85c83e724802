"""Tools for language models: loaded when asked for, and the app does without the package."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from leaderboard.api import mcp
from leaderboard.web import errors

ROOT = Path(__file__).resolve().parents[3]

PUT_OFF = """
import json, sys, urllib.request
from leaderboard.api import mcp
with mcp.defer_import():
    import gradio as gr
assert "mcp" not in sys.modules, "loaded at once"
with gr.Blocks(analytics_enabled=False) as blocks:
    gr.Markdown("here")
launch = {"ssr_mode": False}
mcp.Tools({"nothing": lambda: {}}).into(launch)
_, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
urllib.request.urlopen(url + "config")
assert "mcp" not in sys.modules, "loaded at the start"
asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
kinds = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
answer = urllib.request.urlopen(urllib.request.Request(url + "gradio_api/mcp/", asked, kinds)).read().decode()
assert "mcp.server" in sys.modules
(line,) = [line for line in answer.splitlines() if line.startswith("data: ")]
print([tool["name"] for tool in json.loads(line[6:])["result"]["tools"]])
blocks.close(verbose=False)
"""


def test_the_package_is_loaded_by_the_first_request_only():
    ended = subprocess.run([sys.executable, "-c", PUT_OFF], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "['nothing']"


def test_without_the_package_the_app_starts_and_says_what_it_lacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Markdown("here")
    launch: dict = {"ssr_mode": False}
    mcp.Tools({}).into(launch)
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
    try:
        for _ in range(2):
            try:
                urllib.request.urlopen(f"{url}gradio_api/mcp/")
                raise AssertionError("it was served")
            except urllib.error.HTTPError as error:
                assert (error.code, json.load(error)) == (503, {"error": mcp.ABSENT})
    finally:
        blocks.close()


@pytest.mark.parametrize("fails", ["_manager", "run"])
def test_whatever_fails_at_the_start_is_told_and_nobody_waits(monkeypatch, caplog, fails):
    def step(name):
        if name == fails:
            raise RuntimeError(name)

    @asynccontextmanager
    async def run():
        step("run")
        yield

    def manager(_):
        step("_manager")
        return SimpleNamespace(run=run)

    async def ask():
        tried = mcp.Tools({})
        async with tried.lifespan(None):
            return [await asyncio.wait_for(_answer(tried), 10) for _ in range(2)]

    monkeypatch.setattr(mcp, "_manager", manager)
    with caplog.at_level(logging.CRITICAL, logger=errors.log.name):
        assert asyncio.run(ask()) == [(503, {"error": errors.FAILED})] * 2


async def _answer(tried):
    """The status and the JSON that a request gets."""
    sent = []

    async def send(message):
        sent.append(message)

    await tried({"type": "http", "method": "GET", "path": "/", "headers": [], "client": None}, send, send)
    return sent[0]["status"], json.loads(sent[1]["body"])
