"""The SQL page's answers: a description of the database, examples that run, and queries by POST alone."""

import pytest

from compute.database.schema import TABLES
from leaderboard.pages.sql.page import examples, table_words


def test_every_table_has_words():
    assert set(table_words()) == {*TABLES, "leaderboard_scores", "measured", "trained_tasks"}


@pytest.mark.parametrize("example", examples(), ids=lambda example: example["title"])
def test_every_example_answers_with_rows(client, example):
    answer = client.post("/data/sql", json={"sql": example["sql"]})
    assert answer.status_code == 200, answer.text
    assert answer.json()["rows"] and not answer.json()["truncated"]
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"sql": 1}', b'{"query": "SELECT 1"}', b"\xff", b"[" * 50_000])
def test_a_body_that_is_no_query_is_refused(client, body):
    answer = client.post("/data/sql", content=body)
    assert answer.status_code == 400 and "SELECT" in answer.json()["error"]


def test_an_answer_without_rows_names_the_nearest_keys(client):
    sql = "SELECT task FROM scores JOIN runs ON id = run WHERE task = 'pairbench/coco-bg' AND model LIKE '%clip%'"
    found = client.post("/data/sql", json={"sql": sql}).json()
    assert found["rows"] == [] and found["hint"].startswith("Nothing is called 'pairbench/coco-bg'; near: 'pairbench/")
    assert found["hint"].count("Nothing") == 1
