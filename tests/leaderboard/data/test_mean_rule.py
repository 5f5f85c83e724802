"""What a suite with a rule of its own says of its mean; what a visitor changed of others' is frozen in tests/golden."""

import json

import numpy as np

from leaderboard.data import payload
from leaderboard.data.mean_rule import changed_rule, suite_rule
from leaderboard.data.suite_cache import SuiteCache


def test_a_suite_with_weights_of_its_own_is_ranked_by_them_and_says_so(changed, suite_cache):
    own = {"IQA": 3.0, "Text-2AFC": 2.0}
    suite, words = "unisim-core", "Text-2AFC 2, IQA 3, others 1"
    cache = SuiteCache(changed(f"UPDATE suites SET category_weights = '{json.dumps(own)}' WHERE key = '{suite}'"))
    table, ranked, chosen = cache.table(suite), cache.ranked(suite), suite_cache.table(suite).ranked(weights=own)
    np.testing.assert_array_equal(ranked.mean, chosen.mean)
    np.testing.assert_array_equal(ranked.rank_low, chosen.rank_low)
    assert ranked.rank.tolist() != suite_cache.ranked(suite).rank.tolist()
    assert (changed_rule(table, ranked), changed_rule(suite_cache.table(suite), chosen)) == ("", words)
    assert suite_rule(table) == f"Mean of 4 category means ({words})"
    facts = payload.board(cache.db, table, ranked)
    assert facts["suite"]["mean_title"].endswith(f"({words})")
    assert facts["presets"][0]["weights"] == {"Img-2AFC": 1, "IT-2AFC": 1, "Text-2AFC": 2, "IQA": 3}
    assert facts["presets"][1]["key"] == "equal"
