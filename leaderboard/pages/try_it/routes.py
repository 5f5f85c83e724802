"""Requests of the Try page: uploads into memory, ready examples, and which questions fit."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from compute.live import examples
from compute.live.decoder import DecoderUnavailable
from compute.types import BadInput
from leaderboard.data.related_figures import related_figures
from leaderboard.html.templates import render
from leaderboard.live.live import FILES, MOST_MODELS, rate
from leaderboard.live.uploads import NO_SESSION, SESSION
from leaderboard.page import Site
from leaderboard.web.errors import Handler
from leaderboard.web.responses import CHECK, NO_STORE, refusal
from leaderboard.web.visitors import Rate, visitor

Guard = Callable[[Handler], Handler]
WORKERS = 4  # threads for uploads alone, so that waiting uploads block no page
OF_VISITOR = 2  # of them, so that one visitor's slow files leave others a thread; as many as are decoded at once


def routes(site: Site) -> list[Route]:
    """Returns the routes of the tray."""
    live, guard = site.live, site.guard
    uploads, uploaded = live.uploads, Uploaded(rate(files=FILES))

    def image(request: Request, body: bytes) -> Response:
        try:
            return JSONResponse(uploads.add_image(_session(request), body, owner=visitor(request)))
        except DecoderUnavailable as error:
            return refusal(str(error), 503, retry_after=5)

    def table(request: Request, body: bytes) -> Response:
        return JSONResponse({"key": uploads.add_file(_session(request), body, owner=visitor(request))})

    def forget(request: Request, body: bytes) -> Response:
        uploads.forget(body.decode("latin-1"))
        return Response(status_code=204)

    def listing(request: Request) -> Response:
        return JSONResponse(examples.listing(), headers={"cache-control": CHECK})

    def planned(request: Request) -> Response:
        query = request.query_params
        kinds = [kind for kind in query.get("kinds", "")[:400].split(",") if kind]
        plan = live.roster.plan(kinds=kinds, mode=query.get("mode", "")[:40])
        return JSONResponse(plan, headers={"cache-control": NO_STORE})

    def published(request: Request) -> Response:
        """Returns published scores for a kind of question as markup, by model."""
        query = request.query_params
        mode, question = (query.get(name, "")[:40] for name in ("mode", "question"))
        kinds = query.get("kinds", "")[:400].split(",")
        models = query.getlist("model")[:MOST_MODELS]
        found = related_figures(site.suite_cache, models=models, mode=mode, kinds=kinds, question=question)
        markup = {model: render("pages/try_it/published.html", records=records) for model, records in found.items()}
        return JSONResponse(markup, headers={"cache-control": NO_STORE})

    def picture(request: Request) -> Response:
        try:
            content = examples.picture(request.path_params["key"])
        except BadInput as error:
            return refusal(str(error), 404, cache=CHECK)
        return Response(content, media_type="image/webp", headers={"cache-control": "public, max-age=3600"})

    return [
        Route("/live/input", uploaded.handler(image, guard=guard), methods=["POST"]),
        Route("/live/file", uploaded.handler(table, guard=guard), methods=["POST"]),
        Route("/live/forget", uploaded.handler(forget, guard=guard, session=False), methods=["POST"]),
        Route("/live/plan", guard(planned)),
        Route("/live/examples", guard(listing)),
        Route("/live/published", guard(published)),
        Route("/live/example/{key}.webp", guard(picture)),
    ]


class Uploaded:
    """Handles requests in a few threads; each visitor has a share."""

    def __init__(self, rate: Rate | None) -> None:
        self._rate = rate
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="uploads")
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # gone when nobody waits

    def handler(self, work: Callable[[Request, bytes], Response], *, guard: Guard, session: bool = True) -> Callable:
        """Returns a route's handler; with `session`, it needs one and counts as an upload."""

        async def answer(request: Request) -> Response:
            if session and not SESSION.fullmatch(request.headers.get("x-likeness-session", "")):
                return refusal(NO_SESSION, 400)
            if session and self._rate is not None and (wait := self._rate.allow(visitor(request))):
                seconds = math.ceil(wait)
                sentence = f"That is a lot of files at once. Try again in {seconds} seconds"
                return refusal(sentence, 429, retry_after=seconds)
            body = await request.body()
            share = self._shares.setdefault(visitor(request), asyncio.Semaphore(OF_VISITOR))
            async with share:
                handle = guard(lambda request: work(request, body))
                response = await asyncio.get_running_loop().run_in_executor(self._threads, handle, request)
            response.headers.setdefault("cache-control", NO_STORE)
            return response

        return answer


def _session(request: Request) -> str:
    return request.headers["x-likeness-session"]
