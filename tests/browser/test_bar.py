"""The bar above every page: its links, its lists by keyboard, its menu on a phone, and the switch of the theme."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.page import BAR
from leaderboard.pages import VIEWS
from tests.browser.axe_rules import grave_violations
from tests.browser.test_pages import settle

LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"width": 390}}
GROUP = "Insights"
BELOW = [view for view in VIEWS if view.group == GROUP and view.listed]


def bar(page: Any) -> Any:
    return page.locator("header.site-bar")


def expanded(page: Any) -> list[str]:
    """The texts of the buttons whose list is open."""
    return bar(page).locator("[aria-expanded=true]").all_inner_texts()


def focused(page: Any) -> str:
    return page.evaluate("document.activeElement.textContent.trim()")


@pytest.fixture
def ready(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Opens a page and waits until the bar's script has run."""

    def open_page(path: str = "", **how: Any) -> Any:
        page = visit(path, **how)
        page.wait_for_function("document.querySelector('.site-bar-theme').dataset.ready === 'true'")
        return page

    return open_page


@pytest.mark.parametrize("key", [view.key for view in VIEWS], ids=[view.key or "overview" for view in VIEWS])
def test_a_page_marks_itself_in_the_bar(visit: Callable, key: str) -> None:
    page = visit(key)
    view = next(view for view in VIEWS if view.key == key)
    current = bar(page).locator("[aria-current=page]")
    several = sum(other.group == view.group for other in VIEWS) > 1
    title = "Likeness" if key == "" else view.title if several else view.group
    assert current.evaluate_all("nodes => nodes.map((node) => node.textContent.trim())") == [title] * view.listed
    inside = bar(page).locator(".site-bar-inside").all_inner_texts()
    assert inside == ([view.group] if several and view.group else [])
    entries = bar(page).locator("nav > ul > li > :is(a, button)").all_inner_texts()
    assert entries == [entry for entry in BAR if any(view.group == entry for view in VIEWS)]
    assert page.locator(".nav-holder:visible").count() == 0, "Gradio's own list of pages stands there too"


def test_the_bar_has_no_underlines_and_one_button_for_the_search(ready: Callable) -> None:
    page = ready("board")
    lines = page.evaluate(
        "[...document.querySelectorAll('.site-bar a')].map((link) => getComputedStyle(link).textDecorationLine)"
    )
    assert set(lines) == {"none"}
    assert bar(page).get_by_role("button", name="Search the site").count() == 1


def test_a_list_opens_walks_and_closes_by_keyboard(ready: Callable) -> None:
    page = ready("board")
    button = bar(page).get_by_role("button", name=GROUP)
    link = bar(page).get_by_role("link", name=BELOW[0].title)
    assert not link.is_visible()
    for key in ("Enter", "Space"):
        button.focus()
        page.keyboard.press(key)
        assert expanded(page) == [GROUP] and link.is_visible()
        page.keyboard.press("Escape")
        assert expanded(page) == [] and focused(page) == GROUP
    page.keyboard.press("ArrowDown")
    assert expanded(page) == [GROUP] and focused(page) == BELOW[0].title
    page.keyboard.press("ArrowDown")
    assert focused(page) == BELOW[1].title
    page.keyboard.press("End")
    assert focused(page) == BELOW[-1].title
    page.keyboard.press("ArrowDown")
    assert focused(page) == BELOW[0].title
    page.keyboard.press("ArrowUp")
    assert focused(page) == BELOW[-1].title
    page.keyboard.press("Tab")  # out of the list
    assert expanded(page) == [] and focused(page) == "Claims"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "Models & tasks"
    page.keyboard.press("Home")
    assert focused(page) == "Board"
    button.focus()
    page.keyboard.press("ArrowDown")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.rpartition("/")[2] == BELOW[0].key


