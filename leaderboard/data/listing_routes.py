"""What the pages of a model, a task and the claims fetch: their long tables, and the printed tables as files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.data import listings, payload
from leaderboard.data.memo import memoised
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.web.errors import Handler
from leaderboard.web.responses import compress, download, respond


def routes(suite_cache: SuiteCache, *, guard: Callable[[Handler], Handler]) -> list[Route]:
    """The routes; `guard` turns an error into one plain line. Answers are compressed once and kept."""
    packed = memoised(lambda make, *key: compress(payload.encode(make(*key))), most=256, of=suite_cache.db)

    def answer(request: Request, make: Callable[..., dict[str, Any]], *key: str) -> Response:
        content = packed(make, *key)
        return respond(request, content, etag=f'"{suite_cache.db.version}-{len(content):x}"', compressed=True)

    def claims(request: Request) -> Response:
        return answer(request, all_claims)

    def all_claims() -> dict[str, Any]:
        return listings.claims(suite_cache)

    def of_model(key: str) -> dict[str, Any]:
        return listings.model_scores(suite_cache, model=key)

    def of_task(key: str) -> dict[str, Any]:
        return listings.task_scores(suite_cache, task=key)

    def model(request: Request) -> Response:
        return answer(request, of_model, request.query_params.get("model", "")[:200])

    def task(request: Request) -> Response:
        return answer(request, of_task, request.query_params.get("task", "")[:200])

    return [
        Route("/data/claims", guard(claims)),
        Route("/data/model", guard(model)),
        Route("/data/task", guard(task)),
        Route("/published/{name}", guard(published)),
    ]


def published(request: Request) -> Response:
    """One table of a paper as printed, or the list of corrections. Raises BadInput for a table that is not listed."""
    from compute.catalog.published import PUBLISHED, read_csv

    if request.path_params["name"] == "CORRECTIONS.md":
        return Response((PUBLISHED / "CORRECTIONS.md").read_bytes(), media_type="text/plain; charset=utf-8")
    key = request.path_params["name"].removesuffix(".csv")
    known = list(read_csv(PUBLISHED / "tables.csv")["key"])
    if key not in known:
        raise BadInput(f"There is no published table {key!r}. Choose one from the claims page")
    return download((PUBLISHED / f"{key}.csv").read_bytes(), name=f"{key}.csv", media="text/csv; charset=utf-8")
