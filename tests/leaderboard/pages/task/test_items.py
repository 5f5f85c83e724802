"""Single items: what is right, in which order they come, what two models disagree about, and what is said of none."""

import math
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

from compute.procedures import VIEWS
from leaderboard.pages.task.items import PER_PAGE, beside, filters, listing, sort, with_margins


def margins(view, correct, value, **columns):
    """A run's items i0, i1, ... with their margins; `columns` replace the usual ones."""
    usual = {"subset": "default", "expected": "A", "answer": "A", "replied": False, "pictured": True}
    items = [f"i{at}" for at in range(len(correct))]
    frame = pd.DataFrame(usual | {"item": items, "correct": correct, "value": value} | columns)
    return with_margins(frame.astype({"correct": object}), view=VIEWS[view])


def sorted_by(order, items):
    """The numbers of the items in order."""
    return "".join(sort(items, order=order, apart=False).index).replace("i", "")


# ---- verdicts and order


def test_the_worst_margin_comes_first_and_those_without_one_last():
    one = beside([margins("choice", [True, False, None, False], [0.2, -0.9, math.nan, -0.1])])
    assert [sorted_by(order, one) for order in ("worst", "close", "best")] == ["1302", "3012", "0312"]
    replied = margins("choice", [True, False], [1, -1], replied=True)
    assert replied["margin"].isna().all() and list(replied["right"]) == [True, False], "a reply in words has none"


def test_people_and_model_are_compared_by_their_orders():
    """Places counted by hand: 1, 2.5, 2.5, 4 and 4, 1, 3, 2; equal ratings share the mean place."""
    out = margins("sts", [None] * 4, [0.9, 0.1, 0.5, 0.4], expected=["1", "2", "2", "5"])
    assert list(out["margin"]) == pytest.approx([-1, -0.5, -0.5 / 3, -2 / 3]) and set(out["right"]) == {None}


def test_two_models_disagree_where_one_is_right_and_the_other_wrong():
    first = margins("choice", [True, False, True, False, None], [4, -1, 2, -3, 0])
    second = margins("choice", [False, True, True, False, True], [-0.2, 0.1, 0.3, -0.4, 0.1])
    pool = beside([first, second])
    found = filters(pool, titles=["P", "Q"], view=VIEWS["choice"])
    shown = {key: "".join(pool.index[mask]).replace("i", "") for key, (_, mask) in found.items()}
    each = {"disagree": "01", "first": "0", "second": "1", "both-wrong": "3", "both-right": "2", "unread": "4"}
    assert shown == each | {"all": "01234"}
    apart = sort(pool[pool.index.isin(["i0", "i1"])], order="worst", apart=True)
    assert list(apart.index) == ["i0", "i1"]  # 4 against -0.2 is farther apart than -1 against 0.1, in deviations too


def test_of_a_cluster_the_class_of_most_is_right():
    out = margins("clustering", [None] * 4, [1, 2, 3, 4], expected=list("aabb"), answer=["one"] * 3 + ["two"])
    assert list(out["right"]) == [True, True, False, True] and list(out["margin"]) == [1, 2, -3, 4]
    assert list(out["answer_text"])[2:] == ["one, mostly a", "two, mostly b"]


def test_order_flips_come_first_and_pairs_without_two_scores_last():
    """Five pairs: the same in both orders, a flip of 1, of 5, one without a score, one far from what is expected."""
    answers = ["10 | 10", "8 | 7", "3 | 8", "no score | 4", "9 | 9"]
    flips = [0, 1, 5, np.nan, 0]
    one = beside([margins("judging", [None] * 5, flips, answer=answers, expected=["10", "8", "10", "1", "1"])])
    assert (sorted_by("worst", one), sorted_by("far", one), sorted_by("best", one)[-2:]) == ("21043", "42103", "23")
    assert [value is None for value in one["right0"]] == [True] * 5, "a rating is neither right nor wrong"
    found = filters(one.assign(margin0=[0, -1, -2, math.nan, 0]), titles=["J"], view=VIEWS["judging"])
    shown = {key: list(one.index[mask]) for key, (_, mask) in found.items()}
    assert shown == {"all": list(one.index), "flips": ["i2"], "unread": ["i3"]}


# ---- a page


TASKS = (  # of the drawn suites, one a procedure, and two where the form differs
    *("text-for-image", "quality", "photographs", "pairs-r", "swaps", "places", "odd-one-out", "shapes", "sentences"),
    *("images-by-text", "instances", "things"),
)


@pytest.mark.parametrize("task", TASKS)
def test_every_kind_of_task_has_a_page_of_items(suite_cache, task):
    page = listing(suite_cache, task=f"mini/{task}")
    assert page["runs"] and page["chosen"] == [page["runs"][0]["model"]] and page["explained"]
    assert page["count"] == {one["key"]: one["count"] for one in page["shows"]}[page["show"]]
    assert 0 < len(page["items"]) <= PER_PAGE
    for item in page["items"]:
        assert any(part["image"] or part["text"] for part in item["parts"]) and len(item["verdicts"]) == 1
        assert not any(part["missing"] for part in item["parts"])


def test_pages_follow_each_other_without_gap(suite_cache):
    page = partial(listing, suite_cache, task="mini/photographs", show="all")
    first, last = (page(part=part) for part in (1, 999))
    names = [item["item"] for part in range(first["parts"]) for item in page(part=part + 1)["items"]]
    assert len(names) == len(set(names)) == first["count"] and last["part"] == first["parts"]


def test_labels_that_may_be_wrong_can_come_first(stand_in_suite_cache):
    page = listing(stand_in_suite_cache, task="unisim/imagenet-ooo", show="doubtful")
    assert page["items"] and all("models answer" in item["why"] for item in page["items"])
    assert listing(stand_in_suite_cache, task="mini/photographs", show="doubtful")["show"] == "wrong"


@pytest.mark.parametrize(
    "task, command",
    [
        ("mieb/stl10", "likeness run --suite mieb --tasks mieb/stl10 --models [a-z].*"),
        ("pairbench/coco-cj", ".*pairbench/coco-cj --models MODEL"),
        ("pairbench/aggregate", ""),
    ],
)
def test_without_a_run_the_command_that_makes_one_is_said(suite_cache, task, command):
    page = listing(suite_cache, task=task)
    assert page["runs"] == [] and page["empty"] and re.fullmatch(command, page["command"])
