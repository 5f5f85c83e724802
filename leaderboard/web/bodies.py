"""What visitors send, received within bounds: of each body, of all bodies together, and of the time one takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

IN_FLIGHT = 200_000_000  # bytes of all bodies that are being received or read
READING = 180.0  # seconds a body may take


class Unread(Exception):
    """A body that is not read to its end."""


class TooLarge(Unread):
    """It has more bytes than its address takes."""


class Busy(Unread):
    """All bodies together have more than is held at once."""


class TooSlow(Unread):
    """It took too long to arrive."""


class Gone(Unread):
    """Its visitor left."""


class InFlight:
    """Counts the bytes of bodies while they are received and read; `held` is changed in the event loop only.

    The first `free` bytes of each are not counted, so that large bodies, however slow, keep no small ones out.
    """

    def __init__(self, most: int = IN_FLIGHT, *, seconds: float = READING, free: int = 0) -> None:
        self.held = 0
        self._most, self._seconds, self._free = most, seconds, free

    @asynccontextmanager
    async def body(self, request: Request, *, most: int) -> AsyncIterator[bytearray]:
        """The request's body of at most so many bytes, counted until the block ends. Raises Unread."""
        body = bytearray()
        try:
            try:
                await asyncio.wait_for(self._receive(request, body, most), self._seconds)
            except TimeoutError as error:
                raise TooSlow from error
            except ClientDisconnect as error:
                raise Gone from error
            yield body
        finally:
            self.held -= self._counted(len(body))

    async def _receive(self, request: Request, body: bytearray, most: int) -> None:
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > most:
            raise TooLarge
        async for part in request.stream():
            if len(body) + len(part) > most:
                raise TooLarge
            more = self._counted(len(body) + len(part)) - self._counted(len(body))
            if self.held + more > self._most:
                raise Busy
            body += part
            self.held += more

    def _counted(self, size: int) -> int:
        return max(0, size - self._free)
