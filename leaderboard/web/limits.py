"""Limits on one client's requests: a single middleware around every route and method, including Gradio's and MCP's.

It checks under which name and from which site's page a request comes, reads its body within bounds of size and time,
gives each client turns, and sends answers in parts to those who read them. The connections below it are bounded by
`connections`, the events that Gradio queues by `gradio_app`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from compute.live.batch import LARGEST_FILE
from compute.live.inputs import LARGEST_IMAGE, LONGEST
from leaderboard.web.access import FORWARDED, Access, first_of, host_name
from leaderboard.web.responses import refusal
from leaderboard.web.visitors import in_turn, visitor

# Searched anywhere in a path, since a proxy's root path may come first. Gradio's routes that write what they are sent
# to disk or read a path they are given, the number of this start, and those for programs, which use API v1: the pages
# need none of them.
CLOSED = re.compile(
    r"/gradio_api/+(upload|file[=/]|proxy=|stream/|process_recording|deep_link|run-history|vibe-|app_id\b|api/|call/)"
)
EVENT = re.compile(r"/gradio_api/+(queue/join|run/|component_server|mcp)|/api/+v1/+pair\b")
MCP = re.compile(r"/gradio_api/+mcp\b")
STREAM = re.compile(r"/gradio_api/+(queue/data|heartbeat|startup-events)")
# GET requests that compute, besides events.
COMPUTES = re.compile(r"/api/+v1/|/data/(rank|cell|relations)\b|/(embed/board|eyes/order|eyes/report|picture\.png)$")
QUERY = re.compile(r"/api/+v1/+query\b")
SEVERAL = re.compile(rb"(?i)language=[^&]*(,|%2c)")  # a board of several languages, which are too many to store
STATE = re.compile(rb"(^|&)data=[^&]")  # a version of the data, which may have to be restored
ACTING = re.compile(r"/gradio_api/+(mcp|queue|heartbeat|dev)\b")
OWN = frozenset({"same-origin", "none"})  # Sec-Fetch-Site; none: the visitor typed the address

PATIENCE = 30.0  # seconds that a request waits for its turn
QUERIES = 2  # of the database at a time
COMPUTING = 3  # requests that compute, of all visitors at a time, two of one
LARGEST_EVENT = 24_000_000  # bytes: two images of 8 MB in base64, or nine of the longest texts
# Bytes of a body by path; of any other LARGEST_OTHER: Gradio's own page sends an event's name, or less.
LARGEST = (
    (re.compile(r"/live/input$"), LARGEST_IMAGE),
    (re.compile(r"/live/file$"), LARGEST_FILE),
    (re.compile(r"/export/board/"), 1_000_000),
    (re.compile(r"/eyes/(order|report)$"), 4_000_000),
    (EVENT, LARGEST_EVENT),
)
LARGEST_OTHER = 64_000
IN_FLIGHT = 200_000_000  # bytes of all bodies that are being received or processed
SHARE = 0.75  # of these bytes for one client: a class behind one address sends 18 large photographs at once
IDLE = 10.0  # seconds without a byte, after which a body is dropped
SLOWEST = 20_000  # bytes per second, on average; a sender may fall behind by IDLE seconds
MOST_VALUES = 50_000  # of an event's JSON; the pages send dozens. 24 MB of brackets would fill 700 MB of memory
LONGEST_IMAGE = LARGEST_IMAGE * 4 // 3 + 200  # characters of a data URI
LARGEST_NUMBER = 2**53  # integers in JSON are exact up to here
PART = 32_768  # bytes that are handed to the server at once; it stores no second part before the first is sent
STALL = 30.0  # seconds that a reader may fall behind SLOWEST_READER, or take for one part
SLOWEST_READER = 8_000.0  # bytes per second, on average


class Refused(Exception):
    """A refused request: the sentence, the status and the headers of its answer."""

    def __init__(self, sentence: str, status: int, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


class Gate:
    """Turns: at most `each` per client and `total` in all at a time. At most `waiting` more per client, and `queue` in
    all, may wait.

    For the event loop's thread only.
    """

    def __init__(self, each: int, *, waiting: int = 0, total: int = 10_000, queue: int = 10_000) -> None:
        self.each, self.waiting, self.total, self.queue = each, waiting, total, queue
        self.running: Counter[str] = Counter()
        self._queued: list[tuple[str, asyncio.Future]] = []

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Waits for a turn, which lasts until the block ends. Raises Refused if too many wait, or for too long."""
        if self._is_free(client):
            self.running[client] += 1
        else:
            await self._wait(client)
        try:
            yield
        finally:
            self._end(client)

    def _is_free(self, client: str) -> bool:
        return self.running[client] < self.each and self.running.total() < self.total

    async def _wait(self, client: str) -> None:
        if sum(other == client for other, _ in self._queued) >= self.waiting:
            raise Refused(
                "Too many of your requests are being answered. Try again in a few seconds", 429, retry_after=5
            )
        if len(self._queued) >= self.queue:
            raise Refused("Many visitors ask for this right now. Try again in a few seconds", 503, retry_after=5)
        place = (client, asyncio.get_running_loop().create_future())
        self._queued.append(place)
        try:
            await asyncio.wait_for(place[1], PATIENCE)
        except BaseException as error:
            if place in self._queued:
                self._queued.remove(place)
            else:  # it was given in this very moment
                self._end(client)
            if isinstance(error, TimeoutError):
                raise Refused("This server is busy. Try again in a minute", 503, retry_after=60) from error
            raise

    def _end(self, client: str) -> None:
        self.running[client] -= 1
        if not self.running[client]:
            del self.running[client]  # nothing is stored on who has left
        # Everyone's first, then everyone's second; this client's behind those of others.
        waiting = sorted(self._queued, key=lambda place: place[0] == client)
        self._queued = in_turn(waiting, of=lambda place: place[0])
        place = next((place for place in self._queued if self._is_free(place[0]) and not place[1].done()), None)
        if place:
            self._queued.remove(place)
            self.running[place[0]] += 1
            place[1].set_result(None)


