"""Gradio's routes for files are closed, its other ones open, and no spelling of a path gives content from outside."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
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

from leaderboard.data.suite_cache import SuiteCache
from leaderboard.web.events import request_filter
from leaderboard.web.events.request_filter import RequestFilter
from leaderboard.web.receiving.bodies import BoundedRoute, InFlight
from tests.leaderboard.served import client as served_client
from tests.leaderboard.web.launched import SECRET, Served, launched

ROOT = Path(__file__).resolve().parents[4]
A_FILE = {"path": "https://example.org/a.png", "meta": {"_type": "gradio.FileData"}}
CLOSED = [
    "upload",
    "upload/",
    "upload?upload_id=x",
    "upload_progress?upload_id=x",
    "file=x",
    "file/x",
    "proxy=https://x",
    "stream/x",
    "stream/x/1/2/playlist.m3u8",
    "process_recording",
    "deep_link?session_hash=x",
    "vibe-code/",
    "run-history/buckets",
    "app_id",
    "app_id/",
]


@pytest.fixture(scope="module", params=[True, False], ids=["closed", "as Gradio has it"])
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, bool]]:
    """A small app of Gradio's own with a text, a server function and a route; with the middleware and without."""

    def told(words: str) -> list[str]:
        return [words, "told"]

    with gr.Blocks(analytics_enabled=False) as blocks:
        given, shown = gr.Textbox(), gr.Textbox()
        given.submit(lambda words: words[::-1], given, shown, api_name="turn")
        gr.HTML("<p>x</p>", server_functions=[told], elem_id="told")
    middleware = [Middleware(RequestFilter)] if request.param else []
    for one in launched(blocks, {"app_kwargs": {"middleware": middleware}}, tmp_path_factory.mktemp("small")):
        yield one, request.param


def test_nothing_can_be_uploaded_and_it_could(small: tuple[Served, bool]) -> None:
    app, closed = small
    answer = httpx.post(f"{app.url}gradio_api/upload", files={"files": ("a.txt", b"hello")}, timeout=60)
    assert answer.status_code == (404 if closed else 200)
    assert [path.name for path in app.files()] == ([] if closed else ["a.txt"])
    if not closed:  # what the middleware keeps away
        assert httpx.get(f"{app.url}gradio_api/file={answer.json()[0]}", timeout=60).text == "hello"


def test_events_that_name_a_file_are_refused(small: tuple[Served, bool]) -> None:
    app, closed = small
    for path, body in (
        ("api/turn", {"data": [A_FILE]}),
        ("call/turn", {"data": [{"a": [A_FILE]}]}),
        ("queue/join", {"data": [A_FILE], "fn_index": 0, "session_hash": "s"}),
    ):
        for content in (
            json.dumps(body).encode(),
            json.dumps(body).replace("F", "\\u0046").encode(),
            json.dumps(body).encode("utf-16"),
        ):
            if not closed:
                break  # it would ask example.org
            answer = httpx.post(
                f"{app.url}gradio_api/{path}", content=content, headers={"content-type": "application/json"}, timeout=60
            )
            assert (answer.status_code, list(answer.json())) == (400, ["error"])
    assert app.files() == [] or not closed


def test_what_the_pages_need_is_open(small: tuple[Served, bool]) -> None:
    app, _ = small
    for path in (
        "",
        "config",
        "theme.css",
        "gradio_api/theme.css",
        "gradio_api/info",
        "gradio_api/openapi.json",
        "gradio_api/startup-events",
        "favicon.ico",
        "manifest.json",
    ):
        assert httpx.get(f"{app.url}{path}", timeout=60).status_code == 200, path
    answer = httpx.post(f"{app.url}gradio_api/api/turn", json={"data": ["abc"]}, timeout=60)
    assert answer.json()["data"] == ["cba"]
    asked = {"component_id": _component(app), "session_hash": "s", "fn_name": "told", "data": "a"}
    assert httpx.post(f"{app.url}gradio_api/component_server", json=asked, timeout=60).json() == ["a", "told"]
    event = httpx.post(f"{app.url}gradio_api/call/turn", json={"data": ["abc"]}, timeout=60).json()["event_id"]
    with httpx.stream("GET", f"{app.url}gradio_api/call/turn/{event}", timeout=20) as stream:
        assert '["cba"]' in "".join(stream.iter_text())


def _component(app: Served) -> int:
    listed = httpx.get(f"{app.url}config", timeout=60).json()["components"]
    return next(one["id"] for one in listed if one["props"].get("elem_id") == "told")


