"""A suite with weights of its own: its ranking, its rule in words, and what a visitor changes of it."""

from __future__ import annotations

import json
import shutil

import duckdb
import numpy as np
import pytest

from leaderboard.data import payload
from leaderboard.data.database import Database
from leaderboard.data.mean_rule import changed_rule, suite_rule
from leaderboard.data.suite_cache import SuiteCache

WEIGHTS = {"IQA": 3.0, "Text-2AFC": 2.0}
SUITE = "unisim-core"


@pytest.fixture(scope="module")
def weighted(database, tmp_path_factory):
    """The shipped database, its first suite with weights of its own."""
    path = tmp_path_factory.mktemp("weighted") / "weighted.duckdb"
    shutil.copy(database, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE suites SET category_weights = ? WHERE key = ?", [json.dumps(WEIGHTS), SUITE])
    return SuiteCache(Database(path))


def test_the_board_is_ranked_by_the_suites_own_weights(weighted, suite_cache):
    chosen = suite_cache.table(SUITE).ranked(weights=WEIGHTS)
    own = weighted.ranked(SUITE)
    np.testing.assert_array_equal(own.mean, chosen.mean)
    np.testing.assert_array_equal(own.rank_low, chosen.rank_low)
    assert own.rank.tolist() != suite_cache.ranked(SUITE).rank.tolist()
    assert changed_rule(weighted.table(SUITE), own) == ""
    assert changed_rule(suite_cache.table(SUITE), chosen) == "Text-2AFC 2, IQA 3, others 1"


def test_the_rule_is_said_with_its_weights(weighted, suite_cache):
    assert suite_rule(weighted.table(SUITE)) == "Mean of 4 category means (Text-2AFC 2, IQA 3, others 1)"
    assert suite_rule(suite_cache.table(SUITE)) == "Mean of 4 category means"
    facts = payload.board(weighted.db, weighted.table(SUITE), weighted.ranked(SUITE))
    assert facts["suite"]["mean_title"].endswith("(Text-2AFC 2, IQA 3, others 1)")
    assert facts["presets"][0]["weights"] == {"Img-2AFC": 1, "IT-2AFC": 1, "Text-2AFC": 2, "IQA": 3}
    assert facts["presets"][1]["key"] == "equal"
