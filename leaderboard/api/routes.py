"""API v1: each function as a route, in JSON, CSV or Parquet, and its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.database.store import parquet_bytes
from compute.types import BadInput, LikenessError, unknown
from leaderboard.api import schemas
from leaderboard.api.schemas import Functions
from leaderboard.data.database import Database
from leaderboard.data.payload import encode
from leaderboard.web.errors import explain
from leaderboard.web.responses import (
    CHECK,
    HOURS,
    JSON,
    NO_STORE,
    compress,
    csv_bytes,
    refusal,
    respond,
    takes_brotli,
)

ROOT = "/api/v1"
PATHS = {  # by function
    "list_suites": "suites",
    "leaderboard": "suites/{suite}/ranking",
    "suite_scores": "suites/{suite}/scores",
    "model_facts": "models",
    "model_scores": "models/{model:path}",
    "task_scores": "tasks/{task:path}",
    "compare_models": "compare",
    "choose_model": "choose",
    "replication": "replication",
    "search": "search",
    "query": "query",
    "list_models": "pair",
    "score_pair": "pair",
}
METHODS = {"score_pair": "post"}  # the others take what the address says; this one JSON
OF_THE_SERVER = ("list_models",)  # the functions that answer what the server is ready for
ROWS = {"compare_models": "lines", "choose_model": "shortlist", "task_scores": "scores"}  # of an object, in a table
FORMS = {"json": JSON, "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
# In CSV too, whole numbers stay whole beside an empty cell.
TABLES = {"csv": lambda frame: csv_bytes(frame.convert_dtypes()), "parquet": parquet_bytes}
LONGEST = 6_000  # characters of a value in an address: those of a query
VERSION = "x-likeness-data"  # the header with the version of the data
DAY = "public, max-age=86400"
COMMON = {
    "format": "json, csv or parquet. Empty: as the header Accept says, else json.",
    "data": "the version of the data, which the answer repeats. Empty: the newest.",
}


def routes(db: Database, functions: Functions) -> list[Route]:
    """Returns a route per function, and that of the document."""
    document = encode(openapi(functions))

    def describe(request: Request) -> Response:
        return respond(request, document, cache=HOURS)

    return [
        Route(f"{ROOT}/openapi.json", describe),
        *(
            Route(f"{ROOT}/{path}", partial(_asked, db, functions[name]), methods=[METHODS.get(name, "get")])
            for name, path in PATHS.items()
        ),
        Route(ROOT + "/{path:path}", _nowhere),
    ]


def _nowhere(request: Request) -> Response:
    return refusal(f"{unknown('route', request.path_params['path'], PATHS.values())} openapi.json lists them all", 404)


async def _asked(db: Database, function: Callable[..., Any], request: Request) -> Response:
    return await run_in_threadpool(_answer, db, function, request, await request.body())


def _answer(db: Database, function: Callable[..., Any], request: Request, body: bytes) -> Response:
    """Returns the function's answer, or a sentence with status 404 if the path names something that does not exist."""
    name = function.__name__
    try:
        given, asked, form = _given(request, body if name in METHODS else b"{}")
        with db.snapshot(asked):
            version = db.data
            result = schemas.call(function, given, request=request)
        if form == "json":
            content = encode({"data": version, "result": result})
        else:
            content = TABLES[form](table(function, result))
    except Exception as error:
        nowhere = getattr(error, "noun", None) in request.path_params
        status = 404 if nowhere else 400 if isinstance(error, LikenessError) else 500
        return refusal(explain(error, action=f"{name} by {request.url.path}"), status)
    cache = NO_STORE if name in METHODS else CHECK if name in OF_THE_SERVER else DAY if asked else HOURS
    packs = takes_brotli(request) and form != "parquet"
    content = compress(content) if packs else content
    answer = respond(request, content, media=FORMS[form], cache=cache, compressed=packs)
    answer.headers.update({VERSION: version, "vary": "accept, accept-encoding"})
    if name == "query" and (notes := [result["truncated"], f"{result['cells']} texts are cut" * bool(result["cells"])]):
        answer.headers["x-likeness-truncated"] = "; ".join(filter(None, notes)).encode("ascii", "replace").decode()
    return answer


def _given(request: Request, body: bytes) -> tuple[dict[str, Any], str, str]:
    """Returns the arguments in an address and in a JSON body, the requested version of the data, and the format. Raises
    BadInput.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadInput("Send the arguments as one JSON object")
    pairs = [*given.items(), *request.query_params.multi_items(), *request.path_params.items()]
    if len(pairs) > len(given := dict(pairs)):
        raise BadInput("A parameter is given twice")
    for key, value in request.query_params.items():
        if len(value) > LONGEST:
            raise BadInput(f"{key} has more than {LONGEST} characters")
    accepted = request.headers.get("accept", "")
    form = str(given.pop("format", "") or "") or next(
        (form for form, media in FORMS.items() if media in accepted), "json"
    )
    if form not in FORMS:
        raise BadInput(unknown("format", form, FORMS, listed=True))
    return given, str(given.pop("data", "") or ""), form


def table(function: Callable[..., Any], result: Any) -> pd.DataFrame:
    """Returns the rows of an answer; nested cells are JSON."""
    if function.__name__ == "query":
        names, rows = [column["name"] for column in result["columns"]], result["rows"]
    else:
        records = result[ROWS[function.__name__]] if isinstance(result, dict) else result
        names = list(dict.fromkeys(name for row in records for name in row) or schemas.described(function).fields)
        rows = [[row.get(name) for name in names] for row in records]
    cells = [
        [json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else cell for cell in row]
        for row in rows
    ]
    return pd.DataFrame(cells, columns=names, dtype=object)


# ---- the document


def openapi(functions: Functions) -> dict[str, Any]:
    """Returns the OpenAPI 3.1 description of the routes."""
    paths: dict[str, dict[str, Any]] = {}
    for name, path in PATHS.items():
        method, address = METHODS.get(name, "get"), f"{ROOT}/{path.replace(':path', '')}"
        paths.setdefault(address, {})[method] = _operation(functions[name], path)
    return {"openapi": "3.1.0", "info": {"title": "Likeness", "version": "1"}, "paths": paths}


def _operation(function: Callable[..., Any], path: str) -> dict[str, Any]:
    about, name, text = schemas.described(function), function.__name__, {"type": "string"}
    takes = about.takes.model_json_schema()
    options = {key: {**text, "description": words} for key, words in COMMON.items()}
    given = options if name in METHODS else takes["properties"] | options
    answer = {"type": "object", "properties": {"data": text, "result": about.answers}}
    failed = {"type": "object", "properties": {"error": text}}
    return {
        "operationId": name,
        "summary": about.words,
        "parameters": [
            {
                "name": key,
                "in": "path" if "{" + key in path else "query",
                "required": key in takes.get("required", ()),
                "explode": False,  # several keys have commas between
                "schema": schema,
            }
            for key, schema in given.items()
        ],
        **({"requestBody": {"required": True, "content": {JSON: {"schema": takes}}}} if name in METHODS else {}),
        "responses": {
            "200": {
                "description": f"The answer; {VERSION} is the version of the data.",
                "content": {media: {"schema": answer} if form == "json" else {} for form, media in FORMS.items()},
            },
            "default": {"description": "Why there is none.", "content": {JSON: {"schema": failed}}},
        },
    }
