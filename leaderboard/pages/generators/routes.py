"""What the browser fetches of drawn generators: their images, drawn when they are asked for."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.tasks.mini import generators as drawn
from compute.tasks.mini.album import png
from leaderboard.data.memo import memoised
from leaderboard.page import Site
from leaderboard.web.responses import CHECK, FOREVER, respond

REFERENCE = "reference"
MOST_PICTURES = 1024  # cached in memory, about 5 MB


def routes(site: Site) -> list[Route]:
    """The route of a drawn image; it never changes, since its address names the version of the drawings."""
    picture = memoised(image, most=MOST_PICTURES)

    def handle(request: Request) -> Response:
        version, row = request.path_params["version"], request.path_params["row"]
        content = picture(request.path_params["generator"][:40], row) if version == drawn.VERSION else None
        if content is None:
            return Response("Not found", status_code=404, headers={"cache-control": CHECK})
        return respond(request, content, media="image/png", cache=FOREVER)

    return [Route("/drawn/{version:int}/{generator}/{row:int}.png", site.guard(handle))]


def image(generator: str, row: int) -> bytes | None:
    """The image of a prompt by a drawn generator, or the prompt's reference, as PNG; None for one that is not there."""
    if not 0 <= row < drawn.PROMPTS:
        return None
    if generator == REFERENCE:
        return png(drawn.reference_image(row))
    return png(drawn.image(generator, row)) if generator in drawn.STRENGTHS else None
