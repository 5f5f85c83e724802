"""What the browser fetches of a model: its table of scores."""

from __future__ import annotations

from starlette.routing import Route

from leaderboard.data.payload import compressed
from leaderboard.page import Site
from leaderboard.pages.model.listing import model_scores


def routes(site: Site) -> list[Route]:
    """The table of all scores."""
    scores = compressed(site.db, lambda model: model_scores(site.suite_cache, model=model), key="model")
    return [Route("/data/model", site.guard(scores))]
