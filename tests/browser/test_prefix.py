"""The app under a path of another server: everything it asks for lies below that path."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "/likeness"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def behind(app_database: Path) -> Iterator[str]:
    """A second app on the same database, behind a proxy: the address that visitors use."""
    inner, outer = free_port(), free_port()
    commands = (
        [
            sys.executable,
            "app.py",
            "--port",
            str(inner),
            "--host",
            "127.0.0.1",
            "--root-path",
            PREFIX,
            "--database",
            str(app_database),
        ],
        [sys.executable, "tests/browser/prefix.py", f"http://127.0.0.1:{inner}", str(outer), PREFIX],
    )
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    address = f"http://127.0.0.1:{outer}{PREFIX}/"
    try:
        for _ in range(1800):
            try:
                with urllib.request.urlopen(address, timeout=5) as found:
                    if found.status == 200:
                        break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("the app did not answer behind the proxy within three minutes")
        yield address
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=60)


@pytest.mark.parametrize(
    ("address", "ready"),
    [
        ("", "#overview table"),
        ("board?suite=mieb", ".likeness-board[data-ready=true]"),
        ("correlations?suites=mieb", "#correlations-figure .js-plotly-plot .main-svg"),
        ("task?task=mini/photographs", ".js-plotly-plot .main-svg"),
    ],
)
def test_pages_work_under_a_path(behind: str, browser: Any, address: str, ready: str) -> None:
    page, asked, refused = browser.new_page(), [], []
    page.on("request", lambda request: asked.append(urlsplit(request.url)))
    page.on("response", lambda found: found.status >= 400 and refused.append(found.url))
    page.goto(behind + address)
    page.locator(ready).first.wait_for(timeout=90_000)
    page.wait_for_load_state("networkidle")
    links = page.locator("a[href]").evaluate_all("links => links.map(link => link.href)")
    page.close()
    host = urlsplit(behind).netloc
    outside = [one.path for one in asked if one.netloc == host and not one.path.startswith(f"{PREFIX}/")]
    assert refused == [] and outside == []
    inside = [link for link in links if urlsplit(link).netloc == host]
    assert inside and all(urlsplit(link).path.startswith(PREFIX) for link in inside)


def test_events_get_through_the_proxy_and_another_sites_do_not(behind: str, browser: Any) -> None:
    page = browser.new_page()
    try:
        page.goto(f"{behind}compare?mode=pair&inputs=cat,cat-face&models=ssim")
        page.locator(".cp-result[data-done=yes]").wait_for(timeout=90_000)
    finally:
        page.close()
    foreign = {"origin": "http://evil.example", "content-type": "application/json"}
    for path in ("gradio_api/queue/join", "live/input", "gradio_api/mcp/"):
        assert httpx.post(behind + path, headers=foreign, content=b"{}", timeout=60).status_code == 403


def test_an_address_without_a_page_leads_on_under_a_path(behind: str, browser: Any) -> None:
    page = browser.new_page()
    try:
        for path in ("boards", "no/boards"):
            page.goto(behind + path)
            page.locator("main").get_by_role("link", name="Board", exact=True).click()
            page.wait_for_url(f"{behind}board*")
            page.wait_for_selector(".likeness-board[data-ready=true]")
    finally:
        page.close()
