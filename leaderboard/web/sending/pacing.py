"""How answers are sent: in small parts, only to visitors who read them.

A server takes a body as it comes and stores what the visitor's computer does not read yet, as long as it is connected.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.responses import refusal
from leaderboard.web.visitors import visitor

PART = 32_768  # bytes that are handed to the server at once; it stores no second part before the first is sent
STALL = 30.0  # seconds that a reader may take for one part
GRACE, SLOWEST = 60.0, 8_000.0  # a whole answer: seconds, and in addition one for so many bytes
MOST_WAITING = 192_000_000  # bytes of large bodies that wait for their readers; one that is shared counts once
SHARE = 0.25  # of these for one visitor
NO_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)  # drop what the system has not sent yet
BUSY = "Many visitors are downloading files at this moment. Try again in a few seconds"


class PacedSending:
    """ASGI middleware that sends large bodies in parts, and disconnects visitors who do not read them.

    Only the time in which a visitor's computer takes nothing counts: a stream may be silent for as long as it likes.
    Bodies that wait are bounded together: above `most_waiting` bytes, or a visitor's share of them, an answer is
    replaced by a 503.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        stall: float = STALL,
        grace: float = GRACE,
        slowest: float = SLOWEST,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.app = app
        self.waiting = Waiting(most=most_waiting)
        self._stall, self._grace, self._slowest = stall, grace, slowest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and paces its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        pace = _Pace(send, _transport(receive), stall=self._stall, grace=self._grace, slowest=self._slowest)
        held: Message | None = None  # the start of an answer that may yet be replaced

        async def send_paced(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _length(message) > PART:
                held = message
                return
            body = message.get("body", b"")
            if len(body) <= PART:
                await send_started(message)
                return
            key = visitor(Request(scope))
            if held is not None and not self.waiting.has_room(body, key):
                held, pace.ended = None, True
                await refusal(BUSY, 503, retry_after=5)(scope, receive, send)
                return
            with self.waiting.counted(body, key):
                await send_started(message)

        async def send_started(message: Message) -> None:
            nonlocal held
            if held is not None:
                start, held = held, None
                pace.bound_buffer()
                await pace.send(start)
            await pace.send_in_parts(message)

        await self.app(scope, receive, send_paced)


class Waiting:
    """The large bodies that wait for their readers. One that is stored anyway, and sent to many, counts once.

    For the event loop's thread only.
    """

    def __init__(self, *, most: int = MOST_WAITING, share: float = SHARE) -> None:
        self.bytes = 0
        self._most, self._share = most, share * most
        self._readers: Counter[int] = Counter()  # by a body's identity
        self._first: dict[int, str] = {}  # whom it counts for, by a body's identity
        self._of: Counter[str] = Counter()  # bytes by reader

    def has_room(self, body: bytes, reader: str) -> bool:
        """Whether the body may wait too, for a reader: the visitor's address."""
        if id(body) in self._readers:
            return True
        return self.bytes + len(body) <= self._most and self._of[reader] + len(body) <= self._share

    @contextlib.contextmanager
    def counted(self, body: bytes, reader: str) -> Iterator[None]:
        """Counts the body within the block."""
        key = id(body)
        if key not in self._readers:
            self._add(len(body), reader)
            self._first[key] = reader
        self._readers[key] += 1
        try:
            yield
        finally:
            self._readers[key] -= 1
            if not self._readers[key]:
                del self._readers[key]
                self._add(-len(body), self._first.pop(key))

    def _add(self, size: int, reader: str) -> None:
        self.bytes += size
        self._of[reader] += size
        if not self._of[reader]:
            del self._of[reader]


class _Pace:
    """The messages of one answer, each with a limit of time; after a visitor was disconnected, none is sent."""

    def __init__(
        self, send: Send, transport: asyncio.WriteTransport | None, *, stall: float, grace: float, slowest: float
    ) -> None:
        self.ended = False
        self._send, self._transport = send, transport
        self._stall, self._left, self._slowest = stall, grace, slowest

    def bound_buffer(self) -> None:
        """From now on the server takes a part only when the one before has been sent."""
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=0)

    async def send(self, message: Message) -> None:
        """Sends one message, or disconnects the visitor who does not take it in time."""
        if self.ended:
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(max(0.0, min(self._stall, self._left))):
                await self._send(message)
        except TimeoutError:
            self.ended = True
            if self._transport is not None:
                break_off(self._transport)
            return
        self._left += len(message.get("body", b"")) / self._slowest - (loop.time() - began)

    async def send_in_parts(self, message: Message) -> None:
        """Sends a message. A large body goes in parts, and ends when the visitor's computer has taken them."""
        body = message.get("body", b"")
        if len(body) > PART:
            view = memoryview(body)
            for begin in range(0, len(view), PART):
                await self.send({**message, "body": bytes(view[begin : begin + PART]), "more_body": True})
            await self.send({**message, "body": b"", "more_body": True})
            message = {**message, "body": b""}
        await self.send(message)


def break_off(transport: asyncio.WriteTransport) -> None:
    """Ends a connection at once; `close` would wait for the reader, in this process or in the system."""
    link = transport.get_extra_info("socket")
    if link is not None:
        with contextlib.suppress(OSError):
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    transport.abort()


def _length(start: Message) -> int:
    """The length that an answer states; 0 where it states none."""
    stated = Headers(raw=start.get("headers", [])).get("content-length", "")
    return int(stated) if stated.isdecimal() else 0


def _transport(receive: Receive) -> asyncio.WriteTransport | None:
    """The connection of a request, None where the server does not show it: `receive` is a method of uvicorn's.

    Without it, what an unread answer has left in the server's buffer is freed only when the visitor's computer goes.
    """
    transport: Any = getattr(getattr(receive, "__self__", None), "transport", None)
    return transport if isinstance(transport, asyncio.WriteTransport) else None


@contextlib.asynccontextmanager
async def disconnection(receive: Receive) -> AsyncIterator[asyncio.Future[None]]:
    """Within the block, a future that is done once the visitor has left."""

    async def left() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    waiting = asyncio.ensure_future(left())
    try:
        yield waiting
    finally:
        waiting.cancel()
