"""What Gradio's routes answer where they fail: a sentence, in the form that its reader shows."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from gradio.route_utils import FnIndexInferError
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.errors import FAILED
from leaderboard.web.responses import refusal, retry_after_of, sentence_of
from leaderboard.web.whole_page import again, send_whole

if TYPE_CHECKING:
    from leaderboard.web.events.stateless import StatelessBlocks

ROUTE = re.compile(r"/gradio_api/+(?P<path>.*)", re.DOTALL)
ANSWER = re.compile(r"call/(?:v2/)?[^/]+/(?P<event>[^/]+)/?")
UNKNOWN = "There is no such event here. It is over, or the server was restarted: send the request again"
UNREADABLE = "The server cannot read this request. Reload the page; programs find the endpoints under gradio_api/info"
LOOKUPS = (KeyError, TypeError, ValueError, FnIndexInferError)  # Gradio's, of names that lead nowhere
log = logging.getLogger(__name__)


class GradioErrors:
    """Answers 404 where an event is unknown to `blocks`, which Gradio finds out only after it has begun to answer.

    Handlers catch their own errors, so what arrives here is Gradio's: another name that leads nowhere is answered with
    400 and one line in the log, any other failure with 500 and its traceback.
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
            started = True
            await send(message)

        answer: Response | None = None
        try:
            if self._knows(route["path"], Request(scope)):
                await self.app(scope, receive, watch)
            else:
                answer = refusal(UNKNOWN, 404)
        except ClientDisconnect:
            return
        except LOOKUPS as error:
            log.warning("%s %r cannot be read: %s", scope["method"], route["path"][:60], type(error).__name__)
            answer = refusal(UNREADABLE, 400)
        except Exception:
            log.exception("%s %r failed", scope["method"], route["path"][:60])
            answer = refusal(FAILED, 500)
        if answer is not None and not started:
            await answer(scope, receive, send)

    def _knows(self, path: str, request: Request) -> bool:
        """Whether there is the event, or the session with events, that the request names."""
        queue = self.blocks._queue
        if request.method == "GET" and path.rstrip("/") == "queue/data":
            session = request.query_params.get("session_hash")
            return session is None or queue.knows_session(session)
        if request.method == "GET" and (answer := ANSWER.fullmatch(path)):
            return queue.knows_event(answer["event"])
        return True


class ClientErrors:
    """Answers gradio_client with status 422 and the sentence as a failed validation where its event is refused.

    With any other status the client shows the number alone. It finds the one that fits under `status`.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, and changes the answer where it is such a refusal."""
        joins = scope["type"] == "http" and scope["path"].rstrip("/").endswith("/queue/join")
        if joins and Headers(scope=scope).get("user-agent", "").startswith("gradio_client"):
            await send_whole(self.app, scope, receive, send, when=lambda start: start["status"] >= 400, change=_shown)
        else:
            await self.app(scope, receive, send)


async def _shown(start: Message, body: bytes) -> Response:
    sentence = sentence_of(body, names=("error", "detail"))
    if not sentence:
        return again(start, body)
    failed = {"__type__": "validate", "is_valid": False, "parameter_name": "request", "message": sentence}
    content = {"error": sentence, "status": start["status"], "detail": [failed]}
    return JSONResponse(content, 422, headers=retry_after_of(start))