def gates() -> dict[str, Gate]:
    """The gates by kind of request. A class of thirty behind one address is one client, so many requests may wait."""
    return {
        "body": Gate(200),  # however small: a class opens six connections each
        "page": Gate(32, waiting=600),
        "compute": Gate(2, waiting=200),
        "tool": Gate(2, waiting=30),
        # Once the body is there, until the answer begins: a slow client holds up nobody.
        **{f"{kind} of all": Gate(2, waiting=200, total=COMPUTING) for kind in ("compute", "tool")},
        "query": Gate(1, waiting=2, total=QUERIES, queue=8),
        "download": Gate(4, waiting=12, total=60),
        "stream": Gate(200),
        "tool stream": Gate(8),
    }


def kind_of(method: str, path: str, query: bytes = b"") -> str:
    """Returns the gates that a request passes."""
    reads = method not in ("POST", "PUT", "PATCH", "DELETE")
    if MCP.search(path):
        return "tool stream" if reads else "tool"
    if STREAM.search(path) and reads:
        return "stream"
    if QUERY.search(path) or (path.endswith("/data/sql") and not reads):
        return "query"
    if "/export/" in path:
        return "download"
    of_parts = "/data/board/" in path and SEVERAL.search(query)
    computes = EVENT.search(path) or COMPUTES.search(path) or of_parts or STATE.search(query)
    return "compute" if computes else "page"


