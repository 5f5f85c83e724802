"""The long tables of the pages: all scores are there, in shown units, with their marks and links."""

from __future__ import annotations

import numpy as np
import pytest
from starlette.testclient import TestClient

from compute.types import UnknownKey
from leaderboard.data import listings, queries
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.data.suite_table import TRAINED
from tests.leaderboard.served import client as client_of


@pytest.fixture(scope="module")
def client(suite_cache: SuiteCache) -> TestClient:
    return client_of(suite_cache, raises=False)


def named(data: dict) -> list[dict]:
    keys = [column["key"] for column in data["columns"]]
    return [dict(zip([*keys, "link"], row, strict=True)) for row in data["rows"]]


def test_a_models_scores(suite_cache):
    rows = named(listings.model_scores(suite_cache, model="unisim-vit-l-14"))
    nights = next(row for row in rows if row["link"] == "unisim/nights")
    assert (nights["value"], nights["printed"], nights["n"], nights["chance"]) == (90.7, "90.7", 1824, 50.0)
    assert nights["low"] < 90.7 < nights["high"]
    assert nights["high"] - nights["low"] == pytest.approx(2 * 196 * (0.907 * 0.093 / 1824) ** 0.5, abs=0.2)
    assert "† trained on" in nights["marks"]
    assert nights["source"] == "UniSim-Bench Table 2"
    better = sum(
        row.model != "unisim-vit-l-14" and suite_cache.table("unisim-core").values[at, 0] > 0.907
        for at, row in enumerate(suite_cache.table("unisim-core").rows)
    )
    assert nights["place"] == better + 1


def test_every_link_lies_where_the_column_says(suite_cache):
    for data in (
        listings.model_scores(suite_cache, model="xswu/hpsv2"),
        listings.task_scores(suite_cache, task="unisim/bapps"),
    ):
        at = data["columns"][0]["link"]["at"]
        assert at == len(data["columns"])
        assert all(len(row) == at + 1 for row in data["rows"])


def test_a_tasks_scores_come_best_first(suite_cache):
    rows = named(listings.task_scores(suite_cache, task="unisim/nights"))
    shown = [row["value"] for row in rows if "not the one" not in row["source"]]
    assert shown == sorted(shown, reverse=True)
    assert rows[0]["link"] == "dreamsim-ensemble" or rows[0]["value"] == max(shown)


def test_suspect_figures_are_marked_alone(suite_cache):
    rows = named(listings.task_scores(suite_cache, task="cfred/coco"))
    suspect = {(row["link"], row["metric"]) for row in rows if "? suspect" in row["marks"]}
    assert ("stabilityai/stable-diffusion-3-medium", "MPS") in suspect
    assert ("stabilityai/stable-diffusion-3-medium", "FID") not in suspect


def test_claims_are_all_there_with_conflicts_first(suite_cache):
    data = listings.claims(suite_cache)
    counts = queries.counts(suite_cache.db).iloc[0]
    verdicts = [row[data["fields"].index("verdict")] for row in data["rows"]]
    assert len(verdicts) == counts.claims
    assert set(verdicts[: counts.conflicts]) == {"conflict"}
    assert "conflict" not in verdicts[counts.conflicts :]


def test_places_in_a_paper_name_their_tables():
    sources = {f"P Table {number}": {"key": str(number)} for number in (2, 6, 22)}
    keys = lambda where: [entry["key"] for entry in listings.tables_of("P", where, sources=sources)]  # noqa: E731
    assert keys("Tables 2 and 6") == ["2", "6"]
    assert keys("Table 22, heading") == ["22"]
    assert keys("Section 4.2, caption of Table 2") == ["2"]
    assert keys("Section 2") == keys("Table 3") == []
    assert listings.tables_of("Q", "Table 2", sources=sources) == []


def test_unknown_keys(suite_cache):
    with pytest.raises(UnknownKey, match="Did you mean 'unisim/nights'"):
        listings.task_scores(suite_cache, task="unisim/night")
    with pytest.raises(UnknownKey):
        listings.model_scores(suite_cache, model="nobody/nothing")


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


def test_training_on_a_data_set_marks_the_tasks_made_of_it(suite_cache: SuiteCache) -> None:
    """BLIP fine-tuned on COCO: MIEB's retrieval on COCO is marked on the board, the model's page and the task's."""
    task = "mieb/mscocoi2tretrieval"
    table = suite_cache.table("mieb")
    column = next(place for place, column in enumerate(table.columns) if column.task == task)
    scored = ~np.isnan(table.values[:, column])
    marked = {row.model for place, row in enumerate(table.rows) if table.marks[place, column] & TRAINED}
    on_coco = {row.model for place, row in enumerate(table.rows) if scored[place] and row.model.endswith("-coco")}
    assert marked and marked == on_coco
    one = sorted(marked)[0]
    for rows, link in (
        (named(listings.model_scores(suite_cache, model=one)), task),
        (named(listings.task_scores(suite_cache, task=task)), one),
    ):
        assert all("† trained on" in row["marks"] for row in rows if row["link"] == link)
