"""A visitor has some downloads at a time, and all visitors together some more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.web.sending.downloads import Downloads


def answer_of(downloads: Downloads, make: Callable[[Request], Response]) -> TestClient:
    return TestClient(Starlette(routes=[Route("/", downloads.handler(make))]))


def test_a_visitor_has_some_downloads_and_all_together_some_more() -> None:
    downloads, entered, release = Downloads(each=2, most=3), threading.Semaphore(0), threading.Event()

    def make(request: Request) -> Response:
        entered.release()
        release.wait(30)
        return Response("file")

    async def call(host: str) -> Callable:
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": (host, 1)}
        return await downloads.answer(Request(scope), make=make)

    async def run() -> None:
        running = [asyncio.ensure_future(call(host)) for host in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]
        while downloads.running.total() < 3:
            await asyncio.sleep(0.01)
        own, others = await call("192.0.2.1"), await call("192.0.2.2")
        assert (own.status_code, others.status_code) == (429, 503)
        assert b"2 of your downloads" in own.body and others.headers["retry-after"]
        release.set()
        for answer in await asyncio.gather(*running):
            assert downloads.running.total() > 0, "one counts until it has been sent"
            scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
            await answer(scope, None, lambda message: asyncio.sleep(0))
        assert not downloads.running

    asyncio.run(run())


def test_a_download_that_fails_is_not_counted_for_ever() -> None:
    downloads = Downloads(each=1)

    def fails(request: Request) -> Response:
        raise RuntimeError("made wrong")

    client = answer_of(downloads, fails)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            client.get("/")
    assert not downloads.running
    assert answer_of(downloads, lambda request: Response("file")).get("/").text == "file"
