"""What passes between an address and Gradio: queries it must not see, files a page will need, and what is kept out."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leaderboard.web.bodies import Busy, Gone, InFlight, TooLarge, TooSlow

# Gradio's routes that write what they are sent to a disk, or read a path they are given: it puts all of them below this
# prefix. The pages need none. Looked for anywhere in a path, for a server's own root path may stand before it.
ON_DISK = re.compile(r"/gradio_api/+(upload|file[=/]|proxy=|stream/|process_recording|deep_link|run-history|vibe-)")
EVENT = re.compile(r"/gradio_api/+(queue/join|run/|api/|call/|component_server|mcp)")
OURS = re.compile(r"/(live/(input|file|forget)|export/board/[^/]+)$")  # these bound what they are sent themselves
SENDING = frozenset({"POST", "PUT", "PATCH"})
LARGEST_EVENT = 24_000_000  # bytes: two images of 8 MB in base64, or nine of the longest texts
LARGEST_OTHER = 64_000  # bytes of what is sent to any other address: Gradio's own page names an event there, or less
MOST_VALUES = 50_000  # of an event's JSON; the pages send dozens. Those of 24 MB of brackets would fill 700 MB
STRUCTURE = (b"[", b"{", b",")  # one of these stands before each value but the first; more stand in texts
FILE = "gradio.FileData"


class WithoutPage:
    """Takes `page` out of the first page's query: Gradio reads it there as a page's name and fails on one it lacks."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request on; only a request of `/` with such a query is changed."""
        if scope["type"] == "http" and scope["path"] in ("", "/") and b"page" in scope["query_string"]:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            kept = urlencode([(key, value) for key, value in pairs if key != "page"])
            scope = {**scope, "query_string": kept.encode("latin-1")}
        await self.app(scope, receive, send)


class Ahead:
    """Names the figure library in the answer for a page with figures, so that it loads while the page is built."""

    def __init__(self, app: ASGIApp, pages: frozenset[str], link: str) -> None:
        self.app, self.pages, self.link = app, pages, link.encode("latin-1")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request on, and adds the header to the answer of the named pages."""
        if scope["type"] != "http" or scope["path"].strip("/") not in self.pages:
            await self.app(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"link", self.link)]}
            await send(message)

        await self.app(scope, receive, noted)


class WithoutUploads:
    """Answers 404 to Gradio's routes for files, and 400 to events that name a file: it would fetch that to its disk.

    All that is sent to Gradio is bounded here, for it bounds nothing itself; `in_flight` counts it.
    """

    def __init__(self, app: ASGIApp, in_flight: InFlight | None = None) -> None:
        self.app, self.in_flight = app, in_flight or InFlight(free=LARGEST_OTHER)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on what has to do with no file; what is sent is read whole first, an event up to LARGEST_EVENT."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif ON_DISK.search(scope["path"]):
            await _refusal("There are no such files here", 404)(scope, receive, send)
        elif scope["method"] in SENDING and not OURS.search(scope["path"]):
            await self._sent(scope, receive, send, event=EVENT.search(scope["path"]) is not None)
        else:
            await self.app(scope, receive, send)

    async def _sent(self, scope: Scope, receive: Receive, send: Send, *, event: bool) -> None:
        most = LARGEST_EVENT if event else LARGEST_OTHER
        if event and any(name == b"content-type" and b"multipart" in value.lower() for name, value in scope["headers"]):
            await _refusal("An event is JSON. Files are sent to live/input", 400)(scope, receive, send)
            return
        try:
            async with self.in_flight.body(Request(scope, receive), most=most) as arrived:
                body = bytes(arrived)
                refusal = await run_in_threadpool(_fault, body) if event else None
                waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

                async def again() -> Message:
                    return waiting.pop() if waiting else await receive()

                await (refusal or self.app)(scope, again, send)
                return
        except TooLarge:
            size = f"{most // 1_000_000} MB" if event else f"{most // 1000} kB"
            refusal = _refusal(f"More than {size} at once. Send less", 413)
        except Busy:
            refusal = _refusal("Many visitors are sending much at this moment. Try again in a few seconds", 429)
            refusal.headers["retry-after"] = "5"
        except TooSlow:
            refusal = _refusal("What was sent took too long to arrive. Send less", 400)
        except Gone:
            return
        await refusal(scope, receive, send)


def _fault(body: bytes) -> JSONResponse | None:
    """The answer to an event that Gradio must not get; None for others. It may take 0.1 s: not for the event loop."""
    if sum(map(body.count, STRUCTURE)) > MOST_VALUES:
        return _refusal(f"An event has at most {MOST_VALUES} values and commas. Send less", 413)
    if _names_a_file(body):
        return _refusal("An event names no files. They are sent to live/input", 400)
    return None


def _names_a_file(body: bytes) -> bool:
    """Whether JSON holds what Gradio takes for a file anywhere: an object with a path and such a `meta`."""
    as_written = json.detect_encoding(body).startswith("utf-8") and b"\\u" not in body
    if as_written and FILE.encode() not in body:
        return False
    try:
        left: list[Any] = [json.loads(body)]
    except (ValueError, RecursionError):  # Gradio's own parser is the same and refuses it too
        return False
    while left:
        value = left.pop()
        if isinstance(value, dict):
            if isinstance(value.get("meta"), dict) and value["meta"].get("_type") == FILE:
                return True
            left += value.values()
        elif isinstance(value, list):
            left += value
    return False


def _refusal(sentence: str, status: int) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status, headers={"cache-control": "no-store"})
