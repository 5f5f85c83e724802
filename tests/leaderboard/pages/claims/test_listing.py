"""The addresses of claims and of the published tables behind them."""

from __future__ import annotations

import pytest

from tests.leaderboard.served import client as client_of


@pytest.fixture(scope="module")
def client(suite_cache):
    return client_of(suite_cache, raises=False)


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
