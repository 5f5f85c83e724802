"""Whatever address, parameter, header or value is megabytes long: a short answer at once, and nothing in the log.

Routes, events, endpoints and tools are those of the running app, so a new one is tested as soon as it exists.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest
from starlette.routing import BaseRoute, Mount

HUGE = "k" * 1_000_000
ECHO = "k" * 1_000  # of it, that no answer may hold
MOST_BYTES, MOST_SECONDS = 4_000, 1.0  # of an answer; of processor time
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
HEADERS = ("x-likeness-session", "cookie", "referer", "x-forwarded-for", "mcp-session-id", "authorization", "accept")
PARAMETERS = ("session_hash", "page", "version", "task", "model", "w", "tasks", "kinds", "items", "format", "k" * 300)


@dataclass(frozen=True)
class Running:
    """The launched app: its address, its Blocks, and what answers its requests."""

    url: str
    blocks: gr.Blocks
    app: Any


@pytest.fixture(scope="module")
def running(database: Path) -> Iterator[Running]:
    from leaderboard import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_warm", lambda *_: None)  # what is made ahead is not what is tested
        blocks, launch = server.build(database)
        app, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
        try:
            yield Running(url, blocks, app)
        finally:
            blocks.close(verbose=False)


@pytest.fixture(autouse=True)
def nothing_in_the_log(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    with caplog.at_level(logging.WARNING):
        yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err and not any(record.exc_info for record in caplog.records)
    assert ECHO not in out + err + caplog.text


def all_routes(routes: list[BaseRoute], before: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """Every path of the app with its methods, those of routers within it too."""
    for route in routes:
        path = before + getattr(route, "path", "")
        inner = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
        if inner:
            prefix = getattr(getattr(route, "include_context", None), "prefix", "")
            yield from all_routes(inner, path + prefix)
        if not inner or isinstance(route, Mount):
            yield path, frozenset(getattr(route, "methods", None) or {"GET", "POST"})


@dataclass(frozen=True)
class Sent:
    """One request, as the server in front hands it on."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def answers(running: Running, requests: list[Sent]) -> list[tuple[int, bytes]]:
    """The answers straight from the app: a server in front may refuse some of the requests before it."""
    where = urlsplit(running.url)

    async def answer(sent: Sent) -> tuple[int, bytes]:
        headers = {"host": where.netloc, "content-type": "application/json", **sent.headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": sent.method,
            "scheme": "http",
            "path": sent.path,
            "raw_path": sent.path.encode(),
            "query_string": sent.query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 50_000),
            "server": (where.hostname, where.port),
        }
        messages = [{"type": "http.request", "body": sent.body, "more_body": False}]
        status, content = 0, b""

        async def receive() -> dict[str, Any]:
            return messages.pop() if messages else await asyncio.Event().wait()

        async def send(message: Mapping[str, Any]) -> None:
            nonlocal status, content
            status = message.get("status", status)
            content += message.get("body", b"")

        started = time.process_time()
        await asyncio.wait_for(running.app(scope, receive, send), 60)
        seconds = time.process_time() - started
        named = f"{sent.method} {sent.path[:80]}?{sent.query[:40]} {[*sent.headers]}"
        assert seconds < MOST_SECONDS, (named, seconds)
        assert status not in (0, 500) and ECHO.encode() not in content, (named, status)
        return status, content

    async def each() -> list[tuple[int, bytes]]:
        return [await answer(sent) for sent in requests]

    return asyncio.run(each())


def test_every_route_refuses_an_oversized_path_parameter_or_header(running: Running) -> None:
    paths = dict(all_routes(running.app.routes))
    assert {"/data/board/{suite}", "/live/example/{key}.webp", "/gradio_api/queue/join"} <= set(paths), sorted(paths)
    assert len(paths) > 60
    requests = []
    for path, methods in paths.items():
        plain = re.sub(r"\{[^}]*\}", "x", path) or "/"
        for method in sorted(methods & {"GET", "POST", "PUT", "PATCH", "DELETE"}):
            if "{" in path:
                requests.append(Sent(method, re.sub(r"\{[^}]*\}", HUGE, path)))
            requests += [Sent(method, plain, f"{name}={HUGE}") for name in PARAMETERS]
            requests += [Sent(method, plain, headers={name: HUGE}) for name in HEADERS]
    for sent, (status, content) in zip(requests, answers(running, requests), strict=True):
        assert status in (403, 404, 414, 431) and len(content) < MOST_BYTES, (sent.path[:80], status, len(content))


