"""Connections: those without a request are closed after a while, and their number is bounded.

uvicorn closes a connection that is idle after an answer, but waits without end for the head of a first request, and for
a visitor who reads no answer. Whoever opened a thousand of them would keep everybody else out.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from leaderboard.web.sending.pacing import STALL

HEAD = 10.0  # seconds until a request's head has arrived
MOST = 2_000  # connections; above, those that have waited longest for a request are closed
FILES = 8_192  # files and connections that the process wants to have open at once
FREE_CHUNKS, SMALLEST = 1_000, 256  # chunks of a body of any size, and bytes of a further one, on average


def watch(server: Any) -> None:
    """From now on bounds the connections of a running uvicorn server, and answers 503 where too many are busy."""
    most = MOST
    with suppress(ImportError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = max(soft, min(FILES, hard) if hard != resource.RLIM_INFINITY else FILES)
        if soft != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
            most = min(MOST, files // 4)
    server.config.http_protocol_class = ChunkLimit  # read for each new connection, as the limit below
    server.config.limit_concurrency = 2 * most
    idle = IdleConnections(most=most)
    asyncio.run_coroutine_threadsafe(_look(idle, server.server_state.connections), server.servers[0].get_loop())


async def _look(idle: IdleConnections, connections: Any) -> None:
    while True:
        await asyncio.sleep(1)
        idle.close(list(connections), now=asyncio.get_running_loop().time())


class IdleConnections:
    """Which of uvicorn's connections wait for a request, or for somebody who reads their answer, and since when.

    A connection is uvicorn's protocol: `transport`, and `cycle`, its last request, None before the first. What is still
    being answered is paced by `sending.pacing`. For the event loop's thread only.
    """

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._since: dict[Any, tuple[Any, float]] = {}  # by connection: its last request, bytes to send, since when

    def close(self, connections: list[Any], *, now: float) -> None:
        """Ends those that have been idle for too long, and further ones where all are too many."""
        idle = {}
        for connection in connections:
            cycle, transport = connection.cycle, connection.transport
            if transport is not None and (cycle is None or cycle.response_complete):
                state = (cycle, transport.get_write_buffer_size())
                before, since = self._since.get(connection, (state, now))
                idle[connection] = (state, since if before == state else now)
        self._since = idle
        surplus = len(connections) - self._most
        for number, (connection, ((_, unsent), since)) in enumerate(sorted(idle.items(), key=lambda item: item[1][1])):
            if number < surplus or now - since >= (STALL if unsent else HEAD):
                connection.transport.abort()


class ChunkLimit(H11Protocol):
    """uvicorn's protocol, which ends a connection whose body is cut too finely: each chunk costs the server the same
    work, so a body of 24 MB in chunks of one byte takes two minutes of the event loop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # uvicorn's own
        super().__init__(*args, **kwargs)
        self._chunks = self._bytes = 0
        self._parse = self.conn.next_event
        self.conn.next_event = self._next_event  # type: ignore[method-assign]

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
