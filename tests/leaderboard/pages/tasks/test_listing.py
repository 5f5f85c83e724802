"""The list of tasks says of each what its own page and the board say."""

from __future__ import annotations

import numpy as np
import pytest
from starlette.testclient import TestClient

from leaderboard.data import task_queries
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.drawn_examples import EXAMPLES, short_markup
from leaderboard.pages.tasks import listing
from leaderboard.pages.tasks.page import answer, drawn_types
from tests.leaderboard.served import client as client_of


@pytest.fixture(scope="module")
def rows(suite_cache: SuiteCache) -> dict:
    data = listing.tasks(suite_cache)
    return {row[0]: dict(zip(data["fields"], row, strict=True)) for row in data["rows"]}


def test_every_task_is_listed_once(rows, suite_cache):
    frame = task_queries.tasks(suite_cache.db)
    assert list(rows) == list(frame["key"])
    assert sum(row["models"] == 0 for row in rows.values()) == 5


def test_best_median_and_ticks_are_those_of_the_board(rows, suite_cache):
    table = suite_cache.table("mieb")
    index = table.headline("mieb/stl10")
    values = table.values[:, index] * table.columns[index].scale
    row = rows["mieb/stl10"]
    assert row["best"] == pytest.approx(np.nanmax(values))
    assert row["median"] == pytest.approx(np.nanmedian(values))
    assert row["leader"] == table.rows[int(np.nanargmax(values))].model
    assert row["ticks"] == sorted({round(value) for value in values[~np.isnan(values)]})
    assert row["models"] == np.count_nonzero(~np.isnan(values))
    for row in rows.values():
        assert all(0 <= tick <= 100 for tick in row["ticks"])
        assert bool(row["ticks"]) == (row["best"] is not None) == bool(row["leader"])


def test_best_and_median_are_of_one_origin(rows, imported_suite_cache):
    """Once a model's imported score, where it was its fullest row, stood among the published ones."""
    table = imported_suite_cache.table("unisim-core")
    data = listing.tasks(imported_suite_cache)
    renewed = {row[0]: dict(zip(data["fields"], row, strict=True)) for row in data["rows"]}
    shared = [column.task for column in table.columns if column.ranked]
    assert {row.origin for row in table.rows} >= {"published", "imported"} and len(shared) > 10
    for task in shared:
        assert [renewed[task][name] for name in ("best", "leader", "median", "ticks")] == [
            rows[task][name] for name in ("best", "leader", "median", "ticks")
        ], task


def test_a_language_has_the_name_that_its_page_has(suite_cache):
    """Once the browser named it: Bangla here, Bengali on the page of languages."""
    names = listing.tasks(suite_cache)["languages"]
    assert names["ben"] == "Bengali" and names == suite_cache.languages().names


def test_a_language_is_named_once_and_an_unstated_licence_is_none(rows):
    assert listing.language_codes(["eng-Latn", "eng", "swa"]) == ["eng", "swa"]
    assert {code for row in rows.values() for code in row["languages"]} >= {"eng", "swa", "jpn"}
    assert listing.license_of({"license": "not specified", "dataset_license": "mit"}) == "mit"
    assert listing.license_of({"license": "", "dataset_license": None}) == ""


def test_the_first_sentence_counts_what_the_list_holds(site, rows):
    counts = listing.summary(site.db)
    scored = [row for row in rows.values() if row["models"]]
    assert counts["scored"] == len(scored) == counts["real"] + counts["synthetic"]
    assert sum(one["tasks"] for one in counts["benchmarks"]) == counts["real"]
    assert counts["no_license"] == sum(not row["license"] for row in scored)
    assert counts["no_chance"] == sum(row["chance"] is None for row in scored)
    assert "127 of MIEB" in answer(site)


def test_each_type_of_task_has_its_drawn_example_and_a_link_to_its_tasks(site, rows, suite_cache):
    shown, markup = listing.types(site.db), drawn_types(site)
    assert [example.key for example, _ in shown] == [
        example.key for example in EXAMPLES if any(row["type"] == example.key for row in rows.values())
    ]
    assert len(shown) > 15 and sum(tasks for _, tasks in shown) == len(rows)
    assert listing.tasks(suite_cache)["types"] == {example.key: example.title for example, _ in shown}
    for example, tasks in shown:
        assert tasks == sum(row["type"] == example.key for row in rows.values())
        words = f'<a href="tasks?type={example.key}">{example.title}</a> <span class="pg-quiet">{tasks} task'
        assert markup.count(words) == 1 and short_markup(example) in markup
    assert "Drawn examples, not items of the data sets" in markup and 'href="tasks#types"' in answer(site)
    assert len(markup) < 80_000


def test_the_list_is_small_and_sent_once(suite_cache):
    client: TestClient = client_of(suite_cache, raises=False)
    first = client.get("/data/tasks")
    assert first.status_code == 200 and first.headers["content-encoding"] == "br"
    assert int(first.headers["content-length"]) < 100_000
    assert client.get("/data/tasks", headers={"if-none-match": first.headers["etag"]}).status_code == 304