def test_every_event_refuses_an_oversized_leaf(running: Running) -> None:
    """A page's event, by number and for each of what Gradio reads beside its values."""
    functions = running.blocks.fns
    assert len(functions) > 40
    requests = []
    for index, function in functions.items():
        event = {"data": [None] * len(function.inputs), "fn_index": index, "session_hash": "s", "trigger_id": 1}
        bodies = [
            *(
                event | {"data": [HUGE if at == own else None for at in range(len(function.inputs))]}
                for own in range(len(function.inputs))
            ),
            *(
                event | {name: HUGE}
                for name in ("data", "fn_index", "session_hash", "trigger_id", "event_id", "event_data")
            ),
            event | {"event_data": {HUGE: 1}},
            event | {"event_data": {"inputs": [{"kind": "text", "text": HUGE}], "models": [HUGE]}},
            event | {"event_data": {"ids": [[HUGE]]}},
            event | {"event_data": {"turn": int("9" * 4000)}},
        ]
        requests += [Sent("POST", "/gradio_api/queue/join", body=json.dumps(body).encode()) for body in bodies]
    for status, content in answers(running, requests):
        assert status == 400 and len(content) < MOST_BYTES


def test_every_other_body_is_answered_in_short(running: Running) -> None:
    """All routes that take one, events or not: JSON of a huge value under each name that Gradio reads, and no JSON."""
    bodies = [
        *(
            json.dumps({name: HUGE})
            for name in ("data", "session_hash", "event_id", "fn_index", "component_id", "fn_name", "username")
        ),
        json.dumps(HUGE),
        json.dumps([HUGE]),
        "[" * 30_000,
        HUGE,
    ]
    paths = [path for path, methods in all_routes(running.app.routes) if methods & {"POST", "PUT", "PATCH"}]
    assert len(paths) > 15
    requests = [
        Sent("POST", re.sub(r"\{[^}]*\}", "x", path), headers={"x-likeness-session": "a" * 32}, body=body.encode())
        for path in paths
        for body in bodies
        if not path.startswith("/gradio_api/mcp")
    ]
    for sent, (status, content) in zip(requests, answers(running, requests), strict=True):
        # A file may hold anything, and to cancel an event that is over is no failure.
        assert 200 <= status < 500 and len(content) < MOST_BYTES, (sent.path, sent.body[:40], status, content[:300])


def named_endpoints(running: Running) -> dict[str, list[str]]:
    """The public endpoints with their parameters."""
    listed = httpx.get(f"{running.url}gradio_api/info", timeout=60).json()["named_endpoints"]
    return {name.strip("/"): [each["parameter_name"] for each in facts["parameters"]] for name, facts in listed.items()}


def call(running: Running, name: str, sent: Mapping[str, Any]) -> list[bytes]:
    """What the endpoint answers, and what the same as a tool does."""
    with httpx.Client(base_url=running.url, timeout=60) as client:
        joined = client.post(f"gradio_api/call/{name}", content=json.dumps({"data": list(sent.values())}), headers=JSON)
        answer = joined.content
        if joined.status_code == 200:
            answer = client.get(f"gradio_api/call/{name}/{joined.json()['event_id']}").content
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": dict(sent)}}
        return [answer, client.post("gradio_api/mcp/", content=json.dumps(asked), headers=JSON).content]


HUGE_VALUES = {
    "a text": HUGE,
    "a long text": "k" * 99_000,
    "a list": [HUGE],
    "a name": {HUGE: HUGE},
    "an image": "data:image/png;base64," + HUGE,
    "a number": int("9" * 4000),
    "half a character": "\ud800" * 100,
}


@pytest.mark.parametrize("kind", HUGE_VALUES)
def test_every_endpoint_and_tool_refuses_an_oversized_argument(running: Running, kind: str) -> None:
    endpoints = named_endpoints(running)
    assert {"leaderboard", "score_pair", "list_models"} <= set(endpoints)
    usual = {"suite": "mini", "first": "a cat", "second": "a dog", "limit": 5}
    call(running, "score_pair", {"first": "a cat", "second": "a dog", "models": ""})  # loads the models
    for name, parameters in endpoints.items():
        for parameter in parameters:
            sent = {each: usual.get(each, "") for each in parameters} | {parameter: HUGE_VALUES[kind]}
            started = time.process_time()
            found = call(running, name, sent)
            assert time.process_time() - started < 2 * MOST_SECONDS, (name, parameter)
            is_scored = parameter in ("first", "second") and kind in ("a long text", "half a character")
            for answer in found:
                assert ECHO.encode() not in answer, (name, parameter)
                assert len(answer) < MOST_BYTES or is_scored, (name, parameter, answer[:300])


def test_a_tool_refused_before_it_runs_leaves_the_session_open(running: Running) -> None:
    """And whoever called it reads the sentence."""
    from mcp import ClientSession, McpError
    from mcp.client.streamable_http import streamable_http_client

    async def ask() -> tuple[str, bool]:
        async with (
            streamable_http_client(f"{running.url}gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            with pytest.raises(McpError) as refused:
                await session.call_tool("leaderboard", {"suite": "s" * 300})
            return str(refused.value), bool((await session.call_tool("list_suites", {})).isError)

    sentence = "A value has 300 characters, more than 200. Send a shorter one"
    assert asyncio.run(asyncio.wait_for(ask(), 60)) == (sentence, False)
