"""What a visitor changed of a suite's mean, in words."""

from __future__ import annotations

import pytest

from leaderboard.data.board_table import BoardTable
from leaderboard.data.mean_rule import changed_rule, rule, suite_rule

UNISIM = ("Img-2AFC", "IT-2AFC", "Text-2AFC", "IQA")


def changed(table: BoardTable, **choice: object) -> str:
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
    assert changed(suite_cache.table("unisim-core"), **choice) == words


def test_every_task_chosen_is_the_suites_own_and_many_are_counted(suite_cache):
    table = suite_cache.table("mieb")
    tasks = [column.task for column in table.columns]
    assert changed(table, tasks=frozenset(tasks)) == ""
    assert changed(table, tasks=frozenset(tasks[:12])) == "12 of 130 tasks"
    english = {"Multilingual Retrieval": 0.0, "Visual STS (cross & multi)": 0.0}
    assert changed(table, weights=english) == "without Multilingual Retrieval, Visual STS (cross & multi)"


def test_people_rank_by_no_rule_that_can_be_changed(suite_cache):
    table = suite_cache.table("cfred-hpdv2")
    assert changed(table, tasks=frozenset({table.columns[0].task}), coverage=0.5) == ""
    assert suite_rule(table) == "Ranked by people"


def test_a_rule_is_the_suites_or_the_visitors(suite_cache):
    table = suite_cache.table("pairbench")
    assert rule(table, "") == suite_rule(table) == "Mean of 24 tasks"
    assert rule(table, "COCO 2, others 1") == "Your mean: COCO 2, others 1"
