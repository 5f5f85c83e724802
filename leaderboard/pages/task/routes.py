"""Data of computed runs for the browser: their single items, small pictures, and how they were made."""

from __future__ import annotations

import re
from functools import partial
from operator import itemgetter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.types import UnknownKey
from leaderboard.data import payload, scores
from leaderboard.data.database import Database, shared
from leaderboard.data.scores import ScoreColumn
from leaderboard.page import Site
from leaderboard.pages.task import run_details
from leaderboard.pages.task.items import listing
from leaderboard.web.responses import CHECK, FOREVER, respond

IMAGE = re.compile(r"[0-9a-f]{32}")
COLUMNS = (
    ScoreColumn("model", "Model", of=itemgetter("title"), link="model?model="),
    ScoreColumn("kind", "Kind"),
    ScoreColumn("metric", "Metric", of=itemgetter("metric_title")),
    scores.SUBSET,
    *scores.VALUES,
    *scores.ORIGINS,
)
MOST_PICTURES = 4096  # cached in memory, about 6 MB


def routes(site: Site) -> list[Route]:
    """Returns the routes; a small picture never changes, since its name is a digest of the image."""
    db, guard = site.db, site.guard

    def items(request: Request) -> Response:
        """Reads the address; invalid parameters get their defaults."""
        params = request.query_params
        part = params.get("part", "")
        found = listing(
            site,
            task=params.get("task", "")[:200],
            models=list(filter(None, params.get("items", "")[:400].split(","))),
            show=params.get("show", "")[:20],
            order=params.get("order", "")[:20],
            subset=params.get("subset", "")[:100],
            part=int(part) if part.isdecimal() and len(part) < 7 else 1,
            every=params.get("every") == "yes",
        )
        return respond(request, payload.encode(found))

    def run(request: Request) -> Response:
        key = request.query_params.get("id", "")[:400]
        return respond(request, payload.encode(run_details.details(db, key=key)))

    def thumbnail(request: Request) -> Response:
        task, image = request.path_params["task"][:200], request.path_params["image"]
        content = _picture(db, task, image) if IMAGE.fullmatch(image) else None
        if content is None:
            return Response("Not found", status_code=404, headers={"cache-control": CHECK})
        return respond(request, content, media="image/webp", cache=FOREVER)

    return [
        site.table("task", lambda task: task_scores(db, task=task), key="task"),
        Route("/data/items", guard(items)),
        Route("/data/run", guard(run)),
        Route("/thumbnails/{task:path}/{image}.webp", guard(thumbnail)),
    ]


@partial(shared, most=MOST_PICTURES)
def _picture(db: Database, task: str, image: str) -> bytes | None:
    return next(map(bytes, db.query("thumbnail", task=task, image=image)["webp"]), None)


def task_scores(db: Database, *, task: str) -> dict[str, Any]:
    """Returns every score on one task, best first within the main metric. Raises UnknownKey."""
    if db.query("task", key=task).empty:
        raise UnknownKey("task", task, db.query("listed_tasks")["key"])
    return scores.listing(COLUMNS, db.records("task_scores", task=task), empty="No model has a score on this task yet.")
