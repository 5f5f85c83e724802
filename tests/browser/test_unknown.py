"""Addresses of what does not exist: the list with a message, never another thing in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations

MESSAGE = ".pg-message:visible"


@pytest.mark.parametrize(
    ("address", "message", "link"),
    [
        ("model?model=openai/clip-vit-base-patch23", "No model 'openai/clip-vit-base-patch23'. Did you mean", "model?"),
        ("model?model=nobody&suite=mieb&by=task", "No model 'nobody'.", "model?"),
        ("task?task=mieb/stl11", "No task 'mieb/stl11'. Did you mean 'mieb/stl10'?", "task?"),
        ("map?suites=mieb-light", "No suite 'mieb-light'. Did you mean 'mieb-lite'?", "map?"),
        ("correlations?suites=mieb-light", "No suite 'mieb-light'. Did you mean 'mieb-lite'?", "correlations?"),
        ("correlations?models=nobody/nothing", "No model 'nobody/nothing'.", "correlations?"),
        ("smaller-suite?suite=mieb-light", "No suite 'mieb-light'. Did you mean 'mieb-lite'?", "smaller-suite?"),
        ("cost?suite=mieb-light", "No suite 'mieb-light'. Did you mean 'mieb-lite'?", "cost?"),
        ("languages?language=xyz", "No language 'xyz'.", "languages?"),
        ("languages?model=royokong/e5", "No model 'royokong/e5'. Did you mean", "languages?"),
        ("generators?metric=fidd", "No metric 'fidd'. Did you mean 'fid'?", "generators?"),
        ("generators?set=hpd", "No set 'hpd'.", "generators?"),
        ("judges?judge=gpt-4o-2024-11-2", "No judge 'gpt-4o-2024-11-2'. Did you mean 'gpt-4o-2024-11-20'?", "judges?"),
        ("judges?suite=pairbanch", "No suite 'pairbanch'. Did you mean 'pairbench'?", "judges?"),
    ],
    ids=lambda value: value.partition("&")[0] if "?" in value else "",
)
@pytest.mark.parametrize("width", [1280, 390])
def test_the_list_with_a_message_and_nothing_in_its_place(
    visit: Callable, address: str, message: str, link: str, width: int
) -> None:
    page = visit(address, width=width)
    page.wait_for_load_state("networkidle")
    page.locator(MESSAGE).first.wait_for()
    assert message in page.locator(MESSAGE).first.inner_text()
    links = page.locator(f'.pg-index a[href*="{link}"]')
    assert links.count() > 2
    tops = [page.locator(one).first.bounding_box()["y"] for one in ("h1", MESSAGE, ".pg-index")]
    assert tops == sorted(tops), "the message stands above the list"
    assert page.locator("h2.pg-name").count() == 0, "another thing is shown"
    assert page.locator(".js-plotly-plot:visible").count() == 0, "a figure of another thing is shown"
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    key, _, value = address.partition("?")[2].partition("&")[0].partition("=")
    assert page.evaluate(f"new URLSearchParams(location.search).get('{key}')") == value
    links.first.click()
    page.wait_for_load_state("networkidle")
    page.locator(".pg-index").first.wait_for(state="detached")
    assert page.locator(MESSAGE).count() == 0


def test_a_control_does_not_bring_another_model_either(visit: Callable) -> None:
    """With no model chosen, another control of the page still shows none; a model from the list is shown."""
    page = visit("model?model=nobody")
    page.locator(MESSAGE).first.wait_for()
    page.get_by_label("Tasks").check()
    page.wait_for_function("new URLSearchParams(location.search).get('by') === 'task'")
    page.locator(MESSAGE, has_text="Choose a model.").first.wait_for()
    assert page.locator("h2.pg-name").count() == 0
    page.get_by_label("Model (type to search)").fill("SigLIP")
    option = page.get_by_role("option").first
    title = option.inner_text().strip("✓ \n")
    option.click()
    page.locator("h2.pg-name", has_text=title).wait_for()
    assert page.locator(MESSAGE).count() == 0


def test_the_items_and_the_map_of_a_task_show_no_other_model(visit: Callable) -> None:
    page = visit("task?task=unisim/imagenet-ooo&items=example/eyes&map=example/eyes")
    page.locator(MESSAGE, has_text="No map of 'example/eyes'. Did you mean 'example/eye'?").wait_for()
    page.locator(MESSAGE, has_text="No computed run of 'example/eyes' has stored items.").wait_for()
    assert page.locator("#item-map .js-plotly-plot:visible").count() == 0
    assert page.locator(".lk-itemlist").count() == 0
    page.locator(".lk-items select").select_option("example/eye")
    page.locator(".lk-itemlist").wait_for()
    assert "items=example/eye" in page.url.replace("%2F", "/")


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_an_address_without_a_page_is_a_page_of_the_site(visit: Callable, look: dict[str, Any]) -> None:
    page = visit("boards", expected="404", **look)
    assert page.title() == "Page not found · Likeness" and page.locator("h1").inner_text() == "Page not found"
    assert page.evaluate("document.body.classList.contains('dark')") is look.get("dark", False)
    own = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    assert grave_violations(page) == []
    page.locator("main").get_by_role("link", name="Board", exact=True).click()
    page.wait_for_selector(".likeness-board[data-ready=true]")
    if not look:
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == own


def test_a_pair_that_the_matrix_lacks_is_named(visit: Callable) -> None:
    page = visit("correlations?pair=mieb:Retrieval,nothing")
    page.locator(MESSAGE, has_text="No column 'nothing' in this matrix.").wait_for()
