"""What the browser fetches of the search: its index, made and compressed once a database file."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import Route

from leaderboard.data.payload import compressed
from leaderboard.page import Site
from leaderboard.search.index import index


def routes(site: Site, *, pages: Sequence[tuple[str, str]]) -> list[Route]:
    """The index. pages: titles and keys."""
    return [Route("/data/search", site.guard(compressed(site.db, lambda: index(site.suite_cache, pages=pages))))]
