"""Request bodies, read within bounds: of each body, of a visitor's, of all bodies together, and of their rate."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from leaderboard.web.responses import refusal
from leaderboard.web.visitors import visitor

IN_FLIGHT = 200_000_000  # bytes of all bodies that are being received or processed
SHARE = 0.75  # of these bytes for one visitor: a class behind one address sends 18 large photographs at once
BODIES = 200  # of one visitor at once, however small: a class behind one address opens six connections each
IDLE = 10.0  # seconds without a byte, after which a body is dropped
SLOWEST = 20_000  # bytes a second, on average; a sender may fall behind by IDLE seconds
READING = 400.0  # seconds a body may take: a photograph of 8 MB at SLOWEST


class UnreadBody(Exception):
    """A body that was not read to its end; `status` is the answer's, `retry_after` in seconds."""

    status = 400
    sentence = ""
    retry_after: int | None = None


class TooLarge(UnreadBody):
    """It has more bytes than its route accepts."""

    status = 413


class Busy(UnreadBody):
    """All bodies together have more bytes than the server accepts at once."""

    status, retry_after = 429, 5
    sentence = "Many visitors are sending data right now. Try again in a few seconds"


class OverShare(UnreadBody):
    """The bodies of this visitor are more, or have more bytes, than the server accepts from one visitor at once."""

    status, retry_after = 429, 5
    sentence = "You are sending a lot at once. Wait until some of it has arrived, then try again"


class TooSlow(UnreadBody):
    """It took too long to arrive, or came at less than SLOWEST."""

    status = 408
    sentence = f"The request arrived too slowly: less than {SLOWEST // 1000} kB a second. Send it again"


class Disconnected(UnreadBody):
    """The visitor left before it arrived."""

    sentence = "The request did not arrive"


class BoundedRoute(Route):
    """A route that bounds what it is sent itself, so the middleware does not."""


class InFlight:
    """Counts the bytes of bodies while they are received and processed, of each visitor and of all. For the event loop
    only."""

    def __init__(self, most: int = IN_FLIGHT, *, idle: float = IDLE, slowest: float = SLOWEST) -> None:
        self._most, self._idle, self._slowest = most, idle, slowest
        self.bytes: Counter[str] = Counter()  # by visitor
        self._bodies: Counter[str] = Counter()

    @asynccontextmanager
    async def body(self, request: Request, *, most: int) -> AsyncIterator[bytes]:
        """The request's body up to a limit in bytes, counted until the block ends. Raises UnreadBody."""
        sender = visitor(request)
        if self._bodies[sender] >= BODIES:
            raise OverShare
        received = bytearray()
        size = 0
        self._bodies[sender] += 1
        try:
            try:
                await self._receive(request, received, most=most, sender=sender)
            except TimeoutError as error:
                raise TooSlow from error
            except ClientDisconnect as error:
                raise Disconnected from error
            finally:
                size = len(received)
            content = bytes(received)
            received.clear()  # it may be processed for long, and is stored once
            yield content
        finally:
            self.bytes[sender] -= size
            self._bodies[sender] -= 1
            if not self._bodies[sender]:  # nothing is stored on who has left
                del self._bodies[sender], self.bytes[sender]

    async def _receive(self, request: Request, received: bytearray, *, most: int, sender: str) -> None:
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > most:
            raise TooLarge
        clock = asyncio.get_running_loop().time
        start = clock()
        async with asyncio.timeout_at(start + self._idle) as deadline:
            async for part in request.stream():
                if len(received) + len(part) > most:
                    raise TooLarge
                if self.bytes.total() + len(part) > self._most:
                    raise Busy
                if self.bytes[sender] + len(part) > SHARE * self._most:
                    raise OverShare
                received += part
                self.bytes[sender] += len(part)
                # Each byte buys time, but not more than `idle` seconds ahead: a sender that stops, or drips after a
                # fast start, is dropped as soon as one that drips from the first byte.
                bought = deadline.when() + len(part) / self._slowest
                deadline.reschedule(min(bought, clock() + self._idle, start + READING))


def unread(error: UnreadBody, sentence: str = "") -> JSONResponse:
    """The answer to a body that was not read to its end: `sentence`, else the error's own."""
    answer = refusal(sentence or error.sentence, error.status, retry_after=error.retry_after)
    if isinstance(error, TooSlow):
        answer.headers["connection"] = "close"
    return answer
