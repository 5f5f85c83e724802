"""What Gradio's routes answer to a request that they cannot read: a sentence, and one line in the log."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.responses import refusal

if TYPE_CHECKING:
    from leaderboard.web.events.stateless import StatelessBlocks

ROUTE = re.compile(r"/gradio_api/+(?P<path>.*)", re.DOTALL)
ANSWER = re.compile(r"call/(?:v2/)?[^/]+/(?P<event>[^/]+)/?")
UNKNOWN = "There is no such event here. It is over, or the server was restarted: send the request again"
UNREADABLE = "The server cannot read this request. Reload the page; programs find the endpoints under gradio_api/info"
log = logging.getLogger(__name__)


class GradioErrors:
    """Answers 404 where an event is unknown to `blocks`, which Gradio finds out only after it has begun to answer.

    Any other failure of Gradio's routes is answered with 400. To cancel an event that is over is no failure.
    """

    def __init__(self, app: ASGIApp, blocks: StatelessBlocks) -> None:
        self.app, self.blocks = app, blocks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is not Gradio's."""
        route = ROUTE.search(scope["path"]) if scope["type"] == "http" else None
        if route is None:
            await self.app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            if self._knows(route["path"], Request(scope)):
                await self.app(scope, receive, watch)
            else:
                await refusal(UNKNOWN, 404)(scope, receive, send)
        except ClientDisconnect:
            return
        except Exception as error:
            log.warning("%s /gradio_api/%.60s failed: %s", scope["method"], route["path"], type(error).__name__)
            log.debug("It failed so", exc_info=error)
            if not started:
                await refusal(UNREADABLE, 400)(scope, receive, send)

    def _knows(self, path: str, request: Request) -> bool:
        """Whether there is the event, or the session with events, that the request names."""
        queue = self.blocks._queue
        if request.method == "GET" and path.rstrip("/") == "queue/data":
            session = request.query_params.get("session_hash")
            return session is None or queue.knows_session(session)
        if request.method == "GET" and (answer := ANSWER.fullmatch(path)):
            return queue.knows_event(answer["event"])
        return True
