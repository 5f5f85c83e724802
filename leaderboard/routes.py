"""What the browser fetches outside Gradio's events: static files, table data, exports; compressed once."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qs

import brotli
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from compute.types import BadInput, LikenessError
from leaderboard import export, routes_items, routes_pages, routes_relations, static
from leaderboard.board import payload, places, ranked
from leaderboard.board import table as tables
from leaderboard.kept import kept
from leaderboard.queries import Database

LARGEST_BODY = 1_000_000  # bytes of a posted export request
log = logging.getLogger(__name__)


class Boards:
    """Tables, rankings and payloads of a database, each made once a file."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.components = static.version()
        self.table = kept(lambda suite: tables.load(db, suite=suite), of=db)
        self.ranked = kept(self._ranked, most=256, of=db)
        self.board = kept(self._board, of=db)
        self.ranking = kept(self._ranking, most=256, of=db)

    @property
    def version(self) -> str:
        """What tells a payload from those of other files and of other components."""
        return f"{self.db.version}-{self.components}"

    def _ranked(self, suite: str, weights: tuple[tuple[str, float], ...] = (), tasks: frozenset[str] | None = None,
                coverage: float | None = None) -> ranked.Ranked | None:
        return ranked.rank(self.table(suite), weights=dict(weights), tasks=tasks, coverage=coverage)

    def _board(self, suite: str) -> bytes:
        data = payload.board(self.db, self.table(suite), self.ranked(suite))
        return brotli.compress(payload.encode(data), quality=5)

    def _ranking(self, suite: str, *choice: object) -> bytes:
        return payload.encode(payload.ranking(self.table(suite), self.ranked(suite, *choice), families=True))


def routes(boards: Boards) -> list[Route]:
    """The routes to hand to the server."""
    guard = partial(guarded, db=boards.db)
    return [
        *static.routes(),
        Route("/data/board/{suite}", guard(lambda request: _board(boards, request))),
        Route("/data/rank/{suite}", guard(lambda request: _rank(boards, request))),
        Route("/data/cell/{suite}", guard(lambda request: _cell(boards, request))),
        Route("/export/board/{suite}", _export_view(boards, guard=guard), methods=["POST"]),
        Route("/export/everything", guard(lambda request: _export_all(boards, request))),
        *routes_pages.routes(boards, guard=guard),
        *routes_relations.routes(boards, guard=guard),
        *routes_items.routes(boards, guard=guard),
    ]


def choice(query: str) -> tuple[tuple[tuple[str, float], ...], frozenset[str] | None, float | None]:
    """Weights, tasks and coverage of a query string, sorted so that equal choices are equal. Raises BadInput."""
    given = {key: values[-1] for key, values in parse_qs(query[:8000]).items()}
    weights = []
    for part in filter(None, given.get("w", "").split(",")):
        name, _, text = part.rpartition(":")
        try:
            weight = float(text)
        except ValueError as error:
            raise BadInput(f"The weight of {name!r} is {text!r}, not a number") from error
        if not 0 <= weight <= 100:
            raise BadInput(f"The weight of {name!r} must lie between 0 and 100")
        if weight != 1:
            weights.append((name, weight))
    tasks = frozenset(filter(None, given.get("tasks", "").split(","))) or None
    try:
        coverage = float(given["coverage"]) if "coverage" in given else None
    except ValueError as error:
        raise BadInput("The minimum coverage is a number from 0 to 1") from error
    if coverage is not None and not 0 <= coverage <= 1:
        raise BadInput("The minimum coverage is a number from 0 to 1")
    return tuple(sorted(weights)), tasks, coverage


def _board(boards: Boards, request: Request) -> Response:
    suite = request.path_params["suite"]
    boards.table(suite)
    etag = f'"{boards.version}-{suite}"'
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={"etag": etag})
    content = boards.board(suite)
    headers = {"etag": etag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if "br" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "br"
    else:
        content = brotli.decompress(content)
    return Response(content, media_type="application/json", headers=headers)


def _rank(boards: Boards, request: Request) -> Response:
    """Ranks by row, so only for the rows that were sent: a page with those of another file is told to reload."""
    if request.query_params.get("version", boards.db.version) != boards.db.version:
        raise BadInput("The figures have been renewed since this page was opened. Reload it to see them")
    content = boards.ranking(request.path_params["suite"], *choice(request.url.query))
    return Response(content, media_type="application/json", headers={"cache-control": "no-cache"})


def _cell(boards: Boards, request: Request) -> Response:
    suite = request.path_params["suite"]
    table, ranked = boards.table(suite), boards.ranked(suite, *choice(request.url.query))
    row, column = request.query_params.get("row", ""), request.query_params.get("column", "")
    return Response(
        payload.encode(places.cell(boards.db, table, ranked, row_id=row, key=column)), media_type="application/json"
    )


def _export_view(boards: Boards, *, guard: Callable) -> Callable:
    async def answer(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_BODY:
                break

        def make(_: Request) -> Response:
            if len(body) > LARGEST_BODY:
                raise BadInput("The export asks for too much at once. Filter the rows first")
            try:
                asked = json.loads(body)
                rows, columns = [str(row) for row in asked["rows"]], [str(column) for column in asked["columns"]]
                form, query = str(asked["format"]), str(asked.get("query", "")).removeprefix("?")
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise BadInput("The export needs format, rows and columns as JSON") from error
            suite = request.path_params["suite"]
            return _download(export.view(boards.table(suite), boards.ranked(suite, *choice(query)), rows=rows,
                                         columns=columns, form=form))

        return await run_in_threadpool(guard(make), request)

    return answer


def _export_all(boards: Boards, request: Request) -> Response:
    return _download(export.everything(boards.db, form=request.query_params.get("format", "csv")))


def _download(file: export.File) -> Response:
    return Response(file.content, media_type=file.media,
                    headers={"content-disposition": f'attachment; filename="{file.name}"'})


def guarded(answer: Callable[[Request], Response], *, db: Database) -> Callable[[Request], Response]:
    """One plain line instead of a traceback, whatever goes wrong; all of an answer is of one file."""

    def told(request: Request) -> Response:
        try:
            with db.hold():
                return answer(request)
        except LikenessError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        except Exception:
            log.exception("Request to %s failed", request.url.path)
            return JSONResponse({"error": "Something failed on the server. Reload the page, or try again later"},
                                status_code=500)

    return told
