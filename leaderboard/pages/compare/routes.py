"""What the browser sends and fetches to compare things of a visitor's own: uploads into memory, and ready examples."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.live.panel import uploads_rate
from leaderboard.live.uploads import NO_SESSION, SESSION, Uploads
from leaderboard.page import Site
from leaderboard.web.bodies import IN_FLIGHT, BoundedRoute, Busy, Disconnected, InFlight, TooLarge, TooSlow, UnreadBody
from leaderboard.web.errors import Handler
from leaderboard.web.responses import CHECK, NO_STORE, refusal
from leaderboard.web.visitors import Rate, visitor

Guard = Callable[[Handler], Handler]
LARGEST_IMAGE = 8_000_000  # bytes of a file
LARGEST_TABLE = 50_000_000  # bytes of a CSV or ZIP
LARGEST_ID = 64
WORKERS = 4  # threads of their own: uploads that wait for each other take none of the pages'
UNREAD = {
    Busy: "Many visitors are sending files at this moment. Try again in a few seconds",
    TooSlow: "The file took too long to arrive. Try a smaller one",
    Disconnected: "The file did not arrive",
}


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Where ready inputs come from: `listing()` is what the browser gets, `picture(key)` WebP or BadInput."""

    listing: Callable[[], Mapping[str, Any]]
    picture: Callable[[str], bytes]


def routes(site: Site) -> list[Route]:
    """What the tray sends and fetches."""
    live = site.panel.live
    return routes_of(
        live.uploads,
        guard=site.guard,
        rate=uploads_rate(),
        plan=live.plan,
        examples=Examples(listing=live.examples, picture=live.example_picture),
    )


def routes_of(
    uploads: Uploads, *, examples: Examples, guard: Guard, rate: Rate | None, plan: Callable[..., Mapping[str, Any]]
) -> list[Route]:
    """The routes; `rate` limits uploads by visitor, None: not at all. `plan(kinds, mode)`: what can be asked."""
    bodies = Bodies(rate)

    def image(request: Request, body: bytes) -> Response:
        return JSONResponse(uploads.keep_image(_session(request), body))

    def table(request: Request, body: bytes) -> Response:
        return JSONResponse({"key": uploads.keep_file(_session(request), body)})

    def forget(request: Request, body: bytes) -> Response:
        uploads.forget(body.decode("latin-1"))
        return Response(status_code=204)

    def listing(request: Request) -> Response:
        return JSONResponse(examples.listing(), headers={"cache-control": CHECK})

    def planned(request: Request) -> Response:
        asked = request.query_params
        kinds = [kind for kind in asked.get("kinds", "")[:400].split(",") if kind]
        found = plan(kinds=kinds, mode=asked.get("mode", "")[:40])
        return JSONResponse(found, headers={"cache-control": NO_STORE})

    def picture(request: Request) -> Response:
        try:
            content = examples.picture(request.path_params["key"])
        except BadInput as error:
            return refusal(str(error), 404, cache=CHECK)
        return Response(content, media_type="image/webp", headers={"cache-control": "public, max-age=3600"})

    return [
        BoundedRoute("/live/input", bodies.taken(image, most=LARGEST_IMAGE, guard=guard), methods=["POST"]),
        BoundedRoute("/live/file", bodies.taken(table, most=LARGEST_TABLE, guard=guard), methods=["POST"]),
        BoundedRoute(
            "/live/forget", bodies.taken(forget, most=LARGEST_ID, guard=guard, session=False), methods=["POST"]
        ),
        Route("/live/plan", guard(planned)),
        Route("/live/examples", guard(listing)),
        Route("/live/example/{key}.webp", guard(picture)),
    ]


class Bodies:
    """Takes what visitors send: within bounds each and all together, and worked on by a few threads."""

    def __init__(self, rate: Rate | None, *, in_flight: int = IN_FLIGHT) -> None:
        self._rate, self.in_flight = rate, InFlight(in_flight)
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="uploads")

    def taken(
        self, work: Callable[[Request, bytes], Response], *, most: int, guard: Guard, session: bool = True
    ) -> Callable:
        """A route's handler that reads so many bytes at most; `session`: it needs one and counts as an upload."""

        async def answer(request: Request) -> Response:
            if session and not SESSION.fullmatch(request.headers.get("x-likeness-session", "")):
                return refusal(NO_SESSION, 400)
            if session and self._rate is not None and (wait := self._rate.allow(visitor(request))):
                seconds = math.ceil(wait)
                sentence = f"That is a lot of files at once. Try again in {seconds} seconds"
                return refusal(sentence, 429, retry_after=seconds)
            try:
                async with self.in_flight.body(request, most=most) as body:
                    done = guard(lambda request: work(request, bytes(body)))
                    found = await asyncio.get_running_loop().run_in_executor(self._threads, done, request)
            except UnreadBody as error:
                sentence = _too_large(most) if isinstance(error, TooLarge) else UNREAD[type(error)]
                return refusal(sentence, error.status, retry_after=error.retry_after)
            found.headers.setdefault("cache-control", NO_STORE)
            return found

        return answer


def _too_large(most: int) -> str:
    if most == LARGEST_ID:
        return NO_SESSION
    return f"The file has more than {most // 1_000_000} MB. Save it smaller and add it again"


def _session(request: Request) -> str:
    return request.headers["x-likeness-session"]
