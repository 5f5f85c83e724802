"""What a visitor changed of a suite's mean, in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from leaderboard.data import payload
from leaderboard.data.board_table import BoardTable
from leaderboard.data.mean_rule import changed_rule, suite_rule
from leaderboard.data.suite_cache import SuiteCache

UNISIM = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")


def words_of(table: BoardTable, **choice: object) -> str:
    return changed_rule(table, table.ranked(**choice))


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({}, ""),
        ({"weights": dict.fromkeys(UNISIM, 2.0)}, ""),
        ({"weights": {"IQA": 0.25, "Img-2AFC": 3.0}}, "Img-2AFC 3, IQA 0.25, others 1"),
        ({"weights": {"IQA": 0.0}}, "without IQA"),
        ({"weights": {"IQA": 0.0, "IT-2AFC": 2.0}}, "Img-2AFC 1, IT-2AFC 2, Text-2AFC 1"),
        (
            {"weights": {"IQA": 2.0}, "tasks": frozenset({"unisim/nights", "unisim/bapps"}), "coverage": 0.0},
            "IQA 2, others 1; only NIGHTS, BAPPS; minimum coverage 0%",
        ),
    ],
    # By the words: a set prints in another order in each process, and the processes of one run must agree on names.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_only_what_differs_from_the_suites_own_rule_is_said(suite_cache, choice, words):
    assert words_of(suite_cache.table("unisim-core"), **choice) == words


def test_every_task_chosen_is_the_suites_own_and_many_are_counted(suite_cache):
    table = suite_cache.table("mieb")
    tasks = [column.task for column in table.columns]
    assert words_of(table, tasks=frozenset(tasks)) == ""
    assert words_of(table, tasks=frozenset(tasks[:12])) == "12 of 130 tasks"
    english = {"Multilingual Retrieval": 0.0, "Visual STS (cross & multi)": 0.0}
    assert words_of(table, weights=english) == "without Multilingual Retrieval, Visual STS (cross & multi)"


def test_people_rank_by_no_rule_that_can_be_changed(suite_cache):
    table = suite_cache.table("cfred-hpdv2")
    assert words_of(table, tasks=frozenset({table.columns[0].task}), coverage=0.5) == ""
    assert suite_rule(table) == "Ranked by people"


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
