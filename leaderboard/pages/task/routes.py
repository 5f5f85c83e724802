"""What the browser fetches of computed runs: their single items, small pictures, and what they were made with."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leaderboard.data import payload
from leaderboard.data.memo import memoised
from leaderboard.page import Site
from leaderboard.pages.task import run_details
from leaderboard.pages.task.items import ItemQuery, listing
from leaderboard.pages.task.listing import task_scores
from leaderboard.web.responses import CHECK, FOREVER, respond

IMAGE = re.compile(r"[0-9a-f]{32}")
MOST_PICTURES = 4096  # cached in memory, about 6 MB


def routes(site: Site) -> list[Route]:
    """The routes; a small picture never changes, since its name is a digest of the image."""
    db, guard = site.db, site.guard
    picture = memoised(
        lambda task, image: next(map(bytes, db.query("thumbnail", task=task, image=image)["webp"]), None),
        most=MOST_PICTURES,
        of=db,
    )

    def items(request: Request) -> Response:
        return respond(request, payload.encode(listing(site, item_query(request.query_params))))

    def run(request: Request) -> Response:
        key = request.query_params.get("id", "")[:400]
        return respond(request, payload.encode(run_details.details(db, key=key)))

    def thumbnail(request: Request) -> Response:
        task, image = request.path_params["task"][:200], request.path_params["image"]
        content = picture(task, image) if IMAGE.fullmatch(image) else None
        if content is None:
            return Response("Not found", status_code=404, headers={"cache-control": CHECK})
        return respond(request, content, media="image/webp", cache=FOREVER)

    return [
        site.table("task", lambda task: task_scores(db, task=task), key="task"),
        Route("/data/items", guard(items)),
        Route("/data/run", guard(run)),
        Route("/thumbnails/{task:path}/{image}.webp", guard(thumbnail)),
    ]


def item_query(params: Mapping[str, str]) -> ItemQuery:
    """The parameters of an address as a query; what cannot be read becomes the default."""
    part = params.get("part", "")
    models = tuple(filter(None, params.get("items", "")[:400].split(",")))
    return ItemQuery(
        task=params.get("task", "")[:200],
        models=models,
        show=params.get("show", "")[:20],
        order=params.get("order", "")[:20],
        subset=params.get("subset", "")[:100],
        part=int(part) if part.isdecimal() and len(part) < 7 else 1,
        every=params.get("every") == "yes",
    )
