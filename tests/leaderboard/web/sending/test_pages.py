"""A person who opened an address reads an error as a page with a way on; what programs fetch is none."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import quote, urljoin

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.html.error_page import error_page
from leaderboard.web.responses import refusal
from leaderboard.web.security.access import access
from leaderboard.web.security.origins import guarded
from leaderboard.web.sending.pages import ErrorPages
from tests.leaderboard.web.launched import Served

FETCHED = ("/data/nothing", "/export/nothing", "/gradio_api/nothing", "/static/x/nothing.js", "/assets/nothing.js")


@pytest.mark.parametrize(
    ("path", "root", "near"),
    [
        ("nosuchpage", "./", ""),
        ("nosuchpage/", "../", ""),
        ("leaderboard", "./", "board"),
        ("model/openai/clip", "../../", ""),
    ],
)
def test_an_address_without_a_page_is_a_page_with_a_way_on(app: Served, path: str, root: str, near: str) -> None:
    answer = httpx.get(f"{app.url}{path}?__theme=dark", timeout=60)
    assert answer.status_code == 404 and answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    text = answer.text
    assert text.startswith("<!doctype html>") and f"There is no page “{path.strip('/')}” here." in text
    assert (f'Did you mean <a href="{root}{near}">' in text) is bool(near)
    for link in re.findall(r'href="([^"]*)"', text):
        assert link.startswith(root)
        reached = httpx.get(urljoin(f"{app.url}{path}", link), timeout=60)
        assert reached.status_code == 200, link
    assert httpx.head(f"{app.url}{path}").status_code == 404


@pytest.mark.parametrize("path", FETCHED)
def test_what_programs_fetch_keeps_its_own_404(app: Served, path: str) -> None:
    answer = httpx.get(app.url.rstrip("/") + path, timeout=60)
    assert answer.status_code == 404 and "<!doctype" not in answer.text
    if path.startswith(("/data", "/export", "/gradio_api")):
        assert answer.json()


def test_a_path_is_shown_as_text_and_cut(app: Served) -> None:
    text = httpx.get(f"{app.url}{quote('<script>x</script>' + 'y' * 500)}", timeout=60).text
    assert "<script>x" not in text and "&lt;script&gt;x" in text and "y" * 100 not in text


def test_only_a_visitors_404_is_replaced() -> None:
    def answer(request: Request) -> Response:
        return Response("own", status_code=int(request.path_params["status"]))

    routes = [Route("/{status:int}", answer, methods=["GET", "POST"])]
    middleware = [Middleware(ErrorPages, page=lambda path, *_: f"page of {path}", fetched=["data"])]
    client = TestClient(Starlette(routes=routes, middleware=middleware))
    assert client.get("/404").text == "page of /404" and client.get("/200").text == client.get("/500").text == "own"
    assert client.post("/404").text == "own" and client.get("/data/404").text == "Not Found"
    assert client.get("/").text == "page of /"
    below = TestClient(Starlette(routes=routes, middleware=middleware), root_path="/here")
    assert below.get("/here/none").text == "page of /none" and below.get("/hereafter").text == "page of /hereafter"


# ---- refusals

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
LONG = "x" * 5000
REFUSED = {
    f"data/board/{'x' * 900}": 400,
    "data/rank/mieb?w=x:y": 400,
    "gradio_api/file=/etc/passwd": 404,
    "gradio_api/call/nothing/unknown": 404,
}


@pytest.mark.parametrize(("path", "status"), REFUSED.items(), ids=range(len(REFUSED)))
def test_a_refused_link_is_a_page_in_a_browser_and_json_in_a_program(app: Served, path: str, status: int) -> None:
    answer, program = (httpx.get(f"{app.url}{path}", headers=headers, timeout=60) for headers in (BROWSER, {}))
    assert answer.status_code == program.status_code == status
    sentence = program.json()["error"]
    assert program.headers["content-type"] == "application/json" and answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "text/html; charset=utf-8" and answer.headers["vary"] == "accept"
    shown = html.unescape(re.sub(r"<[^>]*>", "", answer.text.partition("<main")[2]))
    assert sentence in shown and "Traceback" not in answer.text
    assert "x" * 201 not in answer.text and len(answer.text) < 40_000
    assert "'sha256-" in answer.headers["content-security-policy"]
    assert httpx.head(f"{app.url}{path}", headers=BROWSER).content == b""


def test_a_refused_host_is_a_page_in_a_browser() -> None:

    def page(path: str, status: int, sentence: str) -> str:
        return f"<p>{status}: {sentence}</p>"

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield

    shown = partial(ErrorPages, page=page)
    guard = guarded(lifespan, access(listens_on="127.0.0.1"), shown=shown)
    with TestClient(Starlette(lifespan=guard), base_url="http://evil.example") as client:
        answer = client.get("/", headers=BROWSER)
        assert (answer.status_code, answer.headers["content-type"]) == (403, "text/html; charset=utf-8")
        assert "403: This server does not answer under the name" in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "LIKENESS_HOSTS" in client.get("/").json()["error"]
        assert "LIKENESS_HOSTS" in client.post("/", headers=BROWSER).json()["error"]


def test_a_failure_is_a_page_and_keeps_when_to_try_again() -> None:
    def answer(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind == "text":
            return Response("no JSON", status_code=500)
        return refusal("Too many" if kind == "many" else f"<b>{LONG}</b>", 429, retry_after=7)

    routes = [Route("/data/{kind}", answer)]
    page = partial(error_page, site="Site", pages=[("Board", "")], bar=lambda root: "", look="")
    client = TestClient(Starlette(routes=routes, middleware=[Middleware(ErrorPages, page=page, fetched=["data"])]))
    many = client.get("/data/many", headers=BROWSER)
    assert many.headers["retry-after"] == "7" and "<p>Too many.</p>" in many.text
    assert many.text.count("<h1>Too many requests</h1>") == 1
    assert "<b>" not in client.get("/data/long", headers=BROWSER).text
    unexplained = client.get("/data/text", headers=BROWSER)
    assert unexplained.status_code == 500 and "could not answer this" in unexplained.text
    assert client.get("/data/text").text == "no JSON"
