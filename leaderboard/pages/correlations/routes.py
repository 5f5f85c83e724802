"""The table behind a correlation matrix: fetched when it is opened, or downloaded as CSV."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pandas as pd
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.rounding import clean
from leaderboard.data import payload
from leaderboard.data.database import Database, shared
from leaderboard.page import Site
from leaderboard.pages.correlations import query as correlation_query
from leaderboard.pages.correlations.matrix import CorrelationMatrix, matrix_of, why_blank
from leaderboard.web.parameters import Parameter
from leaderboard.web.responses import compress, csv_bytes, disposition, respond

HEADS = ("first", "second", "correlation", "low", "high", "models", "note")


def routes(site: Site) -> list[Route]:
    """Returns the routes; both take the page's own query string."""
    suite_cache, db = site.suite_cache, site.db

    def matrix(request: Request) -> CorrelationMatrix:
        return matrix_of(suite_cache, correlation_query.read(_parameters(db), request.query_params))

    def table(request: Request) -> Response:
        content = compress(payload.encode(listing(matrix(request))), quality=4)
        return respond(request, content, compressed=True)

    def export(request: Request) -> Response:
        content = compress(sheet(matrix(request)), quality=4)
        response = respond(request, content, media="text/csv; charset=utf-8", compressed=True)
        response.headers["content-disposition"] = disposition("correlations.csv")
        return response

    return [
        Route("/data/relations", site.guard(table)),
        Route("/export/relations", site.guard(export)),
    ]


@shared
def _parameters(db: Database) -> tuple[Parameter, ...]:
    return correlation_query.parameters(suites=db.query("suites")["key"])


def rows(matrix: CorrelationMatrix) -> list[list[Any]]:
    """Returns one row per pair: labels, correlation, interval, models, why it is blank, and the two keys."""
    axes, correlation = matrix.table.axes, matrix.correlation
    return [
        [
            axes[a].title,
            axes[b].title,
            *(
                None if math.isnan(part[a, b]) else clean(part[a, b])
                for part in (correlation.r, correlation.low, correlation.high)
            ),
            int(correlation.n[a, b]),
            why_blank(matrix, a, b),
            axes[a].key,
            axes[b].key,
        ]
        for a, b in itertools.combinations(range(len(axes)), 2)
    ]


def listing(matrix: CorrelationMatrix) -> dict[str, Any]:
    """Returns the pairs as a sortable table, the strongest first."""
    pairs = [row[:7] for row in rows(matrix)]
    pairs.sort(key=lambda row: (row[2] is None, -abs(row[2] or 0)))
    digits = {"correlation": 2, "low": 2, "high": 2, "models": 0}
    titles = ("One", "Other", "Correlation", "95% from", "to", "Models")
    columns = [
        {"key": key, "title": title, **({"numeric": True, "digits": digits[key]} if key in digits else {})}
        for key, title in zip(HEADS, titles, strict=False)
    ]
    if any(row[6] for row in pairs):
        columns.append({"key": "note", "title": "Why blank"})
    return {"columns": columns, "rows": pairs, "caption": f"{len(pairs):,} pairs, the strongest first"}


def sheet(matrix: CorrelationMatrix) -> bytes:
    """Returns the pairs as CSV with their keys."""
    frame = pd.DataFrame(rows(matrix), columns=[*HEADS, "first_key", "second_key"])
    frame = frame.assign(method=matrix.query.method, origin=" and ".join(matrix.table.shown_origins))
    return csv_bytes(frame)
