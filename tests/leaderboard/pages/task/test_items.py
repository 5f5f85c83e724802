"""Single items: what is right, in which order they come, what two models disagree about, and what is said of none."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from compute.procedures import VIEWS
from leaderboard.pages.task.items import (
    PER_PAGE,
    ItemQuery,
    beside,
    filters,
    listing,
    sort,
    with_margins,
)
from tests.leaderboard import stand_ins


def frame(correct: list, value: list[float], **columns) -> pd.DataFrame:
    rows = len(correct)
    usual = {
        "item": [f"i{at}" for at in range(rows)],
        "subset": ["default"] * rows,
        "expected": ["A"] * rows,
        "answer": ["A"] * rows,
        "correct": correct,
        "value": value,
        "replied": [False] * rows,
        "pictured": [True] * rows,
    }
    return pd.DataFrame(usual | columns)


# ---- verdicts and order


def test_the_worst_margin_comes_first_and_those_without_one_last():
    one = beside([with_margins(frame([True, False, None, False], [0.2, -0.9, math.nan, -0.1]), view=VIEWS["choice"])])
    for order, expected in (("worst", "1302"), ("close", "3012"), ("best", "0312")):
        assert list(sort(one, order=order, apart=False).index) == [f"i{at}" for at in expected]
    replied = with_margins(frame([True, False], [1, -1], replied=[True, True]), view=VIEWS["choice"])
    assert replied["margin"].isna().all() and list(replied["right"]) == [True, False], "a reply in words has none"


def test_people_and_model_are_compared_by_their_orders():
    """Places counted by hand: 1, 2.5, 2.5, 4 and 4, 1, 3, 2; equal ratings share the mean place."""
    out = with_margins(frame([None] * 4, [0.9, 0.1, 0.5, 0.4], expected=["1", "2", "2", "5"]), view=VIEWS["sts"])
    assert list(out["margin"]) == pytest.approx([-1, -0.5, -0.5 / 3, -2 / 3])
    assert set(out["right"]) == {None}


def test_two_models_disagree_where_one_is_right_and_the_other_wrong():
    first = with_margins(frame([True, False, True, False, None], [4, -1, 2, -3, 0]), view=VIEWS["choice"])
    second = with_margins(frame([False, True, True, False, True], [-0.2, 0.1, 0.3, -0.4, 0.1]), view=VIEWS["choice"])
    pool = beside([first, second])
    found = {
        key: list(pool.index[mask]) for key, (_, mask) in filters(pool, titles=["P", "Q"], view=VIEWS["choice"]).items()
    }
    assert found == {
        "disagree": ["i0", "i1"],
        "first": ["i0"],
        "second": ["i1"],
        "both-wrong": ["i3"],
        "both-right": ["i2"],
        "unread": ["i4"],
        "all": ["i0", "i1", "i2", "i3", "i4"],
    }
    apart = sort(pool[pool.index.isin(["i0", "i1"])], order="worst", apart=True)
    assert list(apart.index) == ["i0", "i1"]  # 4 against -0.2 is farther apart than -1 against 0.1, in deviations too


def test_of_a_cluster_the_class_of_most_is_right():
    groups = frame([None] * 4, [1, 2, 3, 4], expected=["a", "a", "b", "b"], answer=["one", "one", "one", "two"])
    out = with_margins(groups, view=VIEWS["clustering"])
    assert list(out["right"]) == [True, True, False, True] and list(out["margin"]) == [1, 2, -3, 4]
    assert list(out["answer_text"])[2:] == ["one, mostly a", "two, mostly b"]


# ---- a page


@pytest.mark.parametrize("task", stand_ins.TASKS)
def test_every_kind_of_task_has_a_page_of_items(stand_in_suite_cache, task):
    page = listing(stand_in_suite_cache, ItemQuery(task=task))
    assert page["runs"] and page["chosen"] == [page["runs"][0]["model"]]
    assert page["count"] == {one["key"]: one["count"] for one in page["shows"]}[page["show"]]
    assert 0 < len(page["items"]) <= PER_PAGE and page["explained"]
    for item in page["items"]:
        assert any(part["image"] or part["text"] for part in item["parts"]) and len(item["verdicts"]) == 1
        assert not any(part["missing"] for part in item["parts"])


def test_pages_follow_each_other_without_gap(stand_in_suite_cache):
    def page(part: int) -> dict:
        return listing(stand_in_suite_cache, ItemQuery(task="unisim/nights", show="all", part=part))

    first = page(1)
    whole = [item["item"] for part in range(1, first["parts"] + 1) for item in page(part)["items"]]
    assert len(whole) == len(set(whole)) == first["count"] and page(999)["part"] == first["parts"]


@pytest.mark.parametrize(
    ("task", "command"),
    [
        ("mieb/stl10", "likeness run --suite mieb --tasks mieb/stl10 --models [a-z].*"),
        ("pairbench/coco-cj", ".*pairbench/coco-cj --models MODEL"),
        ("pairbench/aggregate", ""),
    ],
)
def test_without_a_run_the_command_that_makes_one_is_said(stand_in_suite_cache, task, command):
    page = listing(stand_in_suite_cache, ItemQuery(task=task))
    assert page["runs"] == [] and page["empty"] and re.fullmatch(command, page["command"])


# ---- pairs that a judge rates in both orders


def rated(**columns) -> pd.DataFrame:
    """Five pairs: the same in both orders, a flip of 1, of 5, one without a score, one far from what is expected."""
    scores = [(10, 10), (8, 7), (3, 8), (np.nan, 4), (9, 9)]
    answers = [" | ".join("no score" if math.isnan(each) else f"{each:.0f}" for each in both) for both in scores]
    apart = [abs(first - second) for first, second in scores]
    usual = {"answer": answers, "expected": ["10", "8", "10", "1", "1"], "value": apart}
    return frame([None] * 5, **(usual | columns))


def test_order_flips_come_first_and_pairs_without_two_scores_last():
    one = beside([with_margins(rated(), view=VIEWS["judging"])])
    for order, expected in (("worst", "21043"), ("far", "42103")):
        assert list(sort(one, order=order, apart=False).index) == [f"i{at}" for at in expected]
    assert list(sort(one, order="best", apart=False).index)[-2:] == ["i2", "i3"]
    assert [value is None for value in one["right0"]] == [True] * 5, "a rating is neither right nor wrong"
    found = filters(one.assign(margin0=[0, -1, -2, math.nan, 0]), titles=["J"], view=VIEWS["judging"])
    shown = {key: list(one.index[mask]) for key, (_, mask) in found.items()}
    assert shown == {"all": list(one.index), "flips": ["i2"], "unread": ["i3"]}
