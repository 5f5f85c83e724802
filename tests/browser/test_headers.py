"""The policy in a real browser: no page breaks it, scripts in markup do not run, and no other site frames a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from leaderboard.pages import VIEWS
from tests.answering import Handler, answering
from tests.browser.trays import READY, file

FIGURES = {"correlations", "cost", "generators", "languages", "map", "smaller-suite"}
VIOLATIONS = """
window.violations = [];
addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, sample }) => {
  window.violations.push([effectiveDirective, blockedURI, sourceFile, sample].join(' '));
});
"""


def page_of(body: str) -> type[Handler]:
    """Another site, whose every page has this body."""

    class Site(Handler):
        def answer(self) -> None:
            content = body.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Site


def watched(page: Any) -> None:
    page.add_init_script(VIOLATIONS)


def violations(page: Any) -> list[str]:
    return page.evaluate("window.violations")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("key", [view.key for view in VIEWS])
def test_no_page_breaks_the_policy(visit: Callable, key: str, dark: bool) -> None:
    page = visit(key, dark=dark, before=watched)
    if key in FIGURES:
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    if key == "board":
        page.locator(".likeness-board[data-ready=true]").wait_for()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(300)
    assert violations(page) == []


def test_trying_models_breaks_no_policy(visit: Callable) -> None:
    """An upload, its preview, answers, a perturbed image with its figure, and a table."""
    page = visit("compare", ready=READY, before=watched)
    page.get_by_role("button", name="Clear", exact=True).click()
    page.locator("input[type=file]").first.set_input_files([file("a.png"), file("b.png")])
    page.wait_for_selector(f"{READY}[data-count='2']")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator(".cp-result[data-done=yes]").wait_for(timeout=90_000)
    page.get_by_text("Perturb: is a model sensitive").click()
    slider = page.locator(".cp-sliders input[type=range]").first
    slider.focus()
    slider.press("End")
    page.locator(".cp-preview img").wait_for(timeout=90_000)
    page.get_by_text("Many pairs at once: a CSV or ZIP").click()
    page.get_by_role("button", name="Run the sample").click()
    page.get_by_role("link", name="Download the scores (CSV)").wait_for(timeout=90_000)
    assert violations(page) == []


def test_scripts_in_markup_do_not_run(visit: Callable) -> None:
    page = visit("about", before=watched, expected="Content Security Policy")
    page.evaluate("""() => {
      const node = document.body.appendChild(document.createElement('div'));
      node.innerHTML = '<img src="data:," onerror="window.harmed = 1"><a href="javascript:window.harmed = 1">x</a>';
      node.querySelector('a').click();
      node.appendChild(document.createElement('script')).textContent = 'window.harmed = 1';
      node.appendChild(document.createElement('script')).src = 'data:text/javascript,window.harmed = 1';
    }""")
    page.wait_for_function("window.violations.length >= 4")
    assert page.evaluate("window.harmed") is None


def test_another_site_cannot_show_a_page_in_a_frame(browser: Any, server: str) -> None:
    frame = f"<iframe src='{server}compare?mode=pair&inputs=cat,cat-face&models=ssim'></iframe>"
    with answering(page_of(frame)) as address:
        page = browser.new_page()
        requests = []
        page.on("request", lambda request: requests.append(urlsplit(request.url).path))
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text, timeout=60_000):
            page.goto(address)
        page.wait_for_timeout(1500)
        page.close()
    assert requests.count("/compare") == 1 and not any("live" in path or "gradio" in path for path in requests)


@pytest.mark.parametrize("path", ["gradio_api/queue/join", "gradio_api/mcp/", "live/input", "login"])
def test_another_sites_page_cannot_send_anything(browser: Any, server: str, path: str) -> None:
    """A form needs nobody's leave to send: the browser sends it, and the server refuses."""
    with answering(page_of(f"<form method=post action='{server}{path}'><button>Win</button></form>")) as address:
        page = browser.new_page()
        page.goto(address)
        with page.expect_navigation() as sent:
            page.get_by_role("button").click()
        refused = sent.value.text()
        page.close()
    assert sent.value.status == 403 and "page of another site" in refused


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7860"])
def test_another_name_for_this_machine_is_refused(server: str, host: str) -> None:
    for path in ("", "config", "gradio_api/queue/join"):
        answer = httpx.get(server + path, headers={"host": host}, timeout=60)
        assert answer.status_code == 403 and "evil.example" in json.loads(answer.content)["error"]
    foreign = {"host": host, "origin": f"http://{host}"}
    sent = httpx.post(f"{server}gradio_api/queue/join", headers=foreign, json={}, timeout=60)
    assert sent.status_code == 403


@pytest.mark.parametrize(
    "path", ["", "board", "no/page", "config", "assets/none.js", "live/examples", "gradio_api/mcp/", "live/none"]
)
def test_every_answer_has_the_headers(server: str, path: str) -> None:
    answer = httpx.get(server + path, timeout=60)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "object-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
