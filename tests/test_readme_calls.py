"""The README's calls from a program, run as they are written, against the app itself."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compute.live.pictures import png

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
USUAL = "http://127.0.0.1:7860"


@pytest.fixture(scope="module")
def address(database: Path) -> Iterator[str]:
    """`python app.py` on a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "app.py", "--port", str(port), "--database", str(database)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )
    try:
        found, until = f"http://127.0.0.1:{port}", time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(found, timeout=5).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        process.wait(20)


def test_the_python_call(address: str, tmp_path: Path) -> None:
    code = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "gradio_client" in block)
    assert USUAL in code
    (tmp_path / "photo.png").write_bytes(png("orange", (64, 64)))
    ended = subprocess.run(
        [sys.executable, "-c", code.replace(USUAL, address)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    title, answer = ended.stdout.strip().splitlines()[-2:]
    assert title and re.fullmatch(r"conse -?\d\.\d+ outside what this model was calibrated on: \w.*", answer), answer


def test_a_proxy_says_who_asks_and_believes_no_header() -> None:
    block = next(block for block in re.findall(r"```nginx\n(.*?)```", README, re.DOTALL))
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in block


def test_the_tools_of_a_language_model(address: str) -> None:
    config = json.loads(next(block for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL)))
    url = config["mcpServers"]["likeness"]["url"].replace(USUAL, address)

    async def ask() -> tuple[list[str], str, str]:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            scored = await session.call_tool(
                next(name for name in names if "score_pair" in name),
                {"first": "a photo of a cat", "second": "example:cat", "models": "tiny"},
            )
            refused = await session.call_tool(
                next(name for name in names if "score_pair" in name),
                {"first": "http://example.org/a.png", "second": "a cat", "models": "tiny"},
            )
            return names, scored.content[0].text, refused.content[0].text

    names, scored, refused = asyncio.run(ask())
    assert len(names) == 4 and all(
        any(part in name for name in names) for part in ("list_models", "list_suites", "leaderboard", "score_pair")
    )
    assert json.loads(scored)[0]["model"] == "tiny"
    assert "address" in refused and "Traceback" not in refused
