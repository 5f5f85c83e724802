"""The table of claims, the published tables behind it, and the addresses of both."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from leaderboard.data import suite_queries
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.claims.listing import claims, tables_of
from tests.leaderboard.served import client as client_of


@pytest.fixture(scope="module")
def client(suite_cache: SuiteCache) -> TestClient:
    return client_of(suite_cache, raises=False)


def test_claims_are_all_there_with_conflicts_first(suite_cache):
    data = claims(suite_cache.db)
    counts = suite_queries.counts(suite_cache.db).iloc[0]
    verdicts = [row[data["fields"].index("verdict")] for row in data["rows"]]
    assert len(verdicts) == counts.claims
    assert set(verdicts[: counts.conflicts]) == {"conflict"}
    assert "conflict" not in verdicts[counts.conflicts :]


def test_locations_in_a_paper_name_their_tables():
    sources = {f"P Table {number}": {"key": str(number)} for number in (2, 6, 22)}
    keys = lambda where: [entry["key"] for entry in tables_of("P", where, sources=sources)]  # noqa: E731
    assert keys("Tables 2 and 6") == ["2", "6"]
    assert keys("Table 22, heading") == ["22"]
    assert keys("Section 4.2, caption of Table 2") == ["2"]
    assert keys("Section 2") == keys("Table 3") == []
    assert tables_of("Q", "Table 2", sources=sources) == []


def test_routes_answer_and_refuse_plainly(client):
    first = client.get("/data/claims")
    assert first.status_code == 200 and first.headers["content-encoding"] == "br"
    assert client.get("/data/claims", headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert client.get("/data/task", params={"task": "unisim/nights"}).json()["rows"]
    assert client.get("/published/unisim-table-2.csv").text.startswith("model,")
    assert "# Corrections" in client.get("/published/CORRECTIONS.md").text
    for address in (
        "/data/model",
        "/data/task?task=%3Cb%3E",
        "/published/tables.csv",
        "/published/..%2fcatalog",
    ):
        answer = client.get(address)
        assert answer.status_code in (400, 404), address
        assert "Traceback" not in answer.text
