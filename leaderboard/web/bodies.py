"""Request bodies, read within bounds: of each body, of all bodies together, and of the time one takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route

IN_FLIGHT = 200_000_000  # bytes of all bodies that are being received or processed
READING = 180.0  # seconds a body may take


class UnreadBody(Exception):
    """A body that was not read to its end; `status` is the answer's, `retry_after` in seconds."""

    status = 400
    retry_after: int | None = None


class TooLarge(UnreadBody):
    """It has more bytes than its route accepts."""

    status = 413


class Busy(UnreadBody):
    """All bodies together have more bytes than the server accepts at once."""

    status = 429
    retry_after = 5


class TooSlow(UnreadBody):
    """It took too long to arrive."""


class Disconnected(UnreadBody):
    """The visitor left before it arrived."""


class BoundedRoute(Route):
    """A route that bounds what it is sent itself, so the middleware does not."""


class InFlight:
    """Counts the bytes of bodies while they are received and processed; `bytes` changes in the event loop only.

    The first `free` bytes of each body are not counted, so large, slow bodies never keep small ones out.
    """

    def __init__(self, most: int = IN_FLIGHT, *, seconds: float = READING, free: int = 0) -> None:
        self.bytes = 0
        self._most, self._seconds, self._free = most, seconds, free

    @asynccontextmanager
    async def body(self, request: Request, *, most: int) -> AsyncIterator[bytearray]:
        """The request's body up to a limit in bytes, counted until the block ends. Raises UnreadBody."""
        body = bytearray()
        try:
            try:
                await asyncio.wait_for(self._receive(request, body, most), self._seconds)
            except TimeoutError as error:
                raise TooSlow from error
            except ClientDisconnect as error:
                raise Disconnected from error
            yield body
        finally:
            self.bytes -= self._counted(len(body))

    async def _receive(self, request: Request, body: bytearray, most: int) -> None:
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > most:
            raise TooLarge
        async for part in request.stream():
            if len(body) + len(part) > most:
                raise TooLarge
            more = self._counted(len(body) + len(part)) - self._counted(len(body))
            if self.bytes + more > self._most:
                raise Busy
            body += part
            self.bytes += more

    def _counted(self, size: int) -> int:
        return max(0, size - self._free)
