"""The table behind a correlation matrix: fetched when it is opened, or downloaded as CSV."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leaderboard.data import model_queries, payload, suite_queries
from leaderboard.data.memo import memoised
from leaderboard.page import Site
from leaderboard.pages.correlations.relations import PRESETS, Asked, Relation, Relations, asked_for, blank, cells
from leaderboard.pages.correlations.relations import parameters as known
from leaderboard.web.parameters import Parameter, parse
from leaderboard.web.responses import compress, download, respond

HEADS = ("first", "second", "correlation", "low", "high", "models", "note")


def routes(site: Site) -> list[Route]:
    """The routes; both take the page's own query string."""
    suite_cache, guard = site.suite_cache, site.guard
    relations = Relations(suite_cache)
    parameters = memoised(
        lambda: known(
            suites=suite_queries.suites(suite_cache.db)["key"], models=model_queries.models(suite_cache.db)["key"]
        ),
        of=suite_cache.db,
    )

    def asked(request: Request) -> Asked:
        return choice(parameters(), dict(request.query_params))

    def table(request: Request) -> Response:
        content = payload.encode(listing(relations.of(asked(request))))
        return respond(request, compress(content, quality=4), compressed=True)

    def export(request: Request) -> Response:
        content = sheet(relations.of(asked(request)))
        return download(content, name="correlations.csv", media="text/csv; charset=utf-8")

    return [Route("/data/relations", guard(table)), Route("/export/relations", guard(export))]


def choice(parameters: tuple[Parameter, ...], query: dict[str, str]) -> Asked:
    """The choice that a query string stands for; what it does not know falls back to its default."""
    values, _ = parse(parameters, {**PRESETS.get(query.get("preset", ""), {}), **query})
    return asked_for(values)


def rows(relation: Relation) -> list[list[Any]]:
    """One row a pair: labels, correlation, interval, models, why it is blank, and the two keys."""
    axes, matrix = relation.scores.axes, relation.matrix
    return [
        [
            axes[a].label,
            axes[b].label,
            *(_number(part[a, b]) for part in (matrix.r, matrix.low, matrix.high)),
            int(matrix.n[a, b]),
            blank(relation, a, b),
            axes[a].key,
            axes[b].key,
        ]
        for a, b in cells(relation)
    ]


def listing(relation: Relation) -> dict[str, Any]:
    """The pairs as a sortable table, the strongest first."""
    found = [row[:7] for row in rows(relation)]
    found.sort(key=lambda row: (row[2] is None, -abs(row[2] or 0)))
    figure = {"numeric": True, "digits": 2}
    columns = [
        {"key": "first", "title": "One"},
        {"key": "second", "title": "Other"},
        {"key": "correlation", "title": "Correlation", **figure},
        {"key": "low", "title": "95% from", **figure},
        {"key": "high", "title": "to", **figure},
        {"key": "models", "title": "Models", "numeric": True, "digits": 0},
    ]
    if any(row[6] for row in found):
        columns.append({"key": "note", "title": "Why blank"})
    return {"columns": columns, "rows": found, "caption": f"{len(found):,} pairs, the strongest first"}


def sheet(relation: Relation) -> bytes:
    """The pairs as CSV with their keys."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*HEADS, "first_key", "second_key", "method", "origin"))
    asked = relation.asked
    writer.writerows(
        [*("" if cell is None else cell for cell in row), asked.method, asked.origin] for row in rows(relation)
    )
    return out.getvalue().encode()


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)
