"""What browsers, search engines and other sites fetch about the site as a whole."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leaderboard.face.heads import PICTURES, Heads
from leaderboard.face.pictures import Pictures
from leaderboard.face.sitemap import Sitemap
from leaderboard.web.responses import respond

ICON = Path(__file__).parent / "icon.svg"
ICON_PNG = ICON.with_suffix(".png")  # for browsers that show no SVG, and for home screens
CACHE = "public, max-age=86400"


def routes(heads: Heads, sitemap: Sitemap) -> list[Route]:
    """Share pictures, the icon, the sitemap and robots.txt."""
    return [
        Route(f"/{PICTURES}/{{name}}.png", Pictures(heads).answer),
        Route("/static/icon.svg", icon),
        Route("/sitemap.xml", sitemap.sitemap),
        Route("/robots.txt", sitemap.robots),
    ]


async def icon(request: Request) -> Response:
    """The icon of the tab."""
    return respond(request, ICON.read_bytes(), media="image/svg+xml", cache=CACHE)
