"""The table of claims, the published tables behind it, and the addresses of both."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from compute.claims import CANNOT
from compute.types import SEVERITIES
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.claims.listing import claims
from tests.leaderboard.served import client as client_of


@pytest.fixture(scope="module")
def client(suite_cache: SuiteCache) -> TestClient:
    return client_of(suite_cache, raises=False)


def test_claims_are_all_there_with_conflicts_first(suite_cache):
    data = claims(suite_cache.db)
    counts, conflicts = data["counts"], data["counts"]["conflicts"]
    verdicts = [row[data["fields"].index("verdict")] for row in data["rows"]]
    assert len(verdicts) == counts["claims"] > counts["recomputed"] == len(verdicts) - verdicts.count(CANNOT)
    assert set(verdicts[:conflicts]) == {"conflict"} and "conflict" not in verdicts[conflicts:]
    severities = [row[data["fields"].index("severity")] for row in data["rows"][:conflicts]]
    assert severities == sorted(severities, key=SEVERITIES.index) and set(severities) == set(SEVERITIES)


def test_a_claim_leads_to_the_figures_that_its_formula_uses(suite_cache):
    data = claims(suite_cache.db)
    rows = {row[0]: dict(zip(data["fields"], row, strict=True)) for row in data["rows"]}
    claim = rows["pairbench-mmscore/mmscore-of-gemini-1.5-pro-all-splits"]
    tables = data["tables"][f"{claim['paper']}|{claim['formula']}"]
    assert [table["source"] for table in tables] == [f"PairBench Table {number}" for number in range(3, 8)]


def test_routes_answer_and_refuse_plainly(client):
    first = client.get("/data/claims")
    assert first.status_code == 200 and first.headers["content-encoding"] == "br"
    assert client.get("/data/claims", headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert client.get("/data/task", params={"task": "unisim/nights"}).json()["rows"]
    assert client.get("/published/unisim-table-2.csv").text.startswith("model,")
    assert "# Corrections" in client.get("/published/CORRECTIONS.md").text
    assert "# Changes of the figures" in client.get("/published/CHANGELOG.md").text
    for address in (
        "/data/model",
        "/data/task?task=%3Cb%3E",
        "/published/tables.csv",
        "/published/..%2fcatalog",
    ):
        answer = client.get(address)
        assert answer.status_code in (400, 404), address
        assert "Traceback" not in answer.text
