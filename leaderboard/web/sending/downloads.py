"""Files that are made for visitors, a few at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from leaderboard.web.responses import refusal
from leaderboard.web.visitors import visitor

EACH, MOST = 8, 120  # downloads at a time: of one visitor, and of all
THREADS = 4  # that make downloads
BUSY = "Many visitors are downloading files at this moment. Try again in a few seconds"
TOO_MANY = "{} of your downloads are running. Start this one when one of them has ended"


class Downloads:
    """Makes files for visitors in threads of their own, and counts each until it has been sent.

    Those that wait for a thread use none, so pages are not held up. `running` changes in the event loop only.
    """

    def __init__(self, *, each: int = EACH, most: int = MOST) -> None:
        self.running: Counter[str] = Counter()  # by visitor
        self._each, self._most = each, most
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="downloads")

    def handler(self, make: Callable[[Request], Response]) -> Callable[[Request], Awaitable[ASGIApp]]:
        """A route's handler for a file that `make` answers with."""
        return partial(self.answer, make=make)

    async def answer(self, request: Request, *, make: Callable[[Request], Response]) -> ASGIApp:
        """What `make` answers, or a refusal where the visitor, or all of them, have too many downloads."""
        key = visitor(request)
        if self.running[key] >= self._each:
            return refusal(TOO_MANY.format(self._each), 429, retry_after=5)
        if self.running.total() >= self._most:
            return refusal(BUSY, 503, retry_after=5)
        self.running[key] += 1
        try:
            response = await asyncio.get_running_loop().run_in_executor(self._threads, make, request)
        except BaseException:
            self._end(key)
            raise

        async def send_counted(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await response(scope, receive, send)
            finally:
                self._end(key)

        return send_counted

    def _end(self, key: str) -> None:
        self.running[key] -= 1
        if not self.running[key]:
            del self.running[key]
