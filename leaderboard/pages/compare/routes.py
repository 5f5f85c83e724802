"""What the Try page sends and fetches: uploads into memory, ready examples, and which questions fit."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from compute.live import examples
from compute.live.batch import LARGEST_FILE
from compute.live.decoder import DecoderUnavailable
from compute.live.inputs import LARGEST_IMAGE
from compute.types import BadInput
from leaderboard.live.panel import uploads_rate
from leaderboard.live.uploads import Uploads
from leaderboard.page import Site
from leaderboard.web.errors import Handler
from leaderboard.web.receiving.bodies import BoundedRoute, InFlight, TooLarge, UnreadBody, unread
from leaderboard.web.responses import CHECK, NO_STORE, refusal
from leaderboard.web.visitors import Rate, visitor

Guard = Callable[[Handler], Handler]
WORKERS = 4  # threads for uploads alone, so that waiting uploads block no page


def routes(site: Site) -> list[Route]:
    """What the tray sends and fetches."""
    live = site.panel.live
    return routes_of(
        live.uploads,
        guard=site.guard,
        rate=uploads_rate(),
        plan=lambda **query: live.roster.plan(**query),  # the roster is built with the first question
        ready=site.panel.ready.records,
    )


def routes_of(
    uploads: Uploads,
    *,
    guard: Guard,
    rate: Rate | None,
    plan: Callable[..., Mapping[str, Any]],
    ready: Callable[[], Mapping[str, Any]],
) -> list[Route]:
    """The routes; `rate` limits uploads by visitor, None: no limit. `plan(kinds, mode)`: which questions fit.

    `ready()`: which models get the ready comparisons.
    """
    in_flight, threads = InFlight(), ThreadPoolExecutor(WORKERS, thread_name_prefix="uploads")

    def image(request: Request, body: bytes) -> Response:
        try:
            return JSONResponse(uploads.add_image(_session(request), body))
        except DecoderUnavailable as error:
            return refusal(str(error), 503, retry_after=5)

    def table(request: Request, body: bytes) -> Response:
        return JSONResponse({"key": uploads.add_file(_session(request), body)})

    async def forget(request: Request) -> Response:
        uploads.forget((await request.body()).decode("latin-1"))
        return Response(status_code=204)

    def listing(request: Request) -> Response:
        return JSONResponse(examples.listing(), headers={"cache-control": CHECK})

    def planned(request: Request) -> Response:
        query = request.query_params
        kinds = [kind for kind in query.get("kinds", "")[:400].split(",") if kind]
        return JSONResponse(plan(kinds=kinds, mode=query.get("mode", "")[:40]), headers={"cache-control": NO_STORE})

    def answered(request: Request) -> Response:
        return JSONResponse(ready(), headers={"cache-control": NO_STORE})

    def picture(request: Request) -> Response:
        try:
            content = examples.picture(request.path_params["key"])
        except BadInput as error:
            return refusal(str(error), 404, cache=CHECK)
        return Response(content, media_type="image/webp", headers={"cache-control": "public, max-age=3600"})

    def upload(work: Callable[[Request, bytes], Response], *, most: int) -> Callable:
        """The handler of an upload of at most `most` bytes, worked on in threads of their own."""

        async def answer(request: Request) -> Response:
            if rate is not None and (wait := rate.allow(visitor(request))):
                seconds = math.ceil(wait)
                sentence = f"That is a lot of files at once. Try again in {seconds} seconds"
                return refusal(sentence, 429, retry_after=seconds)
            try:
                async with in_flight.body(request, most=most) as body:
                    handle = guard(lambda request: work(request, body))
                    response = await asyncio.get_running_loop().run_in_executor(threads, handle, request)
            except TooLarge as error:
                return unread(
                    error, f"The file is larger than {most // 1_000_000} MB. Save it smaller and add it again"
                )
            except UnreadBody as error:
                return unread(error)
            response.headers.setdefault("cache-control", NO_STORE)
            return response

        return answer

    return [
        BoundedRoute("/live/input", upload(image, most=LARGEST_IMAGE), methods=["POST"]),
        BoundedRoute("/live/file", upload(table, most=LARGEST_FILE), methods=["POST"]),
        Route("/live/forget", forget, methods=["POST"]),
        Route("/live/plan", guard(planned)),
        Route("/live/examples", guard(listing)),
        Route("/live/ready", guard(answered)),
        Route("/live/example/{key}.webp", guard(picture)),
    ]


def _session(request: Request) -> str:
    return request.headers.get("x-likeness-session", "")
