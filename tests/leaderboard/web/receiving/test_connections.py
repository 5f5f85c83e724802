"""Connections without a request are closed in time, busy ones never, and their number is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from leaderboard.web.receiving import connections
from leaderboard.web.receiving.connections import IdleConnections, UnreadAnswers


class Transport:
    """Stands in for asyncio's."""

    def __init__(self) -> None:
        self.closed, self.unsent = False, 0

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed, self.unsent = True, 0

    def get_extra_info(self, name: str) -> None:
        return None

    def is_closing(self) -> bool:
        return self.closed

    def get_write_buffer_size(self) -> int:
        return self.unsent


class Connection:
    """Stands in for uvicorn's protocol."""

    def __init__(self, *, busy: bool | None = None) -> None:
        self.transport, self.cycle = Transport(), None
        if busy is not None:
            self.cycle = SimpleNamespace(response_complete=not busy)

    @property
    def closed(self) -> bool:
        return self.transport.closed


def closed(idle: IdleConnections, all_of_them: list[Connection], *, now: float) -> list[bool]:
    idle.close(all_of_them, now=now)
    return [connection.closed for connection in all_of_them]


def test_a_head_has_its_time() -> None:
    idle, some = IdleConnections(head=10), [Connection(), Connection(busy=True), Connection(busy=False)]
    assert closed(idle, some, now=0) == [False, False, False]
    assert closed(idle, some, now=9.9) == [False, False, False]
    assert closed(idle, some, now=10) == [True, False, True]


def test_each_request_starts_the_time_anew() -> None:
    idle, connection = IdleConnections(head=10), Connection()
    for now in range(0, 100, 8):
        assert closed(idle, [connection], now=now) == [False]
        connection.cycle = SimpleNamespace(response_complete=True)
    assert closed(idle, [connection], now=104) == [False] and closed(idle, [connection], now=114) == [True]


def test_what_is_still_being_sent_is_not_cut_off() -> None:
    idle, connection = IdleConnections(head=10), Connection(busy=False)
    connection.transport.unsent = 1
    assert closed(idle, [connection], now=0) == closed(idle, [connection], now=100) == [False]
    connection.transport.unsent = 0
    assert closed(idle, [connection], now=101) == [False] and closed(idle, [connection], now=111) == [True]


def test_the_end_of_an_answer_that_nobody_reads_is_dropped() -> None:
    unread, some = UnreadAnswers(stall=30), [Connection(busy=False), Connection(busy=True), Connection(busy=False)]
    for connection in some:
        connection.transport.unsent = 100
    some[0].transport.close()  # it waits for its reader

    def broken_off(now: float) -> list[bool]:
        unread.close(some, now=now)
        return [not connection.transport.unsent for connection in some]

    assert broken_off(0) == broken_off(29) == [False, False, False]
    some[2].transport.unsent = 50
    assert broken_off(30) == [True, False, False], "one is still paced as it is sent, one was read a little"
    assert broken_off(59) == [True, False, False] and broken_off(60) == [True, False, True]


def test_too_many_leave_in_the_order_of_their_waiting() -> None:
    idle, some = IdleConnections(head=10, most=3), [Connection(busy=True), Connection(), Connection()]
    assert closed(idle, some, now=0) == [False] * 3
    some += [Connection(), Connection()]
    assert closed(idle, some, now=1) == [False, True, True, False, False]


def test_nothing_is_remembered_of_those_who_left() -> None:
    idle = IdleConnections()
    idle.close([Connection() for _ in range(5)], now=0)
    idle.close([], now=1)
    assert not idle._since


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

    monkeypatch.setattr(connections, "EVERY", 0.05)
    monkeypatch.setattr(connections, "IdleConnections", lambda most: IdleConnections(head=0.5, most=most))
    app = Starlette(routes=[Route("/", hello), Route("/stream", stream)])
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
    with connected(server, sent) as link:
        while link.recv(65_536):
            pass  # until the server hangs up


def test_drops_do_not_keep_a_connection_open(server: Any) -> None:
    with connected(server, b"GET / HTTP/1.1\r\n") as link, contextlib.suppress(ConnectionError):
        for number in range(200):
            link.sendall(b"X-Slow-%d: x\r\n" % number)
            time.sleep(0.05)
        pytest.fail("The connection is still open after 10 seconds")


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


def test_the_limit_of_files_is_raised_within_what_the_system_allows() -> None:
    resource = pytest.importorskip("resource", reason="This system has no such limit")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (600, hard))
        raised = connections.raise_file_limit(want=700)
        assert raised == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 700
        assert connections.raise_file_limit(want=500) == 700  # never lowered
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
