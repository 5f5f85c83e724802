"""The list of tasks says of each what its own page and the board say."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.data.languages import NAMES
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import render
from leaderboard.pages.tasks import listing


@pytest.fixture(scope="module")
def rows(papers_cache: SuiteCache) -> dict:
    data = listing.tasks(papers_cache)
    return {row[0]: dict(zip(data["fields"], row, strict=True)) for row in data["rows"]}


def test_every_task_is_listed_once(rows, papers_cache):
    frame = papers_cache.db.query("tasks")
    assert list(rows) == list(frame["key"])
    assert sum(row["models"] == 0 for key, row in rows.items() if not key.startswith("vidore/")) == 5


def test_best_median_and_ticks_are_those_of_the_board(rows, papers_cache):
    table = papers_cache.table("mieb")
    index = table.headline("mieb/stl10")
    values = table.scores.values[:, index] * table.columns[index].scale
    row = rows["mieb/stl10"]
    assert row["best"] == pytest.approx(np.nanmax(values))
    assert row["median"] == pytest.approx(np.nanmedian(values))
    assert row["leader"] == table.rows[int(np.nanargmax(values))].model
    assert row["ticks"] == sorted({round(value) for value in values[~np.isnan(values)]})
    assert row["models"] == np.count_nonzero(~np.isnan(values))
    assert (row["trained"], rows["unisim/nights"]["trained"]) == (False, True)  # DreamSim
    for row in rows.values():
        assert all(0 <= tick <= 100 for tick in row["ticks"])
        assert bool(row["ticks"]) == (row["best"] is not None) == bool(row["leader"])


def test_a_language_has_the_name_that_the_board_has(papers_cache):
    """Once the browser named it: Bangla here, Bengali on the board."""
    names = listing.tasks(papers_cache)["languages"]
    assert names["ben"] == "Bengali" and names.items() <= NAMES.items()


def test_the_first_sentence_counts_what_the_list_holds(papers_cache, rows):
    counts = listing.summary(papers_cache.db)
    scored = [row for row in rows.values() if row["models"]]
    assert counts["scored"] == len(scored) == counts["real"] + counts["synthetic"]
    assert sum(one["tasks"] for one in counts["benchmarks"]) == counts["real"]
    assert counts["no_license"] == sum(not row["license"] for row in scored)
    assert counts["no_chance"] == sum(row["chance"] is None for row in scored)
    assert "127 of MIEB" in render("pages/tasks/answer.html", **counts)
