"""What the browser sends and fetches to compare things of a visitor's own: uploads into memory, and ready examples."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.live.panel import uploads_rate
from leaderboard.live.uploads import NO_SESSION, SESSION, Uploads
from leaderboard.page import Site
from leaderboard.web.bodies import IN_FLIGHT, Busy, Gone, InFlight, TooLarge, TooSlow
from leaderboard.web.errors import guarded
from leaderboard.web.visitors import Rate, visitor

Guard = Callable[[Callable[[Request], Response]], Callable[[Request], Response]]
LARGEST_IMAGE = 8_000_000  # bytes of a file
LARGEST_TABLE = 50_000_000  # bytes of a CSV or ZIP
LARGEST_ID = 64
WORKERS = 4  # threads of their own: uploads that wait for each other take none of the pages'
NO_STORE = {"cache-control": "no-store"}
BUSY = "Many visitors are sending files at this moment. Try again in a few seconds"


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
        guard=partial(guarded, db=site.db),
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
        return JSONResponse(examples.listing(), headers={"cache-control": "no-cache"})

    def planned(request: Request) -> Response:
        asked = request.query_params
        kinds = [kind for kind in asked.get("kinds", "")[:400].split(",") if kind]
        found = plan(kinds=kinds, mode=asked.get("mode", "")[:40])
        return JSONResponse(found, headers=NO_STORE)

    def picture(request: Request) -> Response:
        try:
            content = examples.picture(request.path_params["key"])
        except BadInput as error:
            return JSONResponse({"error": str(error)}, status_code=404, headers={"cache-control": "no-cache"})
        return Response(content, media_type="image/webp", headers={"cache-control": "public, max-age=3600"})

    return [
        Route("/live/input", bodies.taken(image, most=LARGEST_IMAGE, guard=guard), methods=["POST"]),
        Route("/live/file", bodies.taken(table, most=LARGEST_TABLE, guard=guard), methods=["POST"]),
        Route("/live/forget", bodies.taken(forget, most=LARGEST_ID, guard=guard, session=False), methods=["POST"]),
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
                return refused(NO_SESSION, 400)
            if session and self._rate is not None and (wait := self._rate.allow(visitor(request))):
                seconds = math.ceil(wait)
                return refused(f"That is a lot of files at once. Try again in {seconds} seconds", 429, again=seconds)
            try:
                async with self.in_flight.body(request, most=most) as body:
                    done = guard(lambda request: work(request, bytes(body)))
                    found = await asyncio.get_running_loop().run_in_executor(self._threads, done, request)
            except TooLarge:
                return _too_large(most)
            except Busy:
                return refused(BUSY, 429, again=5)
            except TooSlow:
                return refused("The file took too long to arrive. Try a smaller one", 400)
            except Gone:
                return refused("The file did not arrive", 400)
            found.headers.setdefault("cache-control", "no-store")
            return found

        return answer


def refused(sentence: str, status: int, *, again: int | None = None) -> JSONResponse:
    """A sentence for the visitor; `again`: seconds until another try makes sense."""
    headers = NO_STORE | ({} if again is None else {"retry-after": str(again)})
    return JSONResponse({"error": sentence}, status_code=status, headers=headers)


def _too_large(most: int) -> Response:
    if most == LARGEST_ID:
        return refused(NO_SESSION, 413)
    return refused(f"The file has more than {most // 1_000_000} MB. Save it smaller and add it again", 413)


def _session(request: Request) -> str:
    return request.headers["x-likeness-session"]