class ClientLimits:
    """The middleware. `access`: the hosts that the app answers to."""

    def __init__(self, app: ASGIApp, *, access: Access = Access(), in_flight: int = IN_FLIGHT) -> None:  # noqa: B008
        self.app, self.access, self.gates = app, access, gates()
        self.bytes: Counter[str] = Counter()  # of bodies, by client
        self._in_flight = in_flight
        self._checking = asyncio.Lock()  # one event at a time: each takes three times its size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on when it is its client's turn, or says why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        transport = getattr(getattr(receive, "__self__", None), "transport", None)  # `receive` is a method of uvicorn's
        method, path, client = scope["method"], scope["path"], visitor(Request(scope))
        try:
            scope = self._admitted(scope)
            async with AsyncExitStack() as stack, AsyncExitStack() as computing:
                kind = kind_of(method, path, scope.get("query_string", b""))
                turn = self.gates[kind].turn(client)
                if is_event := EVENT.search(path) is not None:  # its large body is not received before its turn
                    await stack.enter_async_context(turn)
                if method in ("POST", "PUT", "PATCH"):
                    await stack.enter_async_context(self.gates["body"].turn(client))
                    receive = await stack.enter_async_context(self._received(Request(scope, receive), client))
                if not is_event:
                    await stack.enter_async_context(turn)
                if f"{kind} of all" in self.gates:
                    await computing.enter_async_context(self.gates[f"{kind} of all"].turn(client))
                answered = paced(send, transport)

                async def begun(message: Message) -> None:
                    await computing.aclose()
                    await answered(message)

                if transport is None or not transport.is_closing():
                    await self.app(scope, receive, begun)
        except ClientDisconnect:
            return
        except Refused as error:
            answer = refusal(str(error), error.status, retry_after=error.retry_after)
            if error.status == 408:
                answer.headers["connection"] = "close"
            await answer(scope, receive, send)

    def _admitted(self, scope: Scope) -> Scope:
        """Returns the request as the app gets it. Raises Refused for another host name, which may have been made to
        point here, for a closed route, and for requests by a page of another site, except reading outside Gradio's
        queue and MCP. If such a page reads public data, its Origin is removed from the request, so that Gradio does not
        allow it to see the answer.
        """
        headers = Headers(scope=scope)
        names = headers.getlist("host")
        if self.access.hosts is not None and (len(names) != 1 or host_name(names[0]) not in self.access.hosts):
            raise Refused(
                f"This server does not answer under the name {(names or ['none'])[0][:80]!r}. Open it as localhost, or "
                "start it with LIKENESS_HOSTS set to its name",
                403,
            )
        if FORWARDED in headers and host_name(first_of(headers[FORWARDED])) is None:  # Gradio would fail over it
            raise Refused(f"A proxy's {FORWARDED} is not the name of a host", 400)
        if is_foreign(headers, named=self.access.named):
            acting = ACTING.search(scope["path"]) and headers.get("sec-fetch-mode") != "navigate"
            if scope["method"] not in ("GET", "HEAD") or acting:
                raise Refused("This was sent by a page of another site. Use this app's own pages, or a program", 403)
            scope = {**scope, "headers": [*scope["headers"]]}
            del MutableHeaders(scope=scope)["origin"]
        if CLOSED.search(scope["path"]):
            raise Refused("There is nothing for visitors under this address", 404)
        return scope

    @asynccontextmanager
    async def _received(self, request: Request, client: str) -> AsyncIterator[Receive]:
        """Yields a `receive` that returns the whole body at once; its bytes are counted until the block ends. Raises
        Refused.
        """
        path = request.url.path
        most = next((size for pattern, size in LARGEST if pattern.search(path)), LARGEST_OTHER)
        is_event = EVENT.search(path) is not None
        if is_event and "multipart" in request.headers.get("content-type", "").lower():
            raise Refused("An event is JSON. Files are sent to live/input", 400)
        received = bytearray()
        size = 0
        try:
            try:
                await self._receive(request, received, most=most, client=client)
            except TimeoutError as error:
                sentence = f"The request arrived too slowly: less than {SLOWEST // 1000} kB a second. Send it again"
                raise Refused(sentence, 408) from error
            finally:
                size = len(received)
            body = bytes(received)
            received.clear()  # it may be processed for long, and is stored once
            if is_event:
                async with self._checking:
                    await run_in_threadpool(check_event, body)
            messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
            del body

            async def replay() -> Message:
                return messages.pop() if messages else await request.receive()

            yield replay
        finally:
            self.bytes[client] -= size
            if not self.bytes[client]:
                del self.bytes[client]

    async def _receive(self, request: Request, received: bytearray, *, most: int, client: str) -> None:
        size = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1000} kB"
        too_large = Refused(f"This is larger than {size}. Send less, or a smaller file", 413)
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > most:
            raise too_large
        clock = asyncio.get_running_loop().time
        async with asyncio.timeout(IDLE) as deadline:
            async for part in request.stream():
                if len(received) + len(part) > most:
                    raise too_large
                if self.bytes.total() + len(part) > self._in_flight:
                    raise Refused("Many visitors are sending data. Try again in a few seconds", 429, retry_after=5)
                if self.bytes[client] + len(part) > SHARE * self._in_flight:
                    raise Refused("You are sending a lot at once. Try again in a few seconds", 429, retry_after=5)
                received += part
                self.bytes[client] += len(part)
                # Each byte buys time, but not more than IDLE seconds ahead: a sender that stops, or drips after a fast
                # start, is dropped as soon as one that drips from the first byte.
                deadline.reschedule(min(deadline.when() + len(part) / SLOWEST, clock() + IDLE))


