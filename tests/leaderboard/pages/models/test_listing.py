"""The list of models says of each what its own page and the board say."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.data import model_queries
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html.templates import render
from leaderboard.pages.models import listing


@pytest.fixture(scope="module")
def data(suite_cache: SuiteCache) -> dict:
    return listing.models(suite_cache)


@pytest.fixture(scope="module")
def rows(data: dict) -> dict:
    return {row[0]: dict(zip(data["fields"], row, strict=True)) for row in data["rows"]}


def test_every_model_is_listed_once_and_those_without_scores_last(data, rows, suite_cache):
    models = model_queries.models(suite_cache.db)
    assert len(data["rows"]) == len(rows) == len(models)
    turns = [1 if row["synthetic"] else 0 if row["tasks"] else 2 for row in rows.values()]
    assert turns == sorted(turns) and set(turns) == {0, 1, 2}
    assert {key for key, row in rows.items() if not row["tasks"]} == set(models[models["runs"] == 0]["key"])


def test_a_rank_is_the_boards(data, suite_cache):
    suite = next(suite for suite in data["suites"] if suite["key"] == "unisim-core")
    ranked, table = suite_cache.ranked("unisim-core"), suite_cache.table("unisim-core")
    for index, row in enumerate(table.rows):
        rank, low, high, of, origin, *_ = suite["models"][row.model]
        known = (ranked.rank[index], ranked.rank_low[index], ranked.rank_high[index])
        assert (rank, low, high) == tuple(value if value > 0 else None for value in known)
        assert (of, origin) == ((ranked.rank > 0).sum(), "published")
    human = next(suite for suite in data["suites"] if suite["key"] == "cfred-coco")
    assert human["people"] and min(entry[0] for entry in human["models"].values() if entry[0]) == 1


def test_bars_go_from_the_lowest_mean_of_a_category_to_its_highest(data):
    for suite in data["suites"]:
        for at in range(len(suite["categories"])):
            cells = [(entry[5][at], entry[6][at]) for entry in suite["models"].values()]
            assert all((value is None) == (level is None) for value, level in cells)
            known = sorted(cell for cell in cells if cell[0] is not None)
            if len({entry[4] for entry in suite["models"].values()}) > 1 or len(known) < 2:
                continue
            levels = [level for _, level in known]
            assert min(levels) in (0, 100) and max(levels) == 100, suite["key"]
            assert levels == sorted(levels) or levels == sorted(levels, reverse=True)


def test_a_mean_of_some_tasks_does_not_stretch_the_bars(data, suite_cache):
    table, ranked = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    suite = next(suite for suite in data["suites"] if suite["key"] == "mieb")
    at = table.scores.categories.index("Retrieval")
    whole, means = table.whole_means(ranked)[:, at], ranked.category_means[:, at]
    assert np.nanmax(whole) < np.nanmax(means)
    assert suite["models"][table.rows[int(np.nanargmax(whole))].model][6][at] == 100


def test_the_first_sentence_counts_what_the_list_holds(site, rows):
    counts = listing.summary(site.db)
    real = [row for row in rows.values() if row["tasks"] and not row["synthetic"]]
    assert counts["scored"] == len(real) == sum(counts["kinds"].values())
    assert counts["synthetic"] == sum(row["synthetic"] for row in rows.values())
    assert counts["scored"] + counts["synthetic"] + counts["unscored"] == len(rows)
    assert counts["no_license"] == sum(not row["license"] for row in real)
    assert counts["no_size"] == sum(row["parameters"] is None for row in real)
    assert f"{len(real)} models have scores" in render("pages/models/answer.html", **counts)
