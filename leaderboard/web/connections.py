"""Closes connections that do not send a request, or do not read their answer, in time.

uvicorn closes a connection that is idle after an answer, but waits forever for the head of a first request, and for a
visitor who does not read. Anyone who opened a thousand of them would lock everybody else out.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

IDLE = 10.0  # seconds after which an idle connection is closed, at the latest after twice as many
MOST = 2_000  # connections; above, the one that has been idle for longest makes room
FILES = 8_192  # files and connections that the process wants to have open at once
FREE_CHUNKS, SMALLEST = 1_000, 256  # chunks of a body of any size, and bytes of a further one, on average


def bound(server: Any) -> None:
    """Limits the connections of a running uvicorn server from now on, and answers 503 if too many are busy."""
    most = MOST
    with suppress(ImportError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = max(soft, min(FILES, hard) if hard != resource.RLIM_INFINITY else FILES)
        if soft != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
            most = min(MOST, files // 4)
    server.config.http_protocol_class = Connection  # read for each new connection, as the limit below
    server.config.limit_concurrency = 2 * most


class Connection(H11Protocol):
    """uvicorn's protocol with timeouts. `limits` paces answers in progress.

    A connection whose body is cut too finely ends too: each chunk costs the server the same work, so a body of 24 MB in
    chunks of one byte takes two minutes of the event loop.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._chunks = self._bytes = 0
        self._parse, self.conn.next_event = self.conn.next_event, self._next_event  # type: ignore[method-assign]
        self._seen: Any = self
        self._idle_since = self.loop.time()
        self._look()
        if len(self.connections) > (most := self.limit_concurrency // 2):
            opened = [other for other in self.connections if not other.transport.is_closing()]
            idle = [other for other in opened if other is not self and other.state[1]]
            if idle and len(opened) > most:
                min(idle, key=lambda other: other._idle_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()  # it would hold the connection's memory
        super().connection_lost(exc)

    @property
    def state(self) -> tuple[Any, bool, int]:
        """Returns the cycle of the last request, whether none is being answered, and the number of unsent bytes."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return self.cycle, is_idle, self.transport.get_write_buffer_size()

    def _look(self) -> None:
        if self.state == self._seen and self.state[1]:
            self.transport.abort()
            return
        self._seen, self._idle_since = self.state, self.loop.time()
        self._timer = self.loop.call_later(IDLE, self._look)

    def _next_event(self) -> Any:
        event = self._parse()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks, self._bytes = self._chunks + 1, self._bytes + len(event.data)
            if self._bytes < SMALLEST * (self._chunks - FREE_CHUNKS):
                self.transport.close()
                return h11.NEED_DATA
        return event
