"""Connections without a request are closed in time, busy ones never, and their number is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from leaderboard.web.receiving import connections
from leaderboard.web.receiving.connections import IdleConnections
from tests.leaderboard.web.uvicorn_server import read_all


class Transport:
    """Stands in for asyncio's."""

    def __init__(self) -> None:
        self.closed, self.unsent = False, 0

    def abort(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return self.unsent


@dataclass(eq=False)
class Cycle:
    """Stands in for uvicorn's request."""

    response_complete: bool


class Connection:
    """Stands in for uvicorn's protocol."""

    def __init__(self, *, busy: bool | None = None) -> None:
        self.transport, self.cycle = Transport(), None
        if busy is not None:
            self.cycle = Cycle(response_complete=not busy)

    @property
    def closed(self) -> bool:
        return self.transport.closed


def closed(idle: IdleConnections, all_of_them: list[Connection], *, now: float) -> list[bool]:
    idle.close(all_of_them, now=now)
    return [connection.closed for connection in all_of_them]


def test_a_head_has_its_time() -> None:
    idle, some = IdleConnections(), [Connection(), Connection(busy=True), Connection(busy=False)]
    assert closed(idle, some, now=0) == [False, False, False]
    assert closed(idle, some, now=9.9) == [False, False, False]
    assert closed(idle, some, now=10) == [True, False, True]


def test_each_request_starts_the_time_anew() -> None:
    idle, connection = IdleConnections(), Connection()
    for now in range(0, 100, 8):
        assert closed(idle, [connection], now=now) == [False]
        connection.cycle = Cycle(response_complete=True)
    assert closed(idle, [connection], now=104) == [False] and closed(idle, [connection], now=114) == [True]


def test_too_many_leave_in_the_order_of_their_waiting() -> None:
    idle, some = IdleConnections(most=3), [Connection(busy=True), Connection(), Connection()]
    assert closed(idle, some, now=0) == [False] * 3
    some += [Connection(), Connection()]
    assert closed(idle, some, now=1) == [False, True, True, False, False]


def test_the_end_of_an_answer_that_nobody_reads_is_dropped() -> None:
    idle, some = IdleConnections(), [Connection(busy=False), Connection(busy=False)]
    for connection in some:
        connection.transport.unsent = 100
    assert closed(idle, some, now=0) == closed(idle, some, now=29) == [False, False]
    some[1].transport.unsent = 50
    assert closed(idle, some, now=30) == [True, False], "one was read a little"


# ---- a real server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """uvicorn as Gradio starts it, watched; a head has half a second."""

    async def hello(request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    async def stream(request: Request) -> StreamingResponse:
        async def parts() -> Any:
            for _ in range(15):
                yield b"x"
                await asyncio.sleep(0.1)

        return StreamingResponse(parts())

    monkeypatch.setattr(connections, "HEAD", 0.5)

    async def body(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    app = Starlette(routes=[Route("/", hello), Route("/body", body, methods=["POST"]), Route("/stream", stream)])
    running = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    connections.watch(running)
    yield running
    running.should_exit = True
    thread.join(timeout=10)


def connected(server: Any, sent: bytes = b"") -> socket.socket:
    link = socket.create_connection(server.servers[0].sockets[0].getsockname(), timeout=20)
    link.sendall(sent)
    return link


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX-Slow: "],
    ids=["nothing", "half a head", "half a second head"],
)
def test_idle_connections_are_closed(server: Any, sent: bytes) -> None:
    with connected(server, sent) as link, contextlib.suppress(ConnectionResetError):
        while link.recv(65_536):
            pass  # until the server hangs up


def test_a_body_of_single_bytes_is_not_read(server: Any) -> None:
    for chunk, size, read in ((b"x", 20_000, False), (b"x" * 300, 2_000, True)):
        head = b"POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        with connected(server, head) as link:
            with contextlib.suppress(ConnectionError):
                link.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk) * size + b"0\r\n\r\n")
            assert (b"200 OK" in read_all(link)) == read


def test_a_long_answer_ends_as_it_should(server: Any) -> None:
    with connected(server, b"GET /stream HTTP/1.0\r\nHost: a\r\n\r\n") as link:
        answer = b""
        while part := link.recv(65_536):
            answer += part
    assert answer.endswith(b"x" * 15)


def test_the_server_refuses_before_it_runs_out_of_connections(server: Any) -> None:
    assert server.config.limit_concurrency and server.config.limit_concurrency <= 2 * connections.MOST
    with connected(server, b"GET / HTTP/1.0\r\nHost: a\r\n\r\n") as link:
        assert b"200 OK" in link.recv(65_536)