def test_one_list_is_open_at_a_time_and_a_click_elsewhere_closes_it(ready: Callable) -> None:
    page = ready("about")
    bar(page).get_by_role("button", name=GROUP).click()
    bar(page).get_by_role("button", name="Models & tasks").click()
    assert expanded(page) == ["Models & tasks"]
    page.locator("h1").click(position={"x": 5, "y": 5})
    assert expanded(page) == []


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_an_open_list_can_be_read_by_all(ready: Callable, look: dict[str, Any]) -> None:
    page = ready("map", **look)
    settle(page)
    if look.get("width"):
        bar(page).get_by_role("button", name="Menu").click()
    bar(page).get_by_role("button", name=GROUP).click()
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
    covered = page.evaluate("""() => [...document.querySelectorAll('.site-bar :is(a, button)')]
      .filter((node) => node.offsetParent).filter((node) => {
        const { x, y, width, height } = node.getBoundingClientRect();
        return !node.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      }).map((node) => node.textContent)""")
    assert covered == []


@pytest.mark.parametrize("width", [320, 390, 680])
def test_on_a_phone_the_bar_is_one_row_with_a_menu(ready: Callable, width: int) -> None:
    """680 px are 1360 px at a zoom of 200%."""
    page = ready("board", width=width)
    menu = bar(page).get_by_role("button", name="Menu")
    closed = bar(page).bounding_box()["height"]
    assert closed < 60 and not bar(page).get_by_role("link", name="Claims").is_visible()
    menu.click()
    assert expanded(page) == ["Menu"]
    bar(page).get_by_role("button", name=GROUP).click()
    below = bar(page).bounding_box()
    assert page.locator("h1").bounding_box()["y"] >= below["y"] + below["height"], "the menu lies over the page"
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert expanded(page) == [] and focused(page) == "Menu"
    assert bar(page).bounding_box()["height"] == closed
    menu.click()
    with page.expect_navigation():
        bar(page).get_by_role("link", name="Claims").click()
    assert page.url.endswith("/claims")


def test_the_theme_is_switched_and_stays_on_other_pages(browser: Any, server: str) -> None:
    page = browser.new_page(color_scheme="light")
    try:
        page.goto(server + "about")
        page.wait_for_function("document.querySelector('.site-bar-theme').dataset.ready === 'true'")
        switch = page.get_by_role("button", name="Dark theme")
        assert switch.get_attribute("aria-pressed") == "false"
        switch.click()
        assert switch.get_attribute("aria-pressed") == "true"
        page.goto(server + "claims")
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.body.classList.contains('dark')")
        page.goto(server + "claims?__theme=light")
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        assert not page.evaluate("document.body.classList.contains('dark')")
    finally:
        page.close()


def test_the_bar_does_not_move_while_a_page_loads(browser: Any, server: str) -> None:
    """The same box before any script has run and at the end."""
    boxes = []
    for scripts in (False, True):
        context = browser.new_context(java_script_enabled=scripts, viewport={"width": 1360, "height": 900})
        page = context.new_page()
        page.goto(server + "map")
        if scripts:
            page.locator("h1").wait_for()
            page.wait_for_load_state("networkidle")
        parts = page.locator(".site-bar, .site-bar-home, .site-bar nav > ul > li, .site-bar-theme").all()
        boxes.append([part.bounding_box() for part in parts])
        context.close()
    assert boxes[0] == boxes[1] and len(boxes[0]) == 3 + len(BAR)


@pytest.mark.parametrize("address", ["", "board", "no-such-page"])
def test_every_page_is_set_in_the_site_s_own_typeface(visit: Callable, address: str) -> None:
    page = visit(address, expected="404", ready="h1")
    page.wait_for_function("document.fonts.check('16px Inter') && document.fonts.check('600 16px Inter')")
    assert page.evaluate("[...document.fonts].filter((face) => face.family === 'Inter').length") == 2
    families = page.evaluate(
        "['.site-bar', 'h1'].map((part) => getComputedStyle(document.querySelector(part)).fontFamily)"
    )
    assert all(family.startswith("Inter") for family in families), families


def test_figures_are_of_equal_width_in_a_table(visit: Callable) -> None:
    page = visit("")
    page.wait_for_function("document.fonts.check('16px Inter')")
    widths = page.evaluate("""() => ['1', '4', '8'].map((digit) => {
      const node = document.createElement('span');
      node.className = 'pg-num';
      node.textContent = digit.repeat(20);
      node.style.position = 'absolute';
      document.querySelector('h1').append(node);
      return node.getBoundingClientRect().width;
    })""")
    assert max(widths) - min(widths) < 1, widths  # a 1 as wide as it looks best would be 70 pixels less