# ---- the middleware alone


@pytest.fixture
def client() -> TestClient:
    """Answers with what arrived, under any path."""
    return client_of()


def client_of(in_flight: InFlight | None = None, *, root_path: str = "") -> TestClient:
    async def echo(request: Request) -> Response:
        return Response(
            await request.body(), headers={"x-path": quote(request.url.path), "x-thread": str(threading.get_ident())}
        )

    routes = [
        *(BoundedRoute(path, echo, methods=["POST"]) for path in ("/live/input", "/export/board/{suite}")),
        Route("/{path:path}", echo, methods=["GET", "POST", "PUT", "PATCH"]),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(
                RequestFilter,
                routes=routes,
                in_flight=in_flight,
                images=["score_pair", 7],
                parameters=dict.fromkeys(("score_pair", 7), ("first", "second", "model")),
            )
        ],
    )
    return TestClient(app, raise_server_exceptions=False, root_path=root_path)


@pytest.mark.parametrize("before", ["", "/likeness", "/a/b"])
@pytest.mark.parametrize("path", CLOSED)
def test_closed_under_any_root_path_for_any_method(client: TestClient, before: str, path: str) -> None:
    for method in ("GET", "POST", "HEAD"):
        answer = client.request(method, f"{before}/gradio_api/{path}")
        assert answer.status_code == 404 and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api%2Fupload",
        "/gradio_api//upload",
        "/%67radio_api/%75pload",
        "/gradio_api/%66ile=/etc/passwd",
        "/gradio_api/file%3D/etc/passwd",
    ],
)
def test_closed_in_other_spellings_that_a_router_would_take(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/board",
        "/live/input",
        "/gradio_api/queue/data",
        "/gradio_api/theme.css",
        "/gradio_api/heartbeat/abc",
        "/gradio_api/custom_component/x",
        "/assets/upload.js",
        "/data/board/unisim-core",
        "/upload",
        "/model?key=file=x",
    ],
)
def test_the_rest_is_handed_on(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200
    answer = client.post(path, content=b"\x00\xff", headers={"content-type": "multipart/form-data"})
    assert answer.content == b"\x00\xff"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[1, 2]",
        b'{"data": ["gradio.FileData"]}',
        b"\xff\xfe",
        b"NaN",
        b'{"meta": "gradio.FileData"}',
        b'{"meta": {"_type": "other"}, "path": "x"}',
    ],
    ids=lambda body: ascii(body[:20]),
)
def test_events_arrive_as_they_were_sent(client: TestClient, body: bytes) -> None:
    assert client.post("/gradio_api/queue/join", content=body).content == body


