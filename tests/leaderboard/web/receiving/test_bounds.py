"""What a request names and holds is bounded before anything else sees it."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from compute.types import LONGEST_KEY, UnknownKey, suggestion
from leaderboard.web.receiving import bounds
from leaderboard.web.receiving.bounds import Bounds
from leaderboard.web.responses import LONGEST_SENTENCE, refusal


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/{path:path}", lambda request: Response("own"), methods=["GET", "POST"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Bounds)]))


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/" + "p" * 1_000, {}, 414),
        ("/x?w=" + "q" * 16_000, {}, 414),
        ("/x?w=" + "q" * 8_001, {}, 414),
        ("/x?session_hash=" + "q" * 201, {}, 414),
        ("/x?" + "n" * 201 + "=1", {}, 414),
        ("/x?" + "&".join("abcdefg"[at % 7] for at in range(201)), {}, 414),
        ("/x", {"x-likeness-session": "a" * 201}, 431),
        ("/x", {"mcp-session-id": "a" * 201}, 431),
        ("/x", {"cookie": "a" * 32_001}, 431),
        ("/x", {"a" * 201: "1"}, 431),
    ],
    ids=["path", "query", "value", "key", "name", "parameters", "session", "mcp", "cookie", "header's name"],
)
def test_addresses_and_headers_beyond_bounds(
    client: TestClient, path: str, headers: dict[str, str], status: int
) -> None:
    for method in ("GET", "POST"):
        answer = client.request(method, path, headers=headers)
        assert answer.status_code == status and list(answer.json()) == ["error"] and len(answer.content) < 300


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"cookie": "a" * 16_000, "user-agent": "x" * 500, "x-likeness-session": "a" * 64}),
        ("/correlations?models=" + ",".join(["mieb/a-task-with-a-name"] * 200), {}),
        ("/data/rank/mieb?tasks=" + "%2C".join(["mieb%2Fa-task-with-a-name"] * 200) + "&w=a:2,b:3", {}),
        ("/thumbnails/" + "t" * 200 + "/" + "0" * 32 + ".webp", {}),
    ],
    ids=["headers", "keys", "escaped keys", "path"],
)
def test_addresses_that_the_pages_write_are_within_bounds(
    client: TestClient, path: str, headers: dict[str, str]
) -> None:
    assert client.get(path, headers=headers).text == "own"


def test_the_bounds_hold_the_keys_of_the_catalogue(suite_cache) -> None:
    from compute.catalog import shipped
    from leaderboard.data import suite_queries

    known = shipped()
    keys = [*(model.key for model in known.models), *(task.key for task in known.tasks)]
    for suite in suite_queries.suites(suite_cache.db)["key"]:
        table = suite_cache.table(suite)
        rows, columns = [row.id for row in table.rows], [column.key for column in table.columns]
        keys += [*rows, *columns, *(column.key for column in table.category_columns)]
        bounds.check({"rows": rows, "columns": columns, "query": "?tasks=" + ",".join(columns)})
    assert max(map(len, keys)) < LONGEST_KEY / 2


def test_a_sentence_is_bounded_and_valid() -> None:
    answer = refusal("\U0001f600" * 5_000 + "\ud800", 400)
    assert len(answer.body) < 4 * LONGEST_SENTENCE + 30
    assert refusal("half \ud800", 400).body == b'{"error":"half ?"}'


def test_a_long_key_is_compared_with_no_other() -> None:
    known = [f"model-{at}" for at in range(700)]
    assert suggestion("Model-7", known) == " Did you mean 'model-7'?" and suggestion("m" * 201, known) == ""
    sentence = str(UnknownKey("model", "m" * 5_000_000, known))
    assert len(sentence) < 300 and "mmm…" in sentence
