"""Connections: those without a request are closed after a while, and their number is bounded.

uvicorn closes a connection that is idle after an answer, but waits without end for the head of a first request, and for
the rest of a head that has begun. Whoever opened a thousand of them would keep everybody else out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from leaderboard.web.receiving.chunks import ChunkLimit
from leaderboard.web.sending.pacing import STALL, break_off

HEAD = 10.0  # seconds until a request's head has arrived
EVERY = 1.0  # seconds between two looks at all connections
MOST = 2_000  # connections; above, those that have waited longest for a request are closed
FILES = 8_192  # files and connections that the process wants to have open at once
RESERVED = 256  # of them for other files than connections
log = logging.getLogger(__name__)


def raise_file_limit(want: int = FILES) -> int:
    """Lets this process open more files and connections, as far as the system allows; how many it may open then."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return want
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = want if hard == resource.RLIM_INFINITY else min(want, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return want if soft == resource.RLIM_INFINITY else soft


def watch(server: Any) -> None:
    """From now on closes idle connections of a running uvicorn server, answers 503 where too many are busy, and refuses
    bodies in too many chunks.
    """
    server.config.http_protocol_class = ChunkLimit  # read for each new connection, as the limit below
    allowed = max(2, raise_file_limit() - RESERVED)
    most = min(MOST, allowed // 2)
    server.config.limit_concurrency = min(2 * most, allowed)
    loop = server.servers[0].get_loop()
    closers = (IdleConnections(most=most), UnreadAnswers())
    asyncio.run_coroutine_threadsafe(_look(closers, server.server_state.connections), loop)


async def _look(closers: Iterable[IdleConnections | UnreadAnswers], connections: Iterable[Any]) -> None:
    while True:
        await asyncio.sleep(EVERY)
        for closer in closers:
            try:
                closer.close(list(connections), now=asyncio.get_running_loop().time())
            except Exception:
                log.exception("Connections could not be closed")


class IdleConnections:
    """Which of uvicorn's connections wait for a request, and since when. For the event loop's thread only.

    A connection is uvicorn's protocol: `transport`, and `cycle`, its last request, None before the first.
    """

    def __init__(self, *, head: float = HEAD, most: int = MOST) -> None:
        self._head, self._most = head, most
        self._since: dict[Any, tuple[Any, float]] = {}  # by connection: its last request, and when it was first idle

    def close(self, connections: list[Any], *, now: float) -> None:
        """Closes those that have been idle for too long, and further ones where all are too many."""
        idle = {}
        for connection in connections:
            cycle = getattr(connection, "cycle", None)
            if _waits(connection, cycle):
                before, since = self._since.get(connection, (cycle, now))
                idle[connection] = (cycle, since if before is cycle else now)
        self._since = idle
        surplus = len(connections) - self._most
        for number, (connection, (_, since)) in enumerate(sorted(idle.items(), key=lambda item: item[1][1])):
            if number < surplus or now - since >= self._head:
                connection.transport.close()


class UnreadAnswers:
    """Which connections have an end of an answer that their visitor does not read, and since when.

    What is still being answered is paced by `sending.pacing`; this is what the server was handed before.
    """

    def __init__(self, *, stall: float = STALL) -> None:
        self._stall = stall
        self._since: dict[Any, tuple[int, float]] = {}  # by connection: bytes that are not sent, and since when

    def close(self, connections: list[Any], *, now: float) -> None:
        """Breaks off those from which nothing was read for too long."""
        unread = {}
        for connection in connections:
            cycle, transport = getattr(connection, "cycle", None), connection.transport
            size = transport.get_write_buffer_size() if transport is not None else 0
            if size and (cycle is None or cycle.response_complete):
                before, since = self._since.get(connection, (size, now))
                unread[connection] = (size, since if before == size else now)
        self._since = unread
        for connection, (_, since) in unread.items():
            if now - since >= self._stall:
                break_off(connection.transport)


def _waits(connection: Any, cycle: Any) -> bool:
    """Whether it has no request that is being answered, and nothing left to send."""
    transport = connection.transport
    if transport is None or transport.is_closing() or transport.get_write_buffer_size():
        return False
    return cycle is None or cycle.response_complete
