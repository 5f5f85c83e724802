"""For other sites: a small table of a suite in a frame or by a script, and a badge with a model's range of ranks."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.api import records
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html import labels
from leaderboard.html.formatting import rank_range
from leaderboard.html.templates import render
from leaderboard.page import SITE, Site
from leaderboard.web.parameters import Choice, Number, Text, parse
from leaderboard.web.responses import HOURS, respond

SCRIPT = Path(__file__).with_name("embed.js")
PARAMETERS = (
    Text(key="suite", default="mieb"),
    Text(key="model"),
    Number(key="limit", default=5, low=1, high=20, whole=True),
    Choice(key="theme", default="", choices=("", "light", "dark")),
)


def routes(site: Site) -> list[Route]:
    """Returns the routes `/embed/board`, for frames on sites that the host allows, and `/embed.js` and `/badge`, for
    any site.
    """

    def board(request: Request) -> Response:
        values, _ = parse(PARAMETERS, request.query_params)
        return respond(request, _board(site.suite_cache, *values.values()), media="text/html; charset=utf-8")

    def badge(request: Request) -> Response:
        values, _ = parse(PARAMETERS[-1:], request.query_params)
        return respond(request, _badge(site, **request.path_params, **values), media="image/svg+xml", cache=HOURS)

    def script(request: Request) -> Response:
        return respond(request, SCRIPT.read_bytes(), media="text/javascript", cache=HOURS)

    return [
        Route("/embed/board", site.guard(board)),
        Route("/embed.js", script),
        Route("/badge/{suite}/{model:path}.svg", site.guard(badge)),
    ]


def _rows(suite_cache: SuiteCache, suite: str, model: str) -> tuple[list[records.Record], int]:
    """Returns the rows of a suite, or only those of the given model, and how many have a rank. Raises BadInput if there
    are none.
    """
    rows = records.leaderboard(suite_cache, suite)
    records.check_keys(suite_cache, model=model)
    shown = [row for row in rows if model in ("", row["model"])]
    if not shown:
        raise BadInput(f"{model or 'No model'} has no scores in {suite_cache.suites()[suite][0]}. Choose another suite")
    return shown, sum(row["rank"] is not None for row in rows)


def _badge(site: Site, suite: str, model: str, theme: str) -> bytes:
    """Returns a model's range of ranks in a suite, the number of ranked models, and the month of the data. Raises
    BadInput.
    """
    (row, *_), ranked = _rows(site.suite_cache, suite, model)
    place = (
        "not ranked"
        if row["rank"] is None
        else f"{rank_range(row['rank_low'], row['rank_high']) or row['rank']} of {ranked}"
    )
    dates = {one["version"]: one["date"] for one in site.db.records("versions")}
    month = dates.get(site.db.data, "")[:7]
    title = labels.plain_title(*site.suite_cache.suites()[suite])
    words = " · ".join(filter(None, (place, month)))
    return render("api/badge.svg", title=title, words=words, theme=theme).encode()


def _board(suite_cache: SuiteCache, suite: str, model: str, limit: int, theme: str) -> bytes:
    """Returns the first rows of a suite, or a model's row. Raises BadInput for unknown keys."""
    rows, ranked = _rows(suite_cache, suite, model)
    table = suite_cache.table(suite)
    return render(
        "api/embed.html",
        site=SITE,
        suite=table.suite,
        rows=rows[:limit],
        rank_range=rank_range,
        ranked=ranked,
        digits=table.category_columns[0].digits if table.category_columns else 2,
        theme=theme,
    ).encode()
