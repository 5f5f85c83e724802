"""PairBench on the board by data set, split and condition: the address, the ranks and the way back."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.boards import ROWS, header, idle, own_query, wait_query

CUTS = ".lk-cuts"


def board(server: str, query: str = "") -> dict[str, Any]:
    with urllib.request.urlopen(f"{server}data/board/pairbench{query}", timeout=30) as answer:
        return json.load(answer)


def first_title(payload: dict[str, Any]) -> str:
    return payload["rows"][payload["ranking"]["rank"].index(1)]["title"]


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_a_condition_is_chosen_and_stays_in_the_address(
    open_board: Callable, server: str, look: dict[str, Any]
) -> None:
    page = open_board("suite=pairbench&sort=-COCO", **look)
    idle(page)
    chosen = page.locator(CUTS).get_by_label("Condition")
    assert chosen.input_value() == ""
    chosen.focus()
    chosen.select_option("invariant")
    wait_query(page, "condition", "invariant")
    idle(page)
    assert own_query(page) == {"suite": "pairbench", "condition": "invariant", "sort": "-COCO"}
    assert page.locator(".lk-about").inner_text().endswith("told to ignore the change between the two sides.")
    assert chosen.evaluate("node => node === document.activeElement"), "the keyboard stays where it was"
    assert not page.locator(".lk-changed").is_visible(), "a condition is no mean of one's own"
    box = page.locator(CUTS).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= page.viewport_size["width"]
    assert grave_violations(page) == []
    page.reload()
    idle(page)
    assert page.locator(CUTS).get_by_label("Condition").input_value() == "invariant"
    page.locator(CUTS).get_by_label("Condition").select_option("")
    wait_query(page, "condition", None)
    page.go_back()
    wait_query(page, "condition", "invariant")
    idle(page)
    assert page.locator(CUTS).get_by_label("Condition").input_value() == "invariant"


def test_the_table_shows_the_ranks_of_the_condition(open_board: Callable, server: str) -> None:
    page = open_board("suite=pairbench&condition=invariant")
    idle(page)
    assert page.evaluate(ROWS)[0]["title"] == first_title(board(server, "?condition=invariant"))
    assert first_title(board(server, "?condition=invariant")) != first_title(board(server))


def test_a_data_set_and_a_split_choose_the_tasks_that_count(open_board: Callable) -> None:
    page = open_board("suite=pairbench")
    idle(page)
    cuts = page.locator(CUTS)
    cuts.get_by_label("Data set").select_option("COCO")
    wait_query(page, "dataset", "COCO")
    idle(page)
    page.get_by_text("Your mean: only COCO").wait_for()
    assert own_query(page) == {"suite": "pairbench", "dataset": "COCO"}
    assert header(page, "pairbench/coco-cj").count() == 1 and header(page, "IN100").count() == 0
    cuts.get_by_label("Split").select_option("cj")
    wait_query(page, "split", "cj")
    idle(page)
    page.get_by_text("Your mean: only COCO: colour jitter").wait_for()
    page.get_by_role("button", name="Reset to the suite’s own mean").click()
    wait_query(page, "dataset", None)
    assert own_query(page) == {"suite": "pairbench"}
    assert cuts.get_by_label("Split").input_value() == "" and header(page, "IN100").count() == 1


def test_a_comparison_is_of_the_condition(open_board: Callable, server: str) -> None:
    payload = board(server, "?condition=sensitive")
    ids = [payload["rows"][payload["ranking"]["rank"].index(rank)]["id"] for rank in (1, 2)]
    page = open_board(f"suite=pairbench&condition=sensitive&select={','.join(ids)}&compare=1")
    page.locator("#comparison h2").wait_for()
    assert "sensitive condition" in page.locator("#comparison").inner_text()


def test_what_is_not_there_is_named_and_ignored(open_board: Callable) -> None:
    page = open_board("suite=pairbench&condition=blind&split=zz", expected="400")
    idle(page)
    assert own_query(page)["suite"] == "pairbench"
    words = page.locator(".lk-notice").inner_text()
    assert "condition=blind" in words and "split=zz" in words


def test_other_suites_have_no_such_choice(open_board: Callable) -> None:
    page = open_board("suite=mieb")
    idle(page)
    assert not page.locator(CUTS).is_visible()
