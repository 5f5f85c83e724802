"""What the browser fetches of the list of tasks."""

from __future__ import annotations

from starlette.routing import Route

from leaderboard.data.payload import compressed
from leaderboard.page import Site
from leaderboard.pages.tasks.listing import tasks


def routes(site: Site) -> list[Route]:
    """The list, made and compressed once a database file."""
    return [Route("/data/tasks", site.guard(compressed(site.db, lambda: tasks(site.suite_cache))))]
