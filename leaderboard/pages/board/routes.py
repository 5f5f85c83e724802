"""What the board's scripts fetch: suites, rankings, the sources of a cell, and exports."""

from __future__ import annotations

import logging

from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from compute.types import BadInput, CannotWrite, DatabaseError
from leaderboard.data import payload
from leaderboard.data.mean_rule import RankChoice, choice, with_estimates
from leaderboard.data.scope import scope_of
from leaderboard.page import Site
from leaderboard.pages.board import export, provenance
from leaderboard.web.responses import CHECK, refusal, respond

MOST_FILTERS = 40  # that a caption names
log = logging.getLogger(__name__)


class ExportRequest(BaseModel):
    """What a view of the table is saved from, as the script sends it: `query` is the board's address, `filters` say in
    words which rows are shown, `shown` are the columns other than scores."""

    format: str
    rows: list[str]
    columns: list[str]
    query: str = ""
    filters: list[str] = []
    shown: list[str] = list(export.USUAL)


def routes(site: Site) -> list[Route]:
    """Returns the routes of suites, rankings, cells and files of the table."""
    suite_cache, db, guard = site.suite_cache, site.db, site.guard

    def board(request: Request) -> Response:
        suite, scope = request.path_params["suite"], scope_of(request.url.query)
        return respond(request, suite_cache.board(suite, scope), compressed=True)

    def rank(request: Request) -> Response:
        """Returns ranks by row, so only for the rows that were sent: a page with rows of another file must reload."""
        if request.query_params.get("version", db.version) != db.version:
            raise BadInput("The scores were updated after this page was opened. Reload it to see them")
        suite, query = request.path_params["suite"], request.url.query
        content = suite_cache.ranking(suite, choice(query), with_estimates(query))
        return respond(request, content)

    def cell(request: Request) -> Response:
        suite, chosen = request.path_params["suite"], choice(request.url.query)
        table, ranked = suite_cache.chosen_table(suite, chosen), suite_cache.ranked(suite, chosen)
        row, column = (request.query_params.get(name, "") for name in ("row", "column"))
        content = payload.encode(provenance.cell(db, table, ranked, row_id=row, key=column))
        return respond(request, content, cache="")

    def view(request: Request, body: bytes) -> Response:
        try:
            asked = ExportRequest.model_validate_json(body)
        except ValidationError as error:
            raise BadInput("The export needs format, rows and columns as JSON") from error
        suite, query = request.path_params["suite"], asked.query.removeprefix("?")
        chosen = choice(query)
        shown = export.BoardView(
            table=suite_cache.chosen_table(suite, chosen),
            ranked=suite_cache.ranked(suite, chosen),
            rows=asked.rows,
            columns=asked.columns,
            suite_ranked=suite_cache.ranked(suite, RankChoice(scope=chosen.scope)),
            estimates=suite_cache.estimates(suite, chosen) if with_estimates(query) else None,
            data=db.data,
        )
        return shown.file(asked.format, filters=asked.filters[:MOST_FILTERS], beside=asked.shown)

    async def export_view(request: Request) -> Response:
        body = await request.body()
        return await run_in_threadpool(guard(lambda request: view(request, body)), request)

    def everything(request: Request) -> Response:
        form = request.query_params.get("format", "csv")[:20]
        etag = f'"{db.version}-{form}"'
        headers = {"etag": etag, "cache-control": CHECK}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        try:
            name, path = export.everything(db, form)
        except (OSError, CannotWrite, DatabaseError) as error:
            log.warning("The export of everything as %s cannot be made: %s", form, error)
            return refusal("The file cannot be made at this moment. Try again later", 503, retry_after=60)
        return FileResponse(path, media_type=export.MEDIA[form], headers=headers, filename=name)

    return [
        Route("/data/board/{suite}", guard(board)),
        Route("/data/rank/{suite}", guard(rank)),
        Route("/data/cell/{suite}", guard(cell)),
        Route("/export/board/{suite}", export_view, methods=["POST"]),
        Route("/export/everything", guard(everything)),
    ]
