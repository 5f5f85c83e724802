"""The page of size, age and cost: its state in the address, its picture, and the table of every model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.browser.test_pages import settle

CATEGORY = "cost?suite=mieb&category=Document%20Understanding"
STATES = ".pg-table tbody tr td:nth-of-type(1)"


def query_of(page: Any) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(page.evaluate("location.search.slice(1)")).items()}


def legend_of(page: Any) -> list[str]:
    return page.locator("#cost-figure .legendtext").all_text_contents()


def test_the_address_gives_the_view_and_the_controls_write_it(visit: Callable[..., Any]) -> None:
    page = visit(CATEGORY)
    settle(page)
    assert page.get_by_label("Score", exact=True).input_value() == "Document Understanding"
    states = page.locator(STATES).all_inner_texts()
    assert {"On the front", "Off: proved worse", "Size not known"} == set(states)
    assert f"{states.count('On the front')} are on the front" in page.locator(".pg-lead").inner_text()
    assert page.get_by_label("Device", exact=True).count() == 0
    page.get_by_label("Release date", exact=True).check()
    page.wait_for_function("new URLSearchParams(location.search).get('axis') === 'age'")
    page.locator(".pg-lead", has_text="known release date").wait_for()
    assert query_of(page)["category"] == "Document Understanding"
    page.get_by_label("Encode time per image").check()
    page.locator(".pg-lead", has_text="none of these has been run here").wait_for()
    page.get_by_label("Device", exact=True).wait_for()
    assert page.locator("#cost-figure .main-svg:visible").count() == 0  # nothing to draw


def test_a_suite_without_tests_leads_to_its_categories(visit: Callable[..., Any]) -> None:
    page = visit("cost?suite=mieb")
    settle(page)
    assert "not known" in page.locator(".pg-lead").inner_text()
    assert set(page.locator(STATES).all_inner_texts()) == {"Not known", "Size not known"}
    page.locator(".pg-lead a", has_text="Document Understanding").click()
    page.locator(".pg-lead", has_text="are on the front").wait_for()
    assert query_of(page)["category"] == "Document Understanding"


def test_synthetic_scores_are_marked_and_names_lead_to_their_models(visit: Callable[..., Any]) -> None:
    page = visit("cost?suite=mini&axis=time")
    settle(page)
    assert "Synthetic" in page.locator(".pg-warning").inner_text()
    page.locator(".pg-table tbody th a").first.click()
    page.locator("h2.pg-name").wait_for()


@pytest.mark.parametrize("width", [1360, 390])
def test_names_in_the_picture_stand_clear_of_each_other(visit: Callable[..., Any], width: int) -> None:
    page = visit(CATEGORY, width=width)
    settle(page)
    assert "On the front" in legend_of(page)
    boxes = page.evaluate("""() => [...document.querySelectorAll('#cost-figure .textpoint text')]
      .map((node) => node.getBoundingClientRect()).filter(({ width }) => width)
      .map(({ left, right, top, bottom }) => [left, right, top + 2, bottom - 2])""")
    assert bool(boxes) is (width > 820)
    meet = [
        (a, b)
        for at, a in enumerate(boxes)
        for b in boxes[at + 1 :]
        if a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
    ]
    assert meet == []


@pytest.mark.parametrize("width", [1360, 390])
def test_the_board_marks_the_front_with_words(open_board: Callable[..., Any], width: int) -> None:
    page = open_board("suite=unisim-core", width=width)
    marked = page.evaluate("""() => [...document.querySelectorAll('.lk-body .lk-model')].map((cell) =>
      [cell.ariaLabel.split(' · ')[0], Boolean(cell.querySelector('.lk-front')), cell.ariaLabel])""")
    words = "no model that is no larger is proved better"
    assert {has for _, has, _ in marked} == {True, False}
    assert all((words in label) is has for _, has, label in marked)
    assert words in page.locator(".lk-legend").inner_text()
    page.locator(".lk-legend a").click()
    page.locator(".pg-table").first.wait_for()
    on = page.locator(".pg-table tbody tr", has_text="On the front").locator("th a").all_inner_texts()
    assert {name for name, has, _ in marked if has} <= set(on)


def test_where_nothing_is_known_the_board_marks_nothing(open_board: Callable[..., Any]) -> None:
    page = open_board("suite=mieb")
    assert page.locator(".lk-front").count() == 0 and "no larger" not in page.locator(".lk-legend").inner_text()
