"""What Gradio's routes answer where they fail: a sentence.

To a request that they cannot read, status 400 and one line in the log; to any other failure, 500 and its traceback.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections import Counter
from typing import TYPE_CHECKING

from gradio.route_utils import FnIndexInferError
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.errors import FAILED
from leaderboard.web.responses import refusal

if TYPE_CHECKING:
    from leaderboard.web.events.stateless import StatelessBlocks

ROUTE = re.compile(r"/gradio_api/+(?P<path>.*)", re.DOTALL)
ANSWER = re.compile(r"call/(?:v2/)?[^/]+/(?P<event>[^/]+)/?")
UNKNOWN = "There is no such event here. It is over, or the server was restarted: send the request again"
UNREADABLE = "The server cannot read this request. Reload the page; programs find the endpoints under gradio_api/info"
# Gradio's functions that look up what a request names, without checking that it exists: by their module and name, with
# the errors that say so. The same errors from anywhere else are failures.
LOOKUPS: dict[tuple[str, str], type[Exception] | tuple[type[Exception], ...]] = {
    ("gradio.route_utils", "get_fn"): (KeyError, FnIndexInferError),
    ("gradio.routes", "App.create_app.<locals>._"): KeyError,  # call/v2: the endpoint's name
    ("gradio.routes", "App.create_app.<locals>.component_server"): KeyError,
    # a session with two readers, of whom one has left
    ("gradio.routes", "App.create_app.<locals>.queue_data_helper.<locals>.sse_stream"): KeyError,
    ("gradio_client.utils", "construct_args"): (TypeError, ValueError),  # call/v2: the parameters' names
}
LONGEST_LOGGED = 60  # characters of a path
MOST_KINDS = 100  # of failures that are counted separately; those beyond count as one
log = logging.getLogger(__name__)


class FailureLog:
    """Logs failures with their traceback: a kind's 1st, 10th, 100th and so on, so that nobody can flood the log.

    Of one kind are those of the same type from the same line.
    """

    def __init__(self, *, most: int = MOST_KINDS) -> None:
        self._most = most
        self._counts: Counter[tuple[str, str, int]] = Counter()

    def add(self, error: Exception, *, action: str) -> None:
        """Counts a failure, and logs it where it is due; `action` says what failed."""
        frames = traceback.extract_tb(error.__traceback__)
        kind = (type(error).__name__, frames[-1].filename if frames else "", (frames[-1].lineno or 0) if frames else 0)
        if kind not in self._counts and len(self._counts) >= self._most:
            kind = ("", "", 0)
        self._counts[kind] += 1
        count = self._counts[kind]
        if re.fullmatch("10*", str(count)):
            log.error("%s failed%s", action, f", for the {count}th time" if count > 1 else "", exc_info=error)


def is_lookup(error: Exception) -> bool:
    """Whether Gradio raised the error because a request names what does not exist."""
    innermost = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        innermost = frame
    if innermost is None:
        return False
    code = innermost.f_code
    return isinstance(error, LOOKUPS.get((innermost.f_globals.get("__name__", ""), code.co_qualname), ()))


class GradioErrors:
    """Answers 404 where an event is unknown to `blocks`, which Gradio finds out only after it has begun to answer.

    Another name that leads nowhere is answered with 400, any other failure of Gradio's routes with 500. To cancel an
    event that is over is no failure.
    """

    def __init__(self, app: ASGIApp, blocks: StatelessBlocks) -> None:
        self.app, self.blocks = app, blocks
        self._failures = FailureLog()

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
            action = f"{scope['method']} /gradio_api/{route['path'][:LONGEST_LOGGED]!r}"
            unreadable = is_lookup(error)
            if unreadable:
                log.warning("%s cannot be read: %s", action, type(error).__name__)
            else:
                self._failures.add(error, action=action)
            if not started:
                sentence, status = (UNREADABLE, 400) if unreadable else (FAILED, 500)
                await refusal(sentence, status)(scope, receive, send)

    def _knows(self, path: str, request: Request) -> bool:
        """Whether there is the event, or the session with events, that the request names."""
        queue = self.blocks._queue
        if request.method == "GET" and path.rstrip("/") == "queue/data":
            session = request.query_params.get("session_hash")
            return session is None or queue.knows_session(session)
        if request.method == "GET" and (answer := ANSWER.fullmatch(path)):
            return queue.knows_event(answer["event"])
        return True
