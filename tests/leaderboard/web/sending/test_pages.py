"""An address that leads nowhere is a page with a way on; what programs fetch is none."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.web.sending.pages import NotFoundPage
from tests.leaderboard.web.launched import Served

FETCHED = ("/data/nothing", "/export/nothing", "/gradio_api/nothing", "/static/x/nothing.js", "/assets/nothing.js")


@pytest.mark.parametrize(
    ("path", "root", "near"),
    [
        ("nosuchpage", "./", ""),
        ("nosuchpage/", "../", ""),
        ("boards", "./", "board"),
        ("leaderboard", "./", "board"),
        ("tasks", "./", "task"),
        ("no/such/page", "../../", ""),
        ("model/openai/clip", "../../", ""),
        ("favicon.png", "./", ""),
    ],
)
def test_an_address_without_a_page_is_a_page_with_a_way_on(app: Served, path: str, root: str, near: str) -> None:
    answer = httpx.get(f"{app.url}{path}?__theme=dark")
    assert answer.status_code == 404 and answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    text = answer.text
    assert text.startswith("<!doctype html>") and f"There is no page “{path.strip('/')}” here." in text
    assert (f'Did you mean <a href="{root}{near}">' in text) is bool(near)
    for link in re.findall(r'href="([^"]*)"', text):
        assert link.startswith(root)
        reached = httpx.get(urljoin(f"{app.url}{path}", link))
        assert reached.status_code == 200, link
    assert httpx.head(f"{app.url}{path}").status_code == 404


@pytest.mark.parametrize("path", FETCHED)
def test_what_programs_fetch_keeps_its_own_404(app: Served, path: str) -> None:
    answer = httpx.get(app.url.rstrip("/") + path)
    assert answer.status_code == 404 and "<!doctype" not in answer.text
    if path.startswith(("/data", "/export", "/gradio_api")):
        assert answer.json()


def test_a_path_is_shown_as_text_and_cut(app: Served) -> None:
    text = httpx.get(f"{app.url}{quote('<script>x</script>' + 'y' * 500)}").text
    assert "<script>x" not in text and "&lt;script&gt;x" in text and "y" * 100 not in text


def test_only_a_visitors_404_is_replaced() -> None:
    def answer(request: Request) -> Response:
        return Response("own", status_code=int(request.path_params["status"]))

    routes = [Route("/{status:int}", answer, methods=["GET", "POST"])]
    middleware = [Middleware(NotFoundPage, page=lambda path: f"page of {path}", fetched=["data"])]
    client = TestClient(Starlette(routes=routes, middleware=middleware))
    assert client.get("/404").text == "page of /404" and client.get("/200").text == client.get("/500").text == "own"
    assert client.post("/404").text == "own" and client.get("/data/404").text == "Not Found"
    assert client.get("/").text == "page of /"
    below = TestClient(Starlette(routes=routes, middleware=middleware), root_path="/here")
    assert below.get("/here/none").text == "page of /none" and below.get("/hereafter").text == "page of /hereafter"
