"""Single items: what is right, in which order they come, what two models disagree about, and what is said of none."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pandas as pd
import pytest

from compute.catalog import shipped
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
    assert list(sort(one, order="worst", apart=False).index) == ["i1", "i3", "i0", "i2"]
    assert list(sort(one, order="close", apart=False).index) == ["i3", "i0", "i1", "i2"]
    assert list(sort(one, order="best", apart=False).index) == ["i0", "i3", "i1", "i2"]


def test_a_reply_in_words_has_no_margin():
    out = with_margins(frame([True, False], [1, -1], replied=[True, True]), view=VIEWS["choice"])
    assert out["margin"].isna().all() and list(out["right"]) == [True, False]


def test_people_and_model_are_compared_by_their_orders():
    """Reference: places counted by hand; equal ratings share the mean place."""
    out = with_margins(frame([None] * 4, [0.9, 0.1, 0.5, 0.4], expected=["1", "2", "2", "5"]), view=VIEWS["sts"])
    places_of_people, places_of_model = np.array([1, 2.5, 2.5, 4]), np.array([4, 1, 3, 2])
    assert np.allclose(out["margin"], -np.abs(places_of_people - places_of_model) / 3)
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


def test_of_a_group_the_class_of_most_is_right():
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


def test_counts_are_those_of_the_stored_items(stand_in_suite_cache, stand_in_database):
    """Reference: the rows of the database, counted by themselves."""
    with duckdb.connect(str(stand_in_database), read_only=True) as connection:
        right, wrong = connection.execute(
            """SELECT count(*) FILTER (correct), count(*) FILTER (NOT correct)
               FROM items JOIN runs ON runs.id = items.run
               WHERE runs.task = 'unisim/imagenet-ooo' AND runs.model = 'example/dim' AND main"""
        ).fetchone()
    page = listing(stand_in_suite_cache, ItemQuery(task="unisim/imagenet-ooo", models=("example/dim",)))
    assert {one["key"]: one["count"] for one in page["shows"]} == {"wrong": wrong, "right": right, "all": right + wrong}
    assert {item["verdicts"][0]["right"] for item in page["items"]} == {False}
    margins = [float(item["verdicts"][0]["margin"].removeprefix("margin ").replace("−", "-")) for item in page["items"]]
    assert margins == sorted(margins) and margins[-1] < 0


def test_pages_follow_each_other_without_gap(stand_in_suite_cache):
    def page(part: int) -> dict:
        return listing(stand_in_suite_cache, ItemQuery(task="unisim/nights", show="all", part=part))

    first = page(1)
    whole = [item["item"] for part in range(1, first["parts"] + 1) for item in page(part)["items"]]
    assert len(whole) == len(set(whole)) == first["count"]
    assert page(999)["part"] == first["parts"]


def test_without_a_run_the_command_that_makes_one_is_said(stand_in_suite_cache):
    page = listing(stand_in_suite_cache, ItemQuery(task="mieb/stl10"))
    assert page["runs"] == [] and "No computed run" in page["empty"]
    words = page["command"].split()
    known = shipped()
    task = known.task(words[words.index("--tasks") + 1])
    assert words[words.index("--suite") + 1] in task.suites
    assert known.model(words[words.index("--models") + 1]).adapter
    assert listing(stand_in_suite_cache, ItemQuery(task="pairbench/coco-cj"))["command"].endswith(
        "pairbench/coco-cj --models MODEL"
    )
    none = listing(stand_in_suite_cache, ItemQuery(task="pairbench/aggregate"))
    assert none["command"] == "" and "cannot be loaded" in none["empty"]


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
    assert list(sort(one, order="worst", apart=False).index) == ["i2", "i1", "i0", "i4", "i3"]
    assert list(sort(one, order="best", apart=False).index)[-2:] == ["i2", "i3"]
    assert list(sort(one, order="far", apart=False).index) == ["i4", "i2", "i1", "i0", "i3"]
    assert [value is None for value in one["right0"]] == [True] * 5, "a rating is neither right nor wrong"
    found = filters(one.assign(margin0=[0, -1, -2, math.nan, 0]), titles=["J"], view=VIEWS["judging"])
    shown = {key: list(one.index[mask]) for key, (_, mask) in found.items()}
    assert shown == {"all": list(one.index), "flips": ["i2"], "unread": ["i3"]}
