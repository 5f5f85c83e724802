"""What passes between an address and Gradio: queries it must not see, files a page will need, and what is kept out."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio's routes that write what they are sent to a disk, or read a path they are given: it puts all of them below this
# prefix. The pages need none. Looked for anywhere in a path, for a server's own root path may stand before it.
ON_DISK = re.compile(r"/gradio_api/+(upload|file[=/]|proxy=|stream/|process_recording|deep_link|run-history|vibe-)")
EVENT = re.compile(r"/gradio_api/+(queue/join|run/|api/|call/|component_server|mcp)")
LARGEST_EVENT = 24_000_000  # bytes: two images of 8 MB in base64, or nine of the longest texts


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
    """Answers 404 to Gradio's routes for files, and 400 to events that name a file: it would fetch that to its disk."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on what has to do with no file; events are read whole first, up to LARGEST_EVENT."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif ON_DISK.search(scope["path"]):
            await _refusal("There are no such files here", 404)(scope, receive, send)
        elif scope["method"] == "POST" and EVENT.search(scope["path"]):
            await self._event(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _event(self, scope: Scope, receive: Receive, send: Send) -> None:
        if any(name == b"content-type" and b"multipart" in value.lower() for name, value in scope["headers"]):
            await _refusal("An event is JSON. Files are sent to live/input", 400)(scope, receive, send)
            return
        body, more = bytearray(), True
        while more and len(body) <= LARGEST_EVENT:
            message = await receive()
            if message["type"] != "http.request":  # the visitor left
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if len(body) > LARGEST_EVENT:
            await _refusal(f"More than {LARGEST_EVENT // 1_000_000} MB at once. Send less", 413)(scope, receive, send)
            return
        if _names_a_file(body):
            await _refusal("An event names no files. They are sent to live/input", 400)(scope, receive, send)
            return
        waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, again, send)


def _names_a_file(body: bytes) -> bool:
    """Whether JSON holds what Gradio takes for a file anywhere: an object with a path and such a `meta`."""
    try:
        left: list[Any] = [json.loads(body)]
    except (ValueError, RecursionError):  # Gradio's own parser is the same and refuses it too
        return False
    while left:
        value = left.pop()
        if isinstance(value, dict):
            if isinstance(value.get("meta"), dict) and value["meta"].get("_type") == "gradio.FileData":
                return True
            left += value.values()
        elif isinstance(value, list):
            left += value
    return False


def _refusal(sentence: str, status: int) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status, headers={"cache-control": "no-store"})
