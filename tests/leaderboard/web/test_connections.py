"""Connections without a request are closed in time, busy ones never, and their number is bounded."""

import asyncio
import contextlib
import socket
import time

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from leaderboard.web import connections
from tests.leaderboard.web.uvicorn_server import read_all, running


@pytest.fixture
def server(monkeypatch):
    """uvicorn as Gradio starts it, bounded; a connection may be idle for half a second, and three may be open."""

    async def hello(request):
        return PlainTextResponse("hello")

    async def stream(request):
        async def parts():
            for _ in range(15):
                yield b"x"
                await asyncio.sleep(0.1)

        return StreamingResponse(parts())

    async def large(request):
        return Response(bytes(4_000_000))  # more than the system's own buffers take

    async def body(request):
        return PlainTextResponse(str(len(await request.body())))

    monkeypatch.setattr(connections, "IDLE", 0.5)
    routes = [Route("/", hello), Route("/body", body, methods=["POST"]), Route("/stream", stream), Route("/l", large)]
    with running(Starlette(routes=routes)) as started:
        connections.bound(started)
        yield started


def connected(server, sent=b"", *, buffer=0):
    link = socket.socket()
    if buffer:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    link.settimeout(20)
    link.connect(server.servers[0].sockets[0].getsockname())
    link.sendall(sent)
    return link


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX-Slow: "],
    ids=["nothing", "half a head", "half a second head"],
)
def test_idle_connections_are_closed(server, sent):
    with connected(server, sent) as link, contextlib.suppress(ConnectionResetError):
        while link.recv(65_536):
            pass  # until the server hangs up


def test_the_end_of_an_answer_that_nobody_reads_is_dropped(server):
    with connected(server, b"GET /l HTTP/1.1\r\nHost: a\r\n\r\n", buffer=4096) as link:
        while server.server_state.connections or not server.server_state.total_requests:
            time.sleep(0.01)
        assert len(read_all(link)) < 4_000_000


def test_each_request_starts_the_time_anew(server):
    with connected(server) as link:
        for _ in range(12):  # four times as long as one that is idle may last
            time.sleep(connections.IDLE / 3)
            link.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            answer = b""
            while not answer.endswith(b"hello"):
                assert (part := link.recv(65_536))
                answer += part


def test_a_long_answer_ends_as_it_should(server):
    with connected(server, b"GET /stream HTTP/1.0\r\nHost: a\r\n\r\n") as link:
        assert read_all(link).endswith(b"x" * 15)


def test_too_many_make_room_and_a_busy_one_stays(server, monkeypatch):
    monkeypatch.setattr(connections, "IDLE", 60)
    assert server.config.limit_concurrency <= 2 * connections.MOST
    server.config.limit_concurrency = 6
    with connected(server, b"GET /stream HTTP/1.0\r\nHost: a\r\n\r\n") as busy:
        assert busy.recv(10)
        idle = [connected(server) for _ in range(6)]
        with contextlib.suppress(ConnectionResetError):
            assert idle[0].recv(1) == b""
        idle[-1].sendall(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
        assert b"200 OK" in idle[-1].recv(65_536)
        assert read_all(busy).endswith(b"x")
        for link in idle:
            link.close()


def test_a_body_of_single_bytes_is_not_read(server):
    for chunk, size, read in ((b"x", 20_000, False), (b"x" * 300, 2_000, True)):
        head = b"POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        with connected(server, head) as link:
            with contextlib.suppress(ConnectionError):
                link.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk) * size + b"0\r\n\r\n")
            assert (b"200 OK" in read_all(link)) == read
