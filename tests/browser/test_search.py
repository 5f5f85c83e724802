"""The search over the site: opened by `/` or its button, driven by keys, on every page and on a phone."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.pages import VIEWS
from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import HOSTILE

MOUNTED = ".site-bar-search[data-ready]"
QUERIES = (
    "CLIP-L/14",
    "CLIP L/14",
    "ViT-L-14",
    "symm",
    "siglpi",
    "dino v2",
    "FID",
    "swahili",
    "Table 22",
    "gpt4o",
)


@pytest.fixture
def open_page(visit: Callable[..., Any]) -> Callable[..., Any]:
    def open_key(key: str, **how: Any) -> Any:
        page = visit(key, **how)
        page.locator(MOUNTED).wait_for(state="attached")
        return page

    return open_key


def search(page: Any, query: str) -> list[str]:
    """Types a query into the open dialog; the titles of its results."""
    page.locator(".se-input").fill(query)
    page.wait_for_function(
        "(query) => document.querySelector('.se-dialog[open]').dataset.query === query", arg=query[:100]
    )
    return page.locator(".se-dialog .se-title").all_inner_texts()


def active(page: Any) -> str:
    return page.evaluate("""() => {
      const id = document.querySelector('.se-input').getAttribute('aria-activedescendant');
      const option = id && document.getElementById(id);
      return option?.getAttribute('aria-selected') === 'true' ? option.querySelector('.se-title').textContent : '';
    }""")


@pytest.mark.parametrize("key", [view.key for view in VIEWS], ids=[view.key or "overview" for view in VIEWS])
def test_slash_opens_it_on_every_page(open_page: Callable, key: str) -> None:
    page = open_page(key)
    assert not any(path.endswith("/data/search") for path in page.watch.requests), "fetched before it is used"
    page.keyboard.press("/")
    assert "Judges" in search(page, "symm")
    assert page.evaluate("document.activeElement.className") == "se-input"


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_it_can_be_read_by_all(open_page: Callable, look: dict) -> None:
    page = open_page("claims", **look)
    page.get_by_role("button", name="Search the site").click()
    assert search(page, "clip l/14")
    box = page.locator(".se-dialog").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= (look.get("width") or 1280)
    assert grave_violations(page) == []


def test_arrows_choose_enter_opens_and_escape_closes(open_page: Callable) -> None:
    page = open_page("about")
    page.get_by_role("button", name="Search the site").focus()
    page.keyboard.press("Enter")
    titles = search(page, "clip l/14")
    assert "CLIP ViT-L/14" in titles and active(page) == titles[0]
    page.keyboard.press("ArrowDown")
    assert active(page) == titles[1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert active(page) == titles[-1], "the list goes round"
    page.keyboard.press("Escape")
    assert page.locator(".se-dialog").is_hidden()
    assert page.evaluate("document.activeElement.className") == "site-bar-search", "the focus comes back"
    page.keyboard.press("/")
    search(page, "dinov2 base")
    page.keyboard.press("Enter")
    page.wait_for_url("**/model?model=facebook/dinov2-base**")


def test_symm_leads_to_pairbench_ranked_by_symmetry(open_page: Callable) -> None:
    page = open_page("")
    page.keyboard.press("/")
    search(page, "symm")
    page.locator(".se-option", has_text="1-RelaxSym").click()
    page.wait_for_url("**/board?suite=pairbench&sort=-pairbench/aggregate:relax_sym**")
    page.locator(".likeness-board[data-ready=true] [aria-sort=descending]", has_text="1-RelaxSym").wait_for()


def test_a_claim_leads_to_its_row(open_page: Callable) -> None:
    page = open_page("")
    page.keyboard.press("/")
    search(page, "lacks in symmetry and smoothness")
    page.keyboard.press("Enter")
    page.wait_for_url("**/claims?claim=*")
    page.locator(".lk-claims[data-ready]").wait_for()
    assert "lacks in symmetry and smoothness" in page.locator(".lk-claims").inner_text()


def test_slash_in_a_field_is_a_letter(open_page: Callable) -> None:
    page = open_page("claims")
    field = page.get_by_label("Search claims")
    field.fill("Table 2")
    field.press("/")
    assert field.input_value() == "Table 2/" and page.locator(".se-dialog[open]").count() == 0


def test_titles_are_text_and_long_input_is_cut(open_page: Callable) -> None:
    page = open_page("")
    page.keyboard.press("/")
    assert HOSTILE in search(page, "example/hostile")
    assert page.locator(".se-dialog img").count() == 0 and page.evaluate("window.harmed === undefined")
    page.locator(".se-input").fill("")
    page.locator(".se-input").press_sequentially("<b>" + "x" * 150)
    assert len(page.locator(".se-input").input_value()) == 100
    page.get_by_text("Nothing matches.").wait_for()


def test_a_search_takes_less_than_a_blink(open_page: Callable) -> None:
    """The time in the browser for each of ten queries, the best of five: the machine may be busy with other tests."""
    page = open_page("")
    page.keyboard.press("/")
    search(page, "warm up")
    took = {}
    for query in QUERIES:
        times = []
        for _ in range(5):
            search(page, "")
            assert search(page, query), query
            times.append(float(page.locator(".se-dialog").get_attribute("data-took")))
        took[query] = min(times)
    assert max(took.values()) < 50, took
    assert statistics.median(took.values()) < 25, took


def test_it_says_when_the_index_does_not_come_and_tries_again(open_page: Callable) -> None:
    page = open_page("about", expected="Failed to load|500")
    page.route("**/data/search", lambda route: route.abort())
    page.keyboard.press("/")
    page.get_by_text("The search could not be loaded.").wait_for()
    page.unroute("**/data/search")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert search(page, "symm")
