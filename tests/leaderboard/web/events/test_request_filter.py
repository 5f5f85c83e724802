"""Gradio's routes for files are closed, its other ones open, and no spelling of a path gives content from outside."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import gradio as gr
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from leaderboard.web.events.request_filter import RequestFilter, fault
from leaderboard.web.receiving.bodies import BoundedRoute, InFlight
from tests.leaderboard.web.launched import SECRET, Served, launched

ROOT = Path(__file__).resolve().parents[4]
A_FILE = {"path": "https://example.org/a.png", "meta": {"_type": "gradio.FileData"}}
CLOSED = [
    "upload",
    "upload_progress?upload_id=x",
    "file=x",
    "file/x",
    "proxy=https://x",
    "stream/x",
    "process_recording",
    "deep_link?session_hash=x",
    "vibe-code/",
    "run-history/buckets",
    "app_id",
]
JOIN = "/gradio_api/queue/join"


def test_gradio_alone_takes_files_and_gives_them(tmp_path: Path) -> None:
    """What the middleware keeps away."""
    with gr.Blocks(analytics_enabled=False) as blocks:
        gr.Textbox()
    for app in launched(blocks, {}, tmp_path):
        sent = httpx.post(f"{app.url}gradio_api/upload", files={"files": ("a.txt", b"hello")}, timeout=60)
        assert httpx.get(f"{app.url}gradio_api/file={sent.json()[0]}", timeout=60).text == "hello"


# ---- the middleware alone


@pytest.fixture
def client() -> TestClient:
    """Answers with what arrived, under any path."""

    async def echo(request: Request) -> Response:
        return Response(await request.body())

    routes = [
        BoundedRoute("/live/input", echo, methods=["POST"]),
        Route("/{path:path}", echo, methods=["GET", "POST", "PUT", "PATCH"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(RequestFilter, routes=routes)])
    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize("path", CLOSED)
def test_closed_under_any_root_path_for_any_method(client: TestClient, path: str) -> None:
    for method in ("GET", "POST", "HEAD"):
        for before in ("/gradio_api/", "/a/b/gradio_api/", "/%67radio_api//"):
            answer = client.request(method, f"{before}{path}")
            assert answer.status_code == 404 and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/live/input", "/gradio_api/queue/data", "/model?key=file=x"])
def test_the_rest_is_handed_on(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200
    answer = client.post(path, content=b"\x00\xff", headers={"content-type": "multipart/form-data"})
    assert answer.content == b"\x00\xff"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"data": ["gradio.FileData"], "meta": "gradio.FileData"}',
        json.dumps({"data": ["t" * 100_000, "data:image/png;base64," + "A" * (8_000_000 * 4 // 3)] * 2}).encode(),
    ],
    ids=["empty", "broken", "words", "largest"],
)
def test_events_arrive_as_they_were_sent(client: TestClient, body: bytes) -> None:
    assert client.post(JOIN, content=body).content == body


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (json.dumps({"data": [{"a": [A_FILE]}]}), 400),
        (json.dumps({"data": [A_FILE]}).replace("F", "\\u0046"), 400),
        (json.dumps({"data": [A_FILE]}).encode("utf-16"), 400),
        (json.dumps({"data": ["t" * 100_001]}), 400),
        (json.dumps({"event_data": {"n" * 100_001: 1}}), 400),
        (json.dumps({"data": [10**16]}), 400),
        ('{"data": [NaN]}', 400),
        ("[1e400]", 400),
        ("[" * 4_000 + "]" * 4_000, 400),
        ('{"data": [' + "9" * 5000 + "]}", 400),
        (b'["\xff"]', 400),
        ("[" + "{}," * 60_000 + "1]", 413),
        ("1" * 24_000_001, 413),
    ],
    ids=range(13),
)
def test_what_gradio_must_not_get_is_a_short_sentence(client: TestClient, body: str | bytes, status: int) -> None:
    answer = client.post(JOIN, content=body)
    assert answer.status_code == status and list(answer.json()) == ["error"] and len(answer.content) < 700


def test_a_form_is_no_event(client: TestClient) -> None:
    assert client.post("/gradio_api/component_server", files={"f": ("a.txt", b"x")}).status_code == 400


@pytest.mark.parametrize("path", ["/gradio_api/cancel", "/login", "/", "/live/plan", "/likeness/gradio_api/reset"])
def test_what_is_sent_anywhere_else_is_small(client: TestClient, path: str) -> None:
    assert client.post(path, content=b"1" * 64_000).content == b"1" * 64_000
    for content in (b"1" * 64_001, iter([b"1" * 40_000] * 2)):
        answer = client.put(path, content=content)
        assert (answer.status_code, list(answer.json())) == (413, ["error"])


def test_a_route_that_bounds_its_own_body_gets_it_whole(client: TestClient) -> None:
    assert len(client.post("/live/input", content=bytes(300_000)).content) == 300_000


def test_a_name_of_a_value_is_no_file() -> None:
    assert fault(b'{"meta": {"_type": "other"}, "path": "x"}') is None


def test_an_event_that_stops_halfway_is_told_so() -> None:
    sent: list[Message] = []

    async def stop() -> None:
        parts: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}]

        async def receive() -> Message:
            return parts.pop() if parts else await asyncio.Event().wait()

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": JOIN, "headers": []}
        app = RequestFilter(Response())
        app.in_flight = InFlight(idle=0.01)
        await app(scope, receive, send)

    asyncio.run(stop())
    assert sent[0]["status"] == 408 and (b"connection", b"close") in sent[0]["headers"]


# ---- the app itself


def spellings(path: Path) -> Iterator[str]:
    """One absolute path in ways that a server might fall for."""
    plain, up = str(path), "../" * 12 + str(path)[1:]
    yield from (
        plain,
        up,
        "/" + up,
        quote(plain, safe=""),
        quote(quote(plain, safe=""), safe=""),
        up.replace("/", "%2f"),
    )
    yield from (up.replace("..", "%2e%2e"), up.replace("../", "....//"), up.replace("/", "\\"), f"{up}%00.webp")
    yield from ("file://" + plain, "cat.webp/" + up, "%c0%ae%c0%ae/" * 12 + plain[1:])


@pytest.mark.parametrize(
    "before",
    [
        "/gradio_api/file=",
        "/file=",
        "/live/example/",
        "/static/x/js/",
        "/assets/",
        "/gradio_api/proxy=",
        "/",
        "/export/board/",
        "/gradio_api/custom_component/html/client/component/",
        "/thumbnails/unisim/nights/",
        "/share/",
    ],
)
def test_no_path_leads_outside(app: Served, before: str) -> None:
    targets = {app.secret: SECRET.encode(), Path("/etc/passwd"): b"root:", ROOT / "app.py": b"def main"}
    for target, inside in targets.items():
        for spelling in spellings(target):
            status, content = app.raw(before + spelling)
            assert inside not in content and status != 500, (status, before + spelling)


def test_the_app_keeps_what_is_sent_in_memory_and_its_own_routes_open(app: Served) -> None:
    for path in ("upload", "upload?upload_id=abc"):
        sent = httpx.post(f"{app.url}gradio_api/{path}", files={"files": ("a.zip", b"PK")}, timeout=60)
        assert sent.status_code == 404
    assert httpx.get(f"{app.url}gradio_api/file={app.secret}", timeout=60).status_code == 404
    listed = httpx.get(f"{app.url}live/examples", timeout=60).json()
    picture = httpx.get(f"{app.url}{listed['inputs'][0]['thumbnail']}", timeout=60)
    headers = {"x-likeness-session": "a" * 32}
    answer = httpx.post(f"{app.url}live/input", content=picture.content, headers=headers, timeout=60)
    assert answer.status_code == 200 and answer.json()["width"] > 100
    assert [httpx.get(f"{app.url}{path}").status_code for path in ("openapi.json", "redoc")] == [404] * 2
    assert any("score_pair" in path for path in httpx.get(f"{app.url}gradio_api/openapi.json").json()["paths"])
    sent = {"session_hash": "s", "fn_index": 0, "event_id": "e"}
    assert httpx.post(f"{app.url}gradio_api/cancel", json=sent, timeout=60).json() == {"success": True}
    assert app.files() == []
