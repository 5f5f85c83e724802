"""Which requests Gradio sees: none that names a file, and none beyond the bounds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compute.live.inputs import LARGEST_IMAGE, LONGEST
from leaderboard.web.receiving.bodies import BoundedRoute, Disconnected, InFlight, TooLarge, UnreadBody, unread
from leaderboard.web.responses import refusal

# Gradio's routes that write what they are sent to disk or read a path they are given, and the number of this start:
# all of them are below this prefix, and the pages need none. Searched anywhere in a path, since a proxy's root path may
# come first.
CLOSED = re.compile(
    r"/gradio_api/+(upload|file[=/]|proxy=|stream/|process_recording|deep_link|run-history|vibe-|app_id\b)"
)
EVENT = re.compile(r"/gradio_api/+(queue/join|run/|api/|call/|component_server|mcp)")
LARGEST_EVENT = 24_000_000  # bytes: two images of 8 MB in base64, or nine of the longest texts
EVENTS_IN_FLIGHT = 120_000_000  # bytes of all events: each takes three to four times its size while it is read
LARGEST_OTHER = 64_000  # bytes of a body for any other address: Gradio's own page sends an event's name, or less
MOST_VALUES = 50_000  # of an event's JSON; the pages send dozens. 24 MB of brackets would fill 700 MB of memory
LONGEST_IMAGE = LARGEST_IMAGE * 4 // 3 + 200  # characters of a data URI
LARGEST_NUMBER = 2**53  # JSON's whole numbers are exact below it


class RequestFilter:
    """Answers 404 to the CLOSED routes, and 400 to events that name a file: Gradio would fetch it to its disk.

    Bodies sent to Gradio are bounded here, since Gradio bounds none. Those of a BoundedRoute among `routes` are left to
    it.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute] = ()) -> None:
        self.app = app
        self.in_flight = InFlight(EVENTS_IN_FLIGHT)
        self._checking = asyncio.Lock()  # one event at a time: each takes three times its size
        self.bounded = tuple(route for route in routes if isinstance(route, BoundedRoute))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what names no file; a body is read whole first, an event's up to LARGEST_EVENT."""
        if scope["type"] == "http" and CLOSED.search(scope["path"]):
            await refusal("There is nothing for visitors under this address", 404)(scope, receive, send)
        elif (
            scope["type"] != "http"
            or scope["method"] not in ("POST", "PUT", "PATCH")
            or any(route.matches(scope)[0] is Match.FULL for route in self.bounded)
        ):
            await self.app(scope, receive, send)
        else:
            await self._read_first(scope, receive, send)

    async def _read_first(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = EVENT.search(scope["path"]) is not None
        most = LARGEST_EVENT if event else LARGEST_OTHER
        request = Request(scope, receive)
        if event and "multipart" in request.headers.get("content-type", "").lower():
            await refusal("An event is JSON. Files are sent to live/input", 400)(scope, receive, send)
            return
        try:
            async with self.in_flight.body(request, most=most) as body:
                refused = None
                if event:
                    async with self._checking:
                        refused = await run_in_threadpool(fault, body)
                messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

                async def replay() -> Message:
                    return messages.pop() if messages else await receive()

                await (refused or self.app)(scope, replay, send)
        except Disconnected:
            return
        except UnreadBody as error:
            size = f"{most // 1_000_000} MB" if event else f"{most // 1000} kB"
            sentence = f"More than {size} at once. Send less" if isinstance(error, TooLarge) else ""
            await unread(error, sentence)(scope, receive, send)


def fault(body: bytes) -> JSONResponse | None:
    """The answer to an event that Gradio must not get; None for others. It may take 0.1 s: not for the event loop."""
    if sum(map(body.count, (b"[", b"{", b","))) > MOST_VALUES:  # one precedes each value but the first
        return refusal(f"An event has at most {MOST_VALUES} values and commas. Send less", 413)
    try:
        pending: list[Any] = [json.loads(body)]
    except json.JSONDecodeError:  # Gradio's own parser is the same and refuses it too
        return None
    except (ValueError, RecursionError):
        return refusal("The event's JSON is nested too deep, or has letters or numbers that cannot be read", 400)
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            most = LONGEST_IMAGE if each[:11].lower() == "data:image/" else LONGEST
            if len(each) > most:
                return refusal(f"A text has {len(each):,} characters, more than {most:,}. Send a shorter one", 400)
        elif isinstance(each, dict):
            meta = each.get("meta")
            if isinstance(meta, dict) and meta.get("_type") == "gradio.FileData":
                return refusal("An event names no files. They are sent to live/input", 400)
            pending += [*each, *each.values()]
        elif isinstance(each, list):
            pending += each
        elif isinstance(each, int | float) and not abs(each) <= LARGEST_NUMBER:
            return refusal("A number is not finite, or has more than 15 digits. Send another one", 400)
    return None
