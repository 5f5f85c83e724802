"""Which requests Gradio sees: none that names a file, and none beyond the bounds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from types import MappingProxyType
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compute.types import LONGEST_KEY, BadInput
from leaderboard.web.receiving import bounds
from leaderboard.web.receiving.bodies import BoundedRoute, Disconnected, InFlight, TooLarge, UnreadBody, unread
from leaderboard.web.responses import NO_STORE, bounded_sentence, refusal

# Gradio's routes that write what they are sent to disk or read a path they are given, and the number of this start:
# all of them are below this prefix, and the pages need none. Searched anywhere in a path, since a proxy's root path may
# come first.
CLOSED = re.compile(
    r"/gradio_api/+(upload|file[=/]|proxy=|stream/|process_recording|deep_link|run-history|vibe-|app_id\b)"
)
EVENT = re.compile(r"/gradio_api/+(queue/join|run/|api/|call/|component_server|mcp)")
MCP = "/gradio_api/mcp"
INVALID_PARAMETERS = -32602  # JSON-RPC's number for this error
SENDING = frozenset({"POST", "PUT", "PATCH"})
LARGEST_EVENT = 24_000_000  # bytes: two images of 8 MB in base64, or nine of the longest texts
EVENTS_IN_FLIGHT = 120_000_000  # bytes of all events: each takes three to four times its size while it is read
LARGEST_OTHER = 64_000  # bytes of a body for any other address: Gradio's own page sends an event's name, or less
MOST_VALUES = 50_000  # of an event's JSON; the pages send dozens. 24 MB of brackets would fill 700 MB of memory
STRUCTURE = (b"[", b"{", b",")  # one of these precedes each value but the first; more occur in texts


class RequestFilter:
    """Answers 404 to the CLOSED routes, and 400 to events that name a file: Gradio would fetch it to its disk.

    Bodies sent to Gradio are bounded here, since Gradio bounds none; `in_flight` counts them. Those of a BoundedRoute
    among `routes` are left to it. `images` are names and indices of the endpoints that take images as data URIs, and
    `parameters` the names of an endpoint's parameters, by its own name and index: what a program sends in their order
    has the bounds of these names. Endpoints rely on it, and check no bounds themselves.
    """

    def __init__(
        self,
        app: ASGIApp,
        routes: Sequence[BaseRoute] = (),
        in_flight: InFlight | None = None,
        images: Collection[str | int] = (),
        parameters: Mapping[str | int, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.app, self.images = app, frozenset(images)
        self.in_flight = in_flight or InFlight(EVENTS_IN_FLIGHT, free=LARGEST_OTHER)
        self.parameters = parameters
        self._checking = asyncio.Lock()  # of large events: each takes three times its size, and all other threads wait
        self.bounded = tuple(route for route in routes if isinstance(route, BoundedRoute))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what names no file; a body is read whole first, an event's up to LARGEST_EVENT."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif CLOSED.search(scope["path"]):
            await refusal("There is nothing for visitors under this address", 404)(scope, receive, send)
        elif scope["method"] in SENDING and not any(route.matches(scope)[0] is Match.FULL for route in self.bounded):
            await self._read_first(scope, receive, send, event=EVENT.search(scope["path"]) is not None)
        else:
            await self.app(scope, receive, send)

    async def _read_first(self, scope: Scope, receive: Receive, send: Send, *, event: bool) -> None:
        most = LARGEST_EVENT if event else LARGEST_OTHER
        if event and any(name == b"content-type" and b"multipart" in value.lower() for name, value in scope["headers"]):
            await refusal("An event is JSON. Files are sent to live/input", 400)(scope, receive, send)
            return
        try:
            async with self.in_flight.body(Request(scope, receive), most=most) as body:
                check = partial(_fault, body, path=scope["path"], images=self.images, parameters=self.parameters)
                async with self._checking if event and len(body) > LARGEST_OTHER else nullcontext():
                    refused = await run_in_threadpool(check) if event else None
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


def _fault(
    body: bytes, *, path: str, images: Collection[str | int], parameters: Mapping[str | int, Sequence[str]]
) -> JSONResponse | None:
    """The answer to an event that Gradio must not get; None for others. It may take 0.1 s: not for the event loop."""
    if sum(map(body.count, STRUCTURE)) > MOST_VALUES:
        return refusal(f"An event has at most {MOST_VALUES} values and commas. Send less", 413)
    event = None
    try:
        event = json.loads(body)
        takes_images = _takes_images(event, path=path, names=images)
        for named in _named(event, path=path, parameters=parameters):
            bounds.check(named, images=takes_images)
    except json.JSONDecodeError:  # Gradio's own parser is the same and refuses it too
        return None
    except BadInput as error:
        return _to_tool_caller(event, str(error), path=path) or refusal(str(error), 400)
    except (ValueError, RecursionError):
        return refusal("The event's JSON is nested too deep, or has letters or numbers that cannot be read", 400)
    return None


def _named(event: Any, *, path: str, parameters: Mapping[str | int, Sequence[str]]) -> list[Any]:
    """The event, with the values for an endpoint under their parameters' names. Raises BadInput.

    The path and the event may each name an endpoint; whichever Gradio takes, its names count.
    """
    index = event.get("fn_index") if isinstance(event, dict) else None
    if index is not None and not isinstance(index, int):  # Gradio would take "7" for 7
        raise BadInput("fn_index is the number of an event")
    names = [parameters[key] for key in (index, path.rstrip("/").rpartition("/")[2]) if key in parameters]
    values = event.get("data") if isinstance(event, dict) else None
    if not names or not isinstance(values, list):
        return [event]
    return [{**event, "data": {**dict(zip(each, values, strict=False)), "data": values[len(each) :]}} for each in names]


def _to_tool_caller(event: Any, sentence: str, *, path: str) -> JSONResponse | None:
    """The refusal of a request to MCP, in its protocol; None for anything else.

    Clients of MCP take any other status than 200 for the end of the connection, and show nobody the sentence.
    """
    if MCP not in path or not isinstance(event, dict) or not isinstance(event.get("method"), str):
        return None
    asked = event.get("id")
    if isinstance(asked, bool) or not isinstance(asked, str | int) or len(str(asked)) > LONGEST_KEY:
        return None
    error = {"code": INVALID_PARAMETERS, "message": bounded_sentence(sentence)}
    return JSONResponse({"jsonrpc": "2.0", "id": asked, "error": error}, headers={"cache-control": NO_STORE})


def _takes_images(event: Any, *, path: str, names: Collection[str | int]) -> bool:
    """Whether the event is for an endpoint of these names or indices, or for a tool, which may be any of them."""
    path = path.rstrip("/")
    return (
        MCP in path
        or path.rpartition("/")[2] in names
        or (isinstance(event, dict) and isinstance(event.get("fn_index"), int) and event["fn_index"] in names)
    )