def test_an_event_is_bounded_and_is_no_form(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_filter, "LARGEST_EVENT", 1000)
    assert client.post("/gradio_api/queue/join", content=b"1" * 1000).status_code == 200
    assert client.post("/gradio_api/queue/join", content=b"1" * 1001).status_code == 413
    assert client.post("/gradio_api/run/x", content=iter([b"1" * 600] * 2)).status_code == 413
    monkeypatch.undo()
    two = {"data": ["data:image/png;base64," + "A" * (8_000_000 * 4 // 3)] * 2}
    assert client.post("/gradio_api/call/score_pair", json=two).status_code == 200
    assert client.post("/gradio_api/mcp/", json={"params": {"arguments": {"first": A_FILE}}}).status_code == 400
    answer = client.post("/gradio_api/component_server", files={"f": ("a.txt", b"x")})
    assert answer.status_code == 400 and "live/input" in answer.json()["error"]


@pytest.mark.parametrize("path", ["queue/join", "api/turn", "call/turn", "component_server", "mcp/"])
def test_an_event_of_nothing_but_brackets_is_not_parsed(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(request_filter.bounds, "check", lambda *_, **__: pytest.fail("it was parsed"))
    for one in (b"[],", b"{},", b'"\\u0046",', b"1,"):
        answer = client.post(f"/gradio_api/{path}", content=b"[" + one * (23_700_000 // len(one)) + b"1]")
        assert answer.status_code == 413 and "50000" in answer.json()["error"]


def test_an_event_is_not_parsed_in_the_event_loop(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def loads(body: bytes) -> object:
        threads.append(threading.get_ident())
        return json.loads(body)

    monkeypatch.setattr(request_filter, "json", SimpleNamespace(JSONDecodeError=json.JSONDecodeError, loads=loads))
    texts = json.dumps({"data": ["a, b [c] " * 2000 + "\n\u00e9"] * 2}, ensure_ascii=False).encode()
    with client:  # one event loop for all requests
        for body in (texts, json.dumps(["gradio.FileData"]).encode(), b'["\\u0041"]', '["é"]'.encode("utf-16")):
            answer = client.post("/gradio_api/queue/join", content=body)
            assert answer.content == body and threads and threads.pop() != int(answer.headers["x-thread"])


DATA_URI = "data:image/png;base64," + "A" * 200_000
BEYOND = {
    "a key": {"session_hash": "s" * 201},
    "a key in a list": {"data": [{"models": ["m" * 201]}]},
    "a key in a list of values": {"data": [["m" * 201]]},
    "a name": {"data": [{"n" * 201: 1}]},
    "a text": {"data": ["t" * 100_001]},
    "a visitor's text": {"event_data": {"inputs": [{"kind": "text", "text": "t" * 100_001}]}},
    "a list of keys": {"event_data": {"query": "q" * 8_001}},
    "an image": {"data": [DATA_URI], "fn_index": 3},
    "a whole number": {"data": [10**16]},
    "no number": {"data": [float("nan")]},
    "an infinite number": {"data": [float("inf")]},
    "depth": {"data": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]},
}
WITHIN = {
    "a key": {"session_hash": "s" * 200, "data": [["m" * 200, None]], "event_data": {"models": ["m" * 200] * 200}},
    "a text": {"data": ["t" * 100_000], "event_data": {"inputs": [{"kind": "text", "text": "é" * 100_000}] * 9}},
    "a list of keys": {"event_data": {"query": "q" * 8_000, "ids": ["a/b~published"] * 1000}},
    "an image": {"data": [DATA_URI, DATA_URI, ""], "fn_index": 7},
    "numbers": {"data": [2**53, -1.5e300 / 1e300, 0, True, None], "fn_index": 0},
}


@pytest.mark.parametrize("kind", BEYOND)
def test_what_is_beyond_bounds_is_a_short_sentence(client: TestClient, kind: str) -> None:
    for path in ("queue/join", "call/board", "component_server"):
        answer = client.post(f"/gradio_api/{path}", content=json.dumps(BEYOND[kind]))
        assert answer.status_code == 400 and list(answer.json()) == ["error"] and len(answer.content) < 700


def test_a_text_that_is_too_long_is_called_a_text(client: TestClient) -> None:
    answer = client.post("/gradio_api/queue/join", json=BEYOND["a visitor's text"])
    assert answer.json() == {"error": "A text has 100,001 characters, more than 100,000. Send a shorter one"}


@pytest.mark.parametrize("asked", [1, "one"])
def test_a_tool_is_refused_in_its_own_protocol(client: TestClient, asked: int | str) -> None:
    """With any other status its clients end the connection, and nobody reads the sentence."""
    request = {"jsonrpc": "2.0", "id": asked, "method": "tools/call", "params": {"arguments": {"suite": "s" * 201}}}
    answer = client.post("/gradio_api/mcp/", json=request)
    refused = {"code": -32602, "message": "A value has 201 characters, more than 200. Send a shorter one"}
    assert (answer.status_code, answer.json()) == (200, {"jsonrpc": "2.0", "id": asked, "error": refused})
    for beyond in ("s" * 201, 10**201, True, None, [1]):
        assert client.post("/gradio_api/mcp/", json=request | {"id": beyond}).status_code == 400
    assert client.post("/gradio_api/queue/join", json=request).status_code == 400


@pytest.mark.parametrize("kind", WITHIN)
def test_what_the_pages_send_is_within_bounds(client: TestClient, kind: str) -> None:
    body = json.dumps(WITHIN[kind]).encode()
    assert client.post("/gradio_api/queue/join", content=body).content == body


@pytest.mark.parametrize(
    "body",
    [b"[" * 40_000 + b"\\u", b"[" * 4_000 + b"]" * 4_000, b'{"data": [' + b"9" * 5000 + b"]}", b'["\xff"]', b"[1e400]"],
    ids=["deep and broken", "deep", "number", "no utf-8", "infinite"],
)
def test_what_no_parser_should_meet_is_refused(client: TestClient, body: bytes) -> None:
    for path in ("queue/join", "mcp/"):
        answer = client.post(f"/gradio_api/{path}", content=body)
        assert answer.status_code == 400 and list(answer.json()) == ["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/cancel",
        "/gradio_api/reset",
        "/login",
        "/gradio_api/undo-vibe-edit",
        "/gradio_api/queue/data",
        "/",
        "/live/input/gradio_api/cancel",
        "/live/plan",
        "/export/everything",
        "/likeness/gradio_api/cancel",
    ],
)
def test_what_is_sent_anywhere_else_is_small(client: TestClient, path: str) -> None:
    for method in ("POST", "PUT", "PATCH"):
        assert client.request(method, path, content=b"1" * 64_000).content == b"1" * 64_000
        for content in (b"1" * 64_001, iter([b"1" * 40_000] * 2)):
            answer = client.request(method, path, content=content)
            assert (answer.status_code, list(answer.json())) == (413, ["error"]) and "64 kB" in answer.json()["error"]


@pytest.mark.parametrize("root_path", ["", "/likeness"])
@pytest.mark.parametrize("path", ["/live/input", "/export/board/unisim-core"])
def test_a_route_that_bounds_its_own_body_gets_it_whole(root_path: str, path: str) -> None:
    client = client_of(root_path=root_path)
    assert len(client.post(f"{root_path}{path}", content=bytes(300_000)).content) == 300_000


LONG_KEY = "k" * 300


@pytest.mark.parametrize(
    ("path", "event"),
    [
        ("queue/join", {"fn_index": 7, "data": ["a", "b", LONG_KEY]}),
        ("run/predict", {"fn_index": 7, "data": ["a", "b", LONG_KEY]}),
        ("call/score_pair", {"data": ["a", "b", LONG_KEY]}),
        ("call/score_pair/", {"data": ["a", "b", LONG_KEY]}),
        ("call/v2/score_pair", {"first": "a", "model": LONG_KEY}),
        ("api/other", {"fn_index": 7, "data": ["a", "b", LONG_KEY]}),
        ("api/score_pair", {"fn_index": 3, "data": ["a", "b", LONG_KEY]}),
        ("queue/join", {"fn_index": "7", "data": ["a"]}),
        ("queue/join", {"fn_index": 7.0, "data": ["a"]}),
        ("queue/join", {"fn_index": 7, "data": ["a", "b", ["x", LONG_KEY]]}),
        ("queue/join", {"fn_index": 7, "data": ["a", "b", "c", "d" * 100_001]}),
    ],
    ids=range(11),
)
def test_values_in_order_have_the_bounds_of_their_parameters(client: TestClient, path: str, event: dict) -> None:
    answer = client.post(f"/gradio_api/{path}", json=event)
    assert answer.status_code == 400 and LONG_KEY not in answer.text
    assert "characters" in answer.json()["error"] or "fn_index" in answer.json()["error"]


def test_a_long_text_and_an_image_stand_where_a_parameter_takes_them(client: TestClient) -> None:
    for event in (
        {"fn_index": 7, "data": ["t" * 90_000, DATA_URI, "m" * 200]},
        {"fn_index": 7, "data": ["a", "b"]},
        {"fn_index": True, "data": []},
        {"fn_index": None, "data": [LONG_KEY]},
    ):
        assert client.post("/gradio_api/queue/join", json=event).json() == event


def test_the_routes_of_the_app_that_bound_their_own_bodies(suite_cache: SuiteCache) -> None:
    bounded = {route.path for route in served_client(suite_cache).app.routes if isinstance(route, BoundedRoute)}
    assert bounded == {"/live/input", "/live/file", "/live/forget", "/export/board/{suite}"}


def test_events_together_and_their_time_are_bounded() -> None:
    in_flight = InFlight(100_000, share=1, free=request_filter.LARGEST_OTHER)
    client = client_of(in_flight)
    assert client.post("/gradio_api/queue/join", content=b" " * 164_000).status_code == 200
    answer = client.post("/gradio_api/queue/join", content=b"1" * 164_001)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "5") and "Try again" in answer.json()["error"]
    assert in_flight.bytes == 0


def test_an_event_that_stops_halfway_is_told_so() -> None:
    sent: list[Message] = []

    async def stop() -> None:
        parts: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}]

        async def receive() -> Message:
            return parts.pop() if parts else await asyncio.Event().wait()

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/gradio_api/queue/join", "headers": []}
        await RequestFilter(Response(), in_flight=InFlight(idle=0.01))(scope, receive, send)

    asyncio.run(stop())
    assert sent[0]["status"] == 408 and (b"connection", b"close") in sent[0]["headers"]
    assert "too slowly" in json.loads(sent[1]["body"])["error"]


# ---- the app itself


def spellings(path: Path) -> list[str]:
    """One absolute path in ways that a server might fall for."""
    plain, up = str(path), "../" * 12 + str(path)[1:]
    return [
        plain,
        plain[1:],
        up,
        "/" + up,
        quote(plain, safe=""),
        quote(quote(plain, safe=""), safe=""),
        quote(up, safe=""),
        up.replace("/", "%2f"),
        up.replace("..", "%2e%2e"),
        up.replace("../", "..%252f"),
        up.replace("../", "....//"),
        up.replace("/", "\\"),
        up.replace("/", "%5c"),
        up.replace("../", "..;/"),
        plain + "%00",
        plain + "%00.webp",
        up + "%00.webp",
        "%00" + plain,
        "file://" + plain,
        "file:%2f%2f" + plain,
        "./" + up,
        "//" + plain,
        "cat/" + up,
        "cat.webp/" + up,
        "~root/.." + plain,
        "%c0%ae%c0%ae/" * 12 + plain[1:],
        "%uff0e%uff0e/" * 12 + plain[1:],
        "http://127.0.0.1" + plain,
    ]


BEFORE = [
    "/gradio_api/file=",
    "/gradio_api/file/",
    "/file=",
    "/file/",
    "/live/example/",
    "/static/x/board/",
    "/static/",
    "/static/x/tray/",
    "/assets/",
    "/svelte/",
    "/gradio_api/proxy=",
    "/",
    "/export/board/",
    "/gradio_api/custom_component/html/client/component/",
    "/thumbnails/unisim/nights/",
    "/data/board/",
    "/gradio_api/stream/x/1/2/",
]


@pytest.mark.parametrize("before", BEFORE)
def test_no_path_leads_outside(app: Served, before: str) -> None:
    targets = {app.secret: SECRET.encode(), Path("/etc/passwd"): b"root:", ROOT / "app.py": b"def main"}
    for target, inside in targets.items():
        for spelling in spellings(target):
            for after in ("", ".webp"):
                status, content = app.raw(before + spelling + after)
                assert inside not in content and status != 500, (status, before + spelling + after)


def test_the_app_has_gradio_s_file_routes_closed(app: Served) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr("a.txt", "hello")
    for path in ("gradio_api/upload", "gradio_api/upload?upload_id=abc"):
        assert httpx.post(f"{app.url}{path}", files={"files": ("a.zip", out.getvalue())}, timeout=60).status_code == 404
    assert httpx.get(f"{app.url}gradio_api/file={app.secret}", timeout=60).status_code == 404
    assert app.files() == []


def test_the_app_serves_examples_and_keeps_uploads_in_memory(app: Served) -> None:
    listed = httpx.get(f"{app.url}live/examples", timeout=60).json()
    picture = httpx.get(f"{app.url}{listed['inputs'][0]['thumbnail']}", timeout=60)
    assert picture.headers["content-type"] == "image/webp"
    answer = httpx.post(
        f"{app.url}live/input", content=picture.content, headers={"x-likeness-session": "a" * 32}, timeout=60
    )
    assert answer.status_code == 200 and answer.json()["width"] > 100
    assert app.files() == []


def test_what_describes_gradio_s_own_routes_is_closed_and_what_describes_the_endpoints_is_not(app: Served) -> None:
    assert [httpx.get(f"{app.url}{path}").status_code for path in ("openapi.json", "docs", "redoc")] == [404] * 3
    described = httpx.get(f"{app.url}gradio_api/openapi.json").json()["paths"]
    assert any("score_pair" in path for path in described)


def test_the_app_takes_no_large_body(app: Served) -> None:
    for path in ("gradio_api/cancel", "gradio_api/reset", "login", "gradio_api/undo-vibe-edit"):
        assert httpx.post(f"{app.url}{path}", content=iter([bytes(50_000)] * 2), timeout=60).status_code == 413
    sent = {"session_hash": "s", "fn_index": 0, "event_id": "e"}
    for path in ("cancel", "reset"):
        assert httpx.post(f"{app.url}gradio_api/{path}", json=sent, timeout=60).json() == {"success": True}


def test_pages_open_and_events_pass(app: Served) -> None:
    from leaderboard.pages import VIEWS

    for view in VIEWS:
        assert httpx.get(f"{app.url}{view.key}", timeout=60).status_code == 200
    assert httpx.get(f"{app.url}gradio_api/startup-events", timeout=60).status_code == 200
    assert app.files() == []