def is_foreign(headers: Headers, *, named: frozenset[str]) -> bool:
    """Returns whether the request comes from a page of another site, or from a page with a hidden site (Origin: null).

    Programs send neither Origin nor Sec-Fetch-Site. Scripts cannot set any of the headers read here, but for
    x-forwarded-host, for which the browser asks first, and is refused. `named`: hosts that are the app's too.
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin == "null":
        return True
    if site is not None:
        return site not in OWN
    if origin is None:
        return False
    host = origin.partition("://")[2].lower()
    seen = [headers.get("host", ""), *headers.get("x-forwarded-host", "").split(",")]
    return host_name(host) not in named and host not in [each.strip().lower() for each in seen]


def check_event(body: bytes) -> None:
    """Raises Refused for an event that must not reach Gradio: it names a file, which Gradio would fetch to its disk, or
    its JSON would take far more memory than its bytes. This may take 0.1 s, so it must not run in the event loop.
    """
    if sum(map(body.count, (b"[", b"{", b","))) > MOST_VALUES:  # one precedes each value but the first
        raise Refused(f"An event has at most {MOST_VALUES} values and commas. Send less", 413)
    try:
        pending: list[Any] = [json.loads(body)]
    except json.JSONDecodeError:  # Gradio's own parser is the same and refuses it too
        return
    except (ValueError, RecursionError) as error:
        sentence = "The event's JSON is nested too deep, or has letters or numbers that cannot be read"
        raise Refused(sentence, 400) from error
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            most = LONGEST_IMAGE if each[:11].lower() == "data:image/" else LONGEST
            if len(each) > most:
                raise Refused(f"A text has {len(each):,} characters, more than {most:,}. Send a shorter one", 400)
        elif isinstance(each, dict):
            meta = each.get("meta")
            if isinstance(meta, dict) and meta.get("_type") == "gradio.FileData":
                raise Refused("An event names no files. They are sent to live/input", 400)
            pending += [*each, *each.values()]
        elif isinstance(each, list):
            pending += each
        elif isinstance(each, int | float) and not abs(each) <= LARGEST_NUMBER:
            raise Refused("A number is not finite, or has more than 15 digits. Send another one", 400)


def paced(send: Send, transport: Any) -> Send:
    """Returns a `send` that splits large bodies and disconnects a client that does not read them.

    uvicorn takes a body as it comes and stores what the client does not read yet, as long as it is connected. Only the
    time in which the client takes nothing counts: a stream may be silent for as long as it likes.
    """
    clock, left, ended = asyncio.get_running_loop().time, STALL, False

    async def send_part(message: Message) -> None:
        nonlocal left, ended
        if ended:
            return
        began = clock()
        try:
            async with asyncio.timeout(max(0.0, left)):
                await send(message)
        except TimeoutError:
            ended = True
            if transport is not None:
                transport.abort()  # `close` would wait for the reader
        left = min(STALL, left + len(message.get("body", b"")) / SLOWEST_READER - (clock() - began))

    async def send_parts(message: Message) -> None:
        body = message.get("body", b"")
        if len(body) > PART:
            if transport is not None:  # the server takes a part only when the one before has been sent
                transport.set_write_buffer_limits(high=0)
            for begin in range(0, len(body), PART):
                await send_part({**message, "body": body[begin : begin + PART], "more_body": True})
            message = {**message, "body": b""}
        await send_part(message)

    return send_parts
