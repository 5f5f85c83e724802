"""Page for SQL queries of the database: `sql?query=<text>` fills in a query, and only Run sends it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.paths import DOCS
from compute.types import BadInput
from leaderboard.data.database import Database
from leaderboard.data.payload import encode
from leaderboard.data.visitors import sandbox
from leaderboard.data.visitors.visitor_queries import LONGEST_CELL, LONGEST_SQL, MOST_ROWS, SECONDS
from leaderboard.html.components import scripted
from leaderboard.html.templates import render
from leaderboard.page import PAPERS, Site, View
from leaderboard.web.limits import QUERIES
from leaderboard.web.responses import NO_STORE

HERE = Path(__file__).parent
TABLE = re.compile(r"^### ([a-z_]+)\n\n(.+?)\n\n", re.MULTILINE | re.DOTALL)  # of docs/results.md
MARKS = re.compile(r" ?\[[^]]*\]\([^)]*\)\.?|`")  # links, and the marks of code

BOUNDS = (
    f"One SELECT, read-only, in DuckDB's dialect, with at most {MOST_ROWS:,} rows and {SECONDS:g} s; {QUERIES} run at "
    f"a time, of all visitors. Texts are cut after {LONGEST_CELL:,} characters. "
    "Proportions are stored as fractions: 0.851 for a printed 85.1."
)


class Written(BaseModel):
    """A visitor's query."""

    sql: str


def draw(site: Site) -> None:
    """Draws static text and the component, which keeps the query in the address itself."""
    mount = "module.mount(target, {description: 'data/sql', answer: 'data/sql'});"
    scripted(
        site.assets,
        script="pages/sql/sql.js",
        run=mount,
        css_class="likeness-board lk-sql",
        data="data/sql",
        rows=first,
    )


def first(query: Mapping[str, str]) -> Markup:
    """Returns the query of an address, the examples and the limits, shown before the component is loaded."""
    sql = query.get("query") or examples()[0]["sql"]
    return render("pages/sql/first.html", sql=sql, examples=examples(), bounds=BOUNDS)


def routes(site: Site) -> list[Route]:
    """Returns the description of the database, and the queries."""
    description = site.packed(lambda: described(site.db))

    async def answer(request: Request) -> Response:
        if request.method != "POST":  # whatever its address says
            return await run_in_threadpool(description, request)
        body = await request.body()

        def answered(request: Request) -> Response:
            try:
                sql = Written.model_validate_json(body).sql
            except ValidationError as error:
                raise BadInput('Send the query as JSON: {"sql": "SELECT ..."}') from error
            content = encode(sandbox.answer(site.db, sql))
            return Response(content, media_type="application/json", headers={"cache-control": NO_STORE})

        return await run_in_threadpool(site.guard(answered), request)

    return [Route("/data/sql", answer, methods=["GET", "POST"])]


def described(db: Database) -> dict[str, Any]:
    """Returns the tables with their columns, the examples, and the bounds in words."""
    columns = {str(name): group for name, group in db.query("columns").groupby("table_name", sort=False)}
    words = table_words()
    order = [*(name for name in words if name in columns), *sorted(columns.keys() - words.keys())]
    return {
        "tables": [
            {
                "name": name,
                "words": words.get(name, ""),
                "columns": columns[name][["column_name", "data_type"]].to_numpy().tolist(),
            }
            for name in order
        ],
        "examples": examples(),
        "longest": LONGEST_SQL,
        "bounds": BOUNDS,
    }


@cache
def table_words() -> dict[str, str]:
    """Returns the content of each table and view, from the documentation, in display order."""
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    return {name: MARKS.sub("", " ".join(words.split())) for name, words in TABLE.findall(text)}


@cache
def examples() -> list[dict[str, str]]:
    """Queries to start from: title, sql."""
    listed = tomllib.loads((HERE / "examples.toml").read_text(encoding="utf-8"))["example"]
    return [{"title": example["title"], "sql": example["sql"].strip()} for example in listed]


SQL = View(
    key="sql",
    title="SQL",
    sentence="Read the whole database with one SELECT: every score, run, model, task and claim. Start from an example "
    "or write your own; the address holds the query.",
    cites=PAPERS,
    group="Docs",
    draw=draw,
    routes=routes,
)
