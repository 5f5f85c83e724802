"""A body in tiny chunks is refused after the first thousand; slow lines and programs that stream are not."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from leaderboard.web.receiving import chunks, connections
from leaderboard.web.receiving.chunks import FREE_CHUNKS, SMALLEST, TOO_FINE, ChunkLimit
from tests.leaderboard.web.uvicorn_server import read_all, serving


async def echo(request: Request) -> Response:
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
    except ClientDisconnect:
        return Response("nobody is there")
    return Response(str(size))


async def at_once(request: Request) -> Response:
    return Response("answered before the body")


APP = Starlette(routes=[Route("/", echo, methods=["POST"]), Route("/now", at_once, methods=["POST"])])


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(APP, protocol=ChunkLimit) as port:
        yield port


def chunked(port: int, body: bytes, *, path: str = "/", end: bytes = b"0\r\n\r\n") -> bytes:
    """What is answered to a body with this encoding, sent as far as the server takes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        with suppress(ConnectionError):
            link.sendall(head.encode() + body + end)
        return read_all(link)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One item for each event that the parser gives."""
    events: list[int] = []
    parse = ChunkLimit._next_event
    monkeypatch.setattr(ChunkLimit, "_next_event", lambda self: events.append(1) or parse(self))
    return events


@pytest.mark.parametrize(("size", "most"), [(1, 1100), (16, 1100), (SMALLEST // 2, 2100), (SMALLEST - 10, 27_000)])
def test_tiny_chunks_are_refused_before_the_rest_is_parsed(
    port: int, events: list[int], size: int, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        answer = chunked(port, (b"%x\r\n%s\r\n" % (size, b"a" * size)) * 50_000, end=b"")
    assert FREE_CHUNKS < len(events) < most
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")  # a reset connection may lose it
    assert not [record for record in caplog.records if record.exc_info]


def test_the_refusal_is_a_sentence_that_arrives(port: int) -> None:
    head, _, body = chunked(port, b"1\r\na\r\n" * (FREE_CHUNKS + 50), end=b"").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ") and json.loads(body) == {"error": TOO_FINE}


def test_after_an_early_answer_the_rest_is_not_parsed(port: int, events: list[int]) -> None:
    answer = chunked(port, b"1\r\na\r\n" * 50_000, path="/now", end=b"")
    assert len(events) < 50_000 // 2 and answer.count(b"HTTP/1.1") <= 1


def test_bodies_that_programs_stream_arrive(port: int) -> None:
    def lines(count: int, size: int) -> Iterator[bytes]:
        yield from (b"a" * size for _ in range(count))

    for count, size in ((FREE_CHUNKS, 1), (5000, SMALLEST), (300, 100), (40, 100_000), (1, 2_000_000)):
        answer = httpx.post(f"http://127.0.0.1:{port}/", content=lines(count, size), timeout=60)
        assert (answer.status_code, answer.text) == (200, str(count * size))


def test_a_slow_line_with_small_packets_arrives_and_counts_start_again(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(3):  # 800 packets each on one connection
            link.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 800\r\n\r\n")
            for _ in range(800):
                link.sendall(b"a")
            answer = b""
            while not answer.endswith(b"\r\n\r\n800"):  # the body may come after the headers
                part = link.recv(65_536)
                assert part, answer
                answer += part


def test_the_server_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    config = uvicorn.Config(APP, port=0, log_level="error", lifespan="off")
    config.load()
    assert issubclass(config.http_protocol_class, H11Protocol)
    server = uvicorn.Server(config)
    monkeypatch.setattr(connections.asyncio, "run_coroutine_threadsafe", lambda work, _: work.close())
    server.servers = [type("Listening", (), {"get_loop": lambda _: None})()]
    connections.watch(server)
    assert config.http_protocol_class is chunks.ChunkLimit
