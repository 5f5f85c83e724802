"""A suite with weights of its own: its ranking, its rule in words, and what a visitor changes of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from leaderboard.data import payload
from leaderboard.data.database import Database
from leaderboard.data.mean_rule import changed_rule, suite_rule
from leaderboard.data.ranked import rank
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.board.comparison import compare

WEIGHTS = {"IQA": 3.0, "Text-2AFC": 2.0}
SUITE = "unisim-core"


@pytest.fixture(scope="module")
def weighted(database: Path, tmp_path_factory: pytest.TempPathFactory) -> SuiteCache:
    """The shipped database, its first suite with weights of its own."""
    path = tmp_path_factory.mktemp("weighted") / "weighted.duckdb"
    shutil.copy(database, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE suites SET category_weights = ? WHERE key = ?", [json.dumps(WEIGHTS), SUITE])
    return SuiteCache(Database(path))


def test_the_board_is_ranked_by_the_suites_own_weights(weighted: SuiteCache, suite_cache: SuiteCache) -> None:
    chosen = rank(suite_cache.table(SUITE), weights=WEIGHTS)
    own = weighted.ranked(SUITE)
    np.testing.assert_array_equal(own.mean, chosen.mean)
    np.testing.assert_array_equal(own.rank_low, chosen.rank_low)
    assert own.rank.tolist() != suite_cache.ranked(SUITE).rank.tolist()
    assert own.changed == "" and chosen.changed == "Text-2AFC 2, IQA 3, others 1"


def test_the_mean_is_the_weighted_mean_of_category_means(weighted: SuiteCache) -> None:
    table, ranked = weighted.table(SUITE), weighted.ranked(SUITE)
    weights = np.array([WEIGHTS.get(name, 1.0) for name in table.categories])
    full = ~np.isnan(ranked.mean)
    assert full.sum() > 3
    expected = ranked.category_means[full] @ weights / weights.sum()
    np.testing.assert_allclose(ranked.mean[full], expected, rtol=1e-12)


def test_the_rule_is_said_with_its_weights(weighted: SuiteCache, suite_cache: SuiteCache) -> None:
    assert suite_rule(weighted.table(SUITE)) == "Mean of 4 category means (Text-2AFC 2, IQA 3, others 1)"
    assert suite_rule(suite_cache.table(SUITE)) == "Mean of 4 category means"
    facts = payload.board(weighted.db, weighted.table(SUITE), weighted.ranked(SUITE))
    assert facts["suite"]["mean_title"].endswith("(Text-2AFC 2, IQA 3, others 1)")
    assert facts["presets"][0]["weights"] == {"Img-2AFC": 1, "IT-2AFC": 1, "Text-2AFC": 2, "IQA": 3}
    assert facts["presets"][1]["key"] == "equal"


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (None, ""),
        (WEIGHTS, ""),
        ({"IQA": 3.0}, ""),
        ({"Img-2AFC": 2.0, "IT-2AFC": 2.0, "Text-2AFC": 4.0, "IQA": 6.0}, ""),
        ({"IQA": 1.0, "Text-2AFC": 1.0}, "equal weights"),
        ({"IQA": 1.0}, "Text-2AFC 2, others 1"),
        ({"Img-2AFC": 0.0}, "IT-2AFC 1, Text-2AFC 2, IQA 3"),
    ],
    ids=["nothing", "its own", "one of its own", "in proportion", "equal", "one changed", "one left out"],
)
def test_a_change_is_a_change_of_its_weights(weighted: SuiteCache, weights: dict | None, words: str) -> None:
    table = weighted.table(SUITE)
    assert changed_rule(table, weights=weights) == words
    assert rank(table, weights=weights).changed == words


def test_equal_weights_can_be_chosen(weighted: SuiteCache, suite_cache: SuiteCache) -> None:
    equal = weighted.ranked(SUITE, (("IQA", 1.0), ("Text-2AFC", 1.0)))
    np.testing.assert_array_equal(equal.mean, suite_cache.ranked(SUITE).mean)


def test_equal_choices_are_computed_once(weighted: SuiteCache) -> None:
    assert weighted.ranked(SUITE, (("IQA", 3.0), ("Img-2AFC", 1.0))) is weighted.ranked(SUITE)
    assert weighted.ranked(SUITE, (("IQA", 1.0),)) is not weighted.ranked(SUITE)


def test_two_models_are_compared_by_the_same_mean(weighted: SuiteCache) -> None:
    table, ranked = weighted.table(SUITE), weighted.ranked(SUITE)
    first, second = np.flatnonzero(ranked.rank > 0)[:2]
    comparison = compare(table, ranked, rows=[table.rows[first].id, table.rows[second].id], by="mean")
    difference = 100 * (ranked.mean[second] - ranked.mean[first])
    assert comparison.line.tests[0].difference == pytest.approx(difference, abs=1e-9)
