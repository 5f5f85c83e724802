"""Every answer carries the headers, and a page's policy names exactly the inline scripts that it was sent with."""

from __future__ import annotations

import base64
import hashlib

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.web.security.headers import CSP, FIXED, PageScripts, SecurityHeaders, policy, script_hashes

PAGE = '<script>let a = 1;</script><script type="module" src="./a.js"></script><SCRIPT data-mode>b()</SCRIPT >'


def hashed(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def directives(text: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in text.split(";"))}


async def fails(request: Request) -> Response:
    raise RuntimeError("not caught anywhere")


async def streamed(request: Request) -> Response:
    return StreamingResponse(iter([PAGE[:20], PAGE[20:60], PAGE[60:]]), media_type="text/html; charset=utf-8")


@pytest.fixture
def client() -> TestClient:
    async def page(request: Request) -> Response:
        return HTMLResponse(PAGE)

    async def numbers(request: Request) -> Response:
        return JSONResponse({"script": PAGE}, headers={"x-content-type-options": "its own"})

    routes = [Route("/", page), Route("/streamed", streamed), Route("/numbers", numbers), Route("/fails", fails)]
    app = Starlette(routes=routes, middleware=[Middleware(PageScripts, frame_hosts=("https://hub.example",))])
    wrapped = SecurityHeaders(app, frame_hosts=("https://hub.example",))
    return TestClient(wrapped, raise_server_exceptions=False)


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/numbers", 200), ("/none", 404), ("/fails", 500)])
def test_every_answer_has_every_header_once(client: TestClient, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    for name, value in FIXED.items():
        own = path == "/numbers" and name == "x-content-type-options"
        assert answer.headers.get_list(name) == ["its own" if own else value]
    assert len(answer.headers.get_list(CSP)) == 1


@pytest.mark.parametrize("path", ["/", "/streamed"])
def test_a_page_may_run_the_scripts_it_came_with(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.text == PAGE
    scripts = directives(answer.headers[CSP])["script-src"]
    assert scripts == ["'self'", "'unsafe-eval'", hashed("let a = 1;"), hashed("b()")]


def test_what_is_no_page_may_run_no_inline_script(client: TestClient) -> None:
    answer = client.get("/numbers")
    assert directives(answer.headers[CSP])["script-src"] == ["'self'", "'unsafe-eval'"]


def test_a_page_without_its_body_keeps_the_policy(client: TestClient) -> None:
    assert directives(client.head("/").headers[CSP])["frame-ancestors"] == ["'self'", "https://hub.example"]


def test_lines_are_hashed_as_browsers_read_them() -> None:
    assert script_hashes(b"<script>\r\na()\r\n</script>") == [hashed("\na()\n")]


def test_the_policy_forbids_what_is_not_needed() -> None:
    sources = directives(policy())
    assert sources["default-src"] == ["'self'"] and sources["connect-src"] == ["'self'"]
    assert sources["object-src"] == sources["frame-src"] == ["'none'"]
    assert sources["base-uri"] == sources["form-action"] == sources["frame-ancestors"] == ["'self'"]
    assert "'unsafe-inline'" not in sources["script-src"]
    assert not any("*" in source or source in ("http:", "https:") for each in sources.values() for source in each)


def test_old_browsers_read_who_may_frame_where_that_can_be_said() -> None:
    def framed(*hosts: str) -> str | None:
        return TestClient(SecurityHeaders(Starlette(), frame_hosts=hosts)).get("/").headers.get("x-frame-options")

    assert framed() == "SAMEORIGIN" and framed("https://hub.example") is None
