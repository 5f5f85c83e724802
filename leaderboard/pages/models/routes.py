"""What the browser fetches of the list of models."""

from __future__ import annotations

from starlette.routing import Route

from leaderboard.data.payload import compressed
from leaderboard.page import Site
from leaderboard.pages.models.listing import models


def routes(site: Site) -> list[Route]:
    """The list, made and compressed once a database file."""
    return [Route("/data/models", site.guard(compressed(site.db, lambda: models(site.suite_cache))))]
