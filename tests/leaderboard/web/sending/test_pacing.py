"""Large answers go in parts, to visitors who read them, and not too many at once."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Iterable

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from leaderboard.web.sending.pacing import PART, PacedSending, Waiting
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


def test_more_than_may_wait_is_refused_in_a_sentence() -> None:
    assert sent(start(2 * PART), body(LARGE[: 2 * PART]), most_waiting=8 * PART)[0]["status"] == 200
    refused = sent(start(2 * PART), body(LARGE[: 2 * PART]), most_waiting=2 * PART - 1)
    assert refused[0] == sent(start(2 * PART), body(LARGE[: 2 * PART]), most_waiting=8 * PART - 1)[0], (
        "a visitor's share"
    )
    assert [refused[0]["status"], len(refused)] == [503, 2] and b"Try again" in refused[1]["body"]
    file = [start(10 * PART), *(body(LARGE[:PART], more=True) for _ in range(10)), body(b"")]
    assert sent(*file, most_waiting=PART) == file, "of a file only the part counts that is read"


def test_a_body_that_many_read_counts_once_and_each_visitor_has_a_share() -> None:
    """So whoever does not read one of the large scripts keeps nobody from it, and no other page either."""
    waiting = Waiting(most=100, share=0.5)
    shared, own, other = bytes(50), bytes(bytearray(50)), bytes(bytearray(51))
    with waiting.counted(shared, "a"), waiting.counted(shared, "b"):
        assert waiting.bytes == 50 and waiting.has_room(shared, "c") and waiting.has_room(own, "b")
        assert not waiting.has_room(own, "a") and not waiting.has_room(other, "b")
        with waiting.counted(own, "b"):
            assert not waiting.has_room(bytes(bytearray(1)), "c")
        assert waiting.has_room(own, "b")
    assert waiting.bytes == 0 and waiting.has_room(own, "a")


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


def test_who_reads_nothing_is_disconnected_and_who_reads_slowly_is_not() -> None:
    """The slow reader takes longer for the whole than the other may take for a part."""
    with serving(paced(Route("/", large), stall=1.5, grace=60.0)) as port:
        idle, slow = ask(port, "/"), ask(port, "/", buffer=1_000_000)
        got, began = 0, time.monotonic()
        while part := slow.recv(400_000):
            got += len(part)
            time.sleep(0.1)
        assert time.monotonic() - began > 2 and got > len(LARGE)
        deadline = time.monotonic() + 60
        while not disconnected(idle):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def disconnected(link: socket.socket) -> bool:
    """Whether the server has broken the connection off."""
    return link.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0


def test_a_trickle_is_disconnected() -> None:
    """A reader who takes a little before each part's limit is still too slow on the whole."""
    with serving(paced(Route("/", large), stall=60.0, grace=1.0, slowest=1e9)) as port:
        link, deadline = ask(port, "/"), time.monotonic() + 60
        with pytest.raises(ConnectionResetError):
            while link.recv(500):
                assert time.monotonic() < deadline
                time.sleep(0.05)


def test_a_silent_stream_is_not_disconnected() -> None:
    async def silent(request: Request) -> Response:
        async def parts() -> Iterable[bytes]:
            yield b"first"
            await asyncio.sleep(1.5)
            yield b"last"

        return StreamingResponse(parts())

    with serving(paced(Route("/", silent), stall=0.2, grace=0.2)) as port:
        assert b"last" in read_all(ask(port, "/"))


@pytest.mark.skipif(sys.platform != "linux", reason="sockets of one machine have several addresses on Linux")
def test_slow_readers_cost_a_part_each() -> None:
    """Without it the server stores the whole body for each of them."""
    held: list[int] = []

    class Watched(PacedSending):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            watch = asyncio.ensure_future(self._watch(receive.__self__.transport))
            try:
                await super().__call__(scope, receive, send)
            finally:
                watch.cancel()

        async def _watch(self, transport: asyncio.WriteTransport) -> None:
            while True:
                held.append(transport.get_write_buffer_size())
                await asyncio.sleep(0.02)

    with serving(Starlette(routes=[Route("/", large)], middleware=[Middleware(Watched, stall=1.0)])) as port:
        links = [ask(port, "/", address=f"127.0.2.{number}") for number in range(1, 21)]
        for link in links:
            link.recv(100)
        time.sleep(0.5)
        for link in links:
            link.close()
    assert 0 < max(held) <= PART
