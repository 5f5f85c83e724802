"""Large answers go in parts, to visitors who read them, and not too many at once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from leaderboard.web.sending.pacing import PART, PacedSending
from tests.leaderboard.web.uvicorn_server import ask, read_all, serving

LARGE = bytes(range(256)) * 40_000  # 10 MB: more than the system's own buffers take


def sent(*messages: Message, app: Callable | None = None, method: str = "GET", **limits: float) -> list[Message]:
    """What a server gets of an app that sends these."""
    out: list[Message] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        out.append(message)

    scope = {"type": "http", "method": method, "path": "/", "headers": []}
    asyncio.run(PacedSending(app or inner, **limits)(scope, receive, send))
    return out


def start(length: int | None = None, status: int = 200) -> Message:
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return {"type": "http.response.start", "status": status, "headers": headers}


def body(content: bytes, *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}


@pytest.mark.parametrize("length", [True, False], ids=["stated", "stream"])
@pytest.mark.parametrize("size", [PART + 1, 3 * PART, 10 * PART - 7])
def test_a_large_body_goes_in_parts(size: int, length: bool) -> None:
    content = LARGE[:size]
    out = sent(start(size if length else None), body(content))
    assert out[0] == start(size if length else None)
    assert b"".join(message["body"] for message in out[1:]) == content
    assert max(len(message["body"]) for message in out[1:]) <= PART
    assert [message["more_body"] for message in out[1:]] == [True] * (len(out) - 2) + [False]


def test_small_answers_and_streams_pass_as_they_are() -> None:
    small = [start(3), body(b"abc")]
    stream = [start(), body(b"data: 1", more=True), body(b"data: 2", more=True), body(b"")]
    head = [start(10 * PART), body(b"")]
    for messages in (small, stream, head):
        assert sent(*messages) == messages


def test_other_than_requests_is_left_alone() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})

    out: list[Message] = []

    async def send(message: Message) -> None:
        out.append(message)

    asyncio.run(PacedSending(app)({"type": "websocket"}, None, send))
    assert out == [{"type": "websocket.accept"}]


def paced(*routes: Route, **limits: float) -> Starlette:
    return Starlette(routes=list(routes), middleware=[Middleware(PacedSending, **limits)])


def large(request: Request) -> Response:
    return Response(LARGE)


def test_who_reads_nothing_is_disconnected_and_who_reads_is_not() -> None:
    """The server stores one part of the answer for either."""
    with serving(paced(Route("/", large), stall=0.5)) as port:
        idle, reader = ask(port, "/"), ask(port, "/", buffer=1_000_000)
        assert len(read_all(reader)) > len(LARGE)
        while idle.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:  # until the server has broken it off
            if len(read_all(idle)) < len(LARGE):
                break
        else:
            pytest.fail("It was sent the whole")


def test_a_silent_stream_is_not_disconnected() -> None:
    async def silent(request: Request) -> Response:
        async def parts() -> Iterable[bytes]:
            yield b"first"
            await asyncio.sleep(0.5)
            yield b"last"

        return StreamingResponse(parts())

    with serving(paced(Route("/", silent), stall=0.1, grace=0.1)) as port:
        assert b"last" in read_all(ask(port, "/"))
