"""For other sites: a small table of a suite to show in a frame."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.api import records
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.formatting import rank_range
from leaderboard.html.templates import render
from leaderboard.page import SITE, Site
from leaderboard.web.parameters import Choice, Number, Text, parse
from leaderboard.web.responses import respond

PARAMETERS = (
    Text(key="suite", default="mieb"),
    Text(key="model"),
    Number(key="limit", default=5, low=1, high=20, whole=True),
    Choice(key="theme", default="", choices=("", "light", "dark")),
)


def routes(site: Site) -> list[Route]:
    """`/embed/board`, for frames on the sites that the host lets frame the app."""

    def board(request: Request) -> Response:
        values, _ = parse(PARAMETERS, request.query_params)
        content = _board(site.suite_cache, *values.values())
        etag = f'"{site.db.version}-{len(content):x}"'
        return respond(request, content, media="text/html; charset=utf-8", etag=etag)

    return [Route("/embed/board", site.guard(board))]


def _board(suite_cache: SuiteCache, suite: str, model: str, limit: int, theme: str) -> bytes:
    """The first rows of a suite, or the one of a model. Raises BadInput for keys that do not exist."""
    rows = records.leaderboard(suite_cache, suite)
    table = suite_cache.table(suite)
    records.check_keys(suite_cache, model=model)
    chosen = [row for row in rows if row["model"] == model] if model else rows[:limit]
    if not chosen:
        raise BadInput(f"{model} has no scores in {table.suite['title']}. Choose another suite")
    return render(
        "api/embed.html",
        site=SITE,
        suite=table.suite,
        rows=chosen,
        rank_range=rank_range,
        ranked=sum(row["rank"] is not None for row in rows),
        digits=table.category_columns[0].digits if table.category_columns else 2,
        theme=theme,
    ).encode()
