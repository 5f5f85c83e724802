"""The lists of models and tasks: search, filters and sort in the address, links, and the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import HOSTILE

READY = ".lk-catalogue[data-ready]"


@pytest.fixture
def open_list(visit: Callable[..., Any]) -> Callable[..., Any]:
    return lambda path, **how: visit(path, ready=READY, **how)


def rows(page: Any) -> int:
    return int(page.locator(READY).get_attribute("data-rows"))


def first_name(page: Any) -> str:
    return page.locator(".lk-body [aria-rowindex='2'] a").first.inner_text()


@pytest.mark.parametrize("path", ["models?suite=mieb&size=1b", "tasks?language=swa"])
@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_a_filtered_list_can_be_read_by_all(open_list: Callable, path: str, look: dict) -> None:
    page = open_list(path, **look)
    assert 0 < rows(page) < 100
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    assert page.locator(".lk-body [role=row]").first.is_visible()
    assert grave_violations(page) == []


def test_filters_stand_in_the_address_and_come_back_from_it(open_list: Callable) -> None:
    page = open_list("models")
    whole = rows(page)
    page.get_by_label("Licence").select_option("permissive")
    page.get_by_label("Filter models by name").fill("siglip")
    page.wait_for_function("location.search.includes('q=siglip') && location.search.includes('license=permissive')")
    assert 0 < rows(page) < whole
    again = open_list(page.url.removeprefix(page.url.split("models")[0]))
    assert rows(again) == rows(page)
    assert again.get_by_label("Licence").input_value() == "permissive"
    again.get_by_role("button", name="Show all").click()
    again.wait_for_function("!location.search.includes('license')")
    assert rows(again) == whole


def test_a_sort_by_a_suites_rank_begins_with_its_first(open_list: Callable) -> None:
    page = open_list("models?suite=unisim-core&sort=rank")
    ranks = [text.split()[0] for text in page.locator(".lk-body a[href^='board?']").all_inner_texts()]
    ranks = [int(rank) for rank in ranks if rank.isdecimal()]
    assert ranks[0] == 1 and ranks == sorted(ranks) and len(set(ranks)) > 5
    page.get_by_role("button", name="Model", exact=True).click()
    page.wait_for_function("location.search.includes('sort=title')")
    letters = [name[0].lower() for name in page.locator(".lk-catalogue-name").all_inner_texts()]
    assert letters == sorted(letters) and len(set(letters)) > 5


def test_names_best_scores_and_weights_are_links(open_list: Callable) -> None:
    page = open_list("models?q=clip-vit-base-patch32")
    hrefs = page.locator(".lk-body a").evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
    assert "model?model=openai/clip-vit-base-patch32" in hrefs
    assert "https://huggingface.co/openai/clip-vit-base-patch32" in hrefs
    tasks = open_list("tasks?q=stl10&benchmark=mieb")
    hrefs = tasks.locator(".lk-body a").evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
    assert "task?task=mieb/stl10" in hrefs and "https://arxiv.org/abs/2504.10471" in hrefs
    assert any(href.startswith("model?model=") for href in hrefs)


def test_a_type_of_task_is_explained_below_the_list_and_leads_to_its_tasks(open_list: Callable) -> None:
    page = open_list("tasks")
    types = page.locator("#types")
    types.locator("li").first.wait_for()
    top = page.locator(READY).bounding_box()
    assert types.bounding_box()["y"] >= top["y"] + top["height"]
    assert types.locator("svg[role=img]").first.bounding_box()["width"] == 48
    first = types.locator("li").first
    count = int(first.locator("h3 .pg-quiet").inner_text().split()[0])
    first.locator("h3 a").click()
    page.wait_for_url("**/tasks?type=*")
    page.locator(READY).wait_for()
    assert rows(page) == count > 0


def test_the_keyboard_opens_a_models_page(open_list: Callable) -> None:
    page = open_list("models?q=dinov2-base")
    page.locator(".lk-body [aria-rowindex='2'] [role=gridcell]").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/model?model=facebook/dinov2-base**")
    page.locator("h2.pg-name").wait_for()


def test_a_model_without_a_score_has_a_page(open_list: Callable) -> None:
    page = open_list("models?scores=no&q=ijepa")
    page.locator(".lk-catalogue-name").first.click()
    page.locator("h2.pg-name").wait_for()
    assert "I-JEPA" in page.locator("h2.pg-name").inner_text()
    assert "no score in a suite yet" in page.locator("body").inner_text()


def test_a_title_out_of_a_file_is_text(open_list: Callable) -> None:
    page = open_list("models?q=example/hostile")
    assert rows(page) == 1 and HOSTILE in page.locator(".lk-catalogue-name").inner_text()
    assert page.evaluate("window.harmed === undefined")


def test_filtering_draws_only_what_is_visible(open_list: Callable) -> None:
    page = open_list("models")
    assert rows(page) > 250 and page.locator(".lk-body [role=row]").count() < 60
