"""Tools for language models: loaded when asked for, and the app does without the package."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import gradio as gr

from leaderboard import tools

ROOT = Path(__file__).resolve().parents[2]

PUT_OFF = """
import json, sys, urllib.request
from leaderboard import tools
with tools.put_off():
    import gradio as gr
assert "mcp" not in sys.modules, "loaded at once"
with gr.Blocks(analytics_enabled=False) as blocks:
    gr.api(lambda: None, api_name="nothing")
launch = {"ssr_mode": False}
tools.Tools(blocks).into(launch)
_, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
assert json.load(urllib.request.urlopen(url + "config"))["mcp_server"] is True
assert "mcp" not in sys.modules, "loaded at the start"
found = json.load(urllib.request.urlopen(url + "gradio_api/mcp/schema"))
assert "mcp.server" in sys.modules
print([tool["meta"]["endpoint_name"] for tool in found])
blocks.close(verbose=False)
"""


def test_the_package_is_loaded_by_the_first_request_only() -> None:
    ended = subprocess.run([sys.executable, "-c", PUT_OFF], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "['nothing']"


def test_without_the_package_the_app_starts_and_says_what_it_lacks(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Markdown("here")
    launch: dict = {"ssr_mode": False}
    tools.Tools(blocks).into(launch)
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
    try:
        assert json.load(urllib.request.urlopen(f"{url}config"))["mcp_server"] is False
        for _ in range(2):
            try:
                urllib.request.urlopen(f"{url}gradio_api/mcp/schema")
                raise AssertionError("it was served")
            except urllib.error.HTTPError as error:
                assert (error.code, json.load(error)) == (503, {"error": tools.ABSENT})
    finally:
        blocks.close()


def test_putting_off_leaves_what_is_loaded_and_what_is_not_as_it_was(monkeypatch) -> None:
    stand_in = type(sys)("mcp")
    monkeypatch.setitem(sys.modules, "mcp", stand_in)
    with tools.put_off():
        assert sys.modules["mcp"] is stand_in
    monkeypatch.delitem(sys.modules, "mcp")
    with tools.put_off():
        assert sys.modules["mcp"] is None
    assert "mcp" not in sys.modules


def test_other_routes_and_arguments_of_the_launch_stay() -> None:
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Markdown("here")
    launch = {"css": "", "app_kwargs": {"routes": ["theirs"], "middleware": ["theirs"]}}
    tools.Tools(blocks).into(launch)
    assert launch["css"] == "" and launch["app_kwargs"]["middleware"] == ["theirs"]
    assert [getattr(one, "path", one) for one in launch["app_kwargs"]["routes"]] == [tools.PATH, "theirs"]
    assert launch["mcp_server"] is False
