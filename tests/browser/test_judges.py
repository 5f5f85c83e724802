"""Judges answer through an endpoint that costs the host: a link selects them, and only a press asks them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.answering import Handler, answering
from tests.browser.conftest import ROOT, _wait
from tests.compute.models.chat_server import Running, running

JUDGES = "gpt-4o-2024-11-20,gemini-1.5-pro"
LINK = f"compare?mode=odd&inputs=heart-left,heart-left-moved,heart-right&models=ssim,{JUDGES}"
DONE = ".cp-result[data-done=yes]"
READY = ".likeness-tray[data-ready=true]"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Running]:
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def site(endpoint: Running, app_database: Path) -> Iterator[str]:
    """An app whose host has an endpoint, and which a page at 127.0.0.1 may frame."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    variables = {
        "LIKENESS_DATABASE": str(app_database),
        "LIKENESS_ENDPOINT": endpoint.url,
        "LIKENESS_FRAME_HOSTS": "http://127.0.0.1:*",
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_SERVER_NAME": "127.0.0.1",
    }
    log = app_database.with_name("judges.log")
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=os.environ | variables, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            _wait(f"http://127.0.0.1:{port}/", process, log)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(timeout=60)


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Any]]:
    made = []

    def opened(address: str, *, width: int = 1280) -> Any:
        made.append(browser.new_context(viewport={"width": width, "height": 900}))
        page = made[-1].new_page()
        page.set_default_timeout(60_000)
        page.goto(address)
        return page

    yield opened
    for one in made:
        one.close()


def test_a_link_with_judges_asks_none_until_pressed(tab: Callable, site: str, endpoint: Running) -> None:
    before = endpoint.requests()
    page = tab(site + LINK)
    page.locator(DONE).wait_for()
    assert [row.get_attribute("data-model") for row in page.locator(".cp-row").all()] == ["ssim"]
    cost = "2 judges, 4 requests to the host’s endpoint."
    assert cost in page.locator(".tr-reason").inner_text()
    assert f"Judges are asked only when you press Compare: {cost}" in page.locator(".tr-notice").inner_text()
    page.evaluate("document.querySelector('.tr-primary').click()")  # a script's click is nobody's press
    page.wait_for_timeout(2000)
    assert endpoint.requests() == before
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator(f"{DONE} .cp-row[data-model='gemini-1.5-pro']").wait_for()
    assert endpoint.requests() == before + 4


def test_a_link_with_nothing_but_judges_waits(tab: Callable, site: str, endpoint: Running) -> None:
    before = endpoint.requests()
    page = tab(site + LINK.replace("ssim,", ""))
    page.locator(READY).wait_for()
    page.locator(".tr-notice", has_text="Judges are asked only when you press Compare").wait_for()
    page.wait_for_timeout(1500)
    assert page.locator(".cp-result").count() == 0 and endpoint.requests() == before


def test_in_a_frame_of_another_site_nothing_starts(tab: Callable, site: str, endpoint: Running) -> None:
    before = endpoint.requests()
    body = f"<iframe width=1200 height=850 src='{site}{LINK}'></iframe>".encode()

    class Framing(Handler):
        def answer(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with answering(Framing) as address:
        page = tab(address)
        frame = page.frame_locator("iframe")
        frame.locator(READY).wait_for()
        page.wait_for_timeout(2500)
        assert frame.locator(".cp-result").count() == 0 and endpoint.requests() == before
        frame.get_by_role("button", name="Compare", exact=True).click()  # a press in the frame is one
        frame.locator(DONE).wait_for()
    assert endpoint.requests() == before + 4


def test_a_table_asks_judges_only_where_its_box_is_ticked(tab: Callable, site: str, endpoint: Running) -> None:
    before = endpoint.requests()
    page = tab(site + f"compare?mode=choice&inputs=text-heart-left,heart-left,heart-right&models=tiny,{JUDGES}")
    page.locator(DONE).wait_for()
    page.get_by_text("Many pairs at once: a CSV or ZIP").click()
    box = page.get_by_label("Also ask 2 judges: 4 requests to the host’s endpoint for each pair")
    table = {"name": "a.csv", "mimeType": "text/csv", "buffer": b"first,second\nexample:cat,example:cat-face\n"}
    choose = page.locator(".likeness-batch input[type=file]")
    choose.set_input_files(table)
    page.get_by_role("link", name="Download the scores (CSV)").wait_for()
    assert endpoint.requests() == before
    box.check()
    choose.set_input_files(table)
    page.locator(".likeness-batch .pg-table", has_text="gpt-4o-2024-11-20").wait_for()
    assert endpoint.requests() == before + 4


def test_a_dragged_image_is_put_to_judges_only_by_a_press(tab: Callable, site: str, endpoint: Running) -> None:
    before = endpoint.requests()
    page = tab(site + f"compare?mode=pair&inputs=coffee,cat&models=ssim,{JUDGES}&change=coffee&by=rotate&amount=22.5")
    page.locator(".likeness-judging[data-shown='rotate 22.5'][data-settled=true]").wait_for(state="attached")
    assert page.locator("#rated").get_by_text("not asked yet").count() == 4
    page.get_by_role("slider", name="Rotation (degrees)").first.focus()
    page.keyboard.press("End")
    page.locator(".likeness-judging[data-shown='rotate 45'][data-settled=true]").wait_for(state="attached")
    part = page.locator(".likeness-judging")
    assert "2 judges: 8 questions, 8 requests to the host’s endpoint." in part.inner_text()
    page.evaluate("document.querySelector('.likeness-judging .jd-button').click()")  # nobody's press
    page.wait_for_timeout(1500)
    assert endpoint.requests() == before
    page.get_by_role("button", name="Ask the judges").click()
    part.get_by_text("2 judges asked; the scores are in the table.").wait_for()
    row = page.locator("#rated tr[data-model='gemini-1.5-pro']")
    # The stand-in knows no such question: its words are shown, and are no score.
    assert row.get_by_text("no score", exact=True).count() == 4
    assert "The answer names no score: I see no options." in row.inner_text()
    assert endpoint.requests() == before + 8


def test_judges_can_be_asked_of_what_is_shown_after_a_change_that_failed(tab: Callable, site: str) -> None:
    page = tab(site + f"compare?mode=pair&inputs=coffee,cat&models=ssim,{JUDGES}&change=coffee&by=rotate&amount=22.5")
    page.locator(".likeness-judging[data-shown='rotate 22.5'][data-settled=true]").wait_for(state="attached")

    def spoil(route: Any) -> None:
        body = route.request.post_data_json
        if body["data"][:1] == [45]:  # the slider's event: its image is of none
            body["data"][1] = "99"
        route.continue_(post_data=json.dumps(body))

    page.route("**/queue/join*", spoil)
    page.get_by_role("slider", name="Rotation (degrees)").first.focus()
    page.keyboard.press("End")
    page.locator(".cp-rated .pg-message").wait_for()
    page.locator(".likeness-judging .jd-button:not([aria-disabled=true])", has_text="Ask the judges").wait_for()
    assert page.locator(".likeness-judging").get_attribute("data-shown") == "rotate 22.5"
    assert "Rotation: 22.5 degrees" in page.locator("#rated").inner_text()
