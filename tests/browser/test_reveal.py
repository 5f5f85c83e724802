"""On a phone, what a press brings below the fold comes into view and is read aloud; what is in view stays there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.test_views import CHOSEN
from tests.browser.trays import READY

PHONE = {"width": 390}
SLOW = 120_000  # ms: models are loaded
WATCH = """
window.scrolled = [];
const own = Element.prototype.scrollIntoView;
Element.prototype.scrollIntoView = function (how) {
  window.scrolled.push({ node: this.id || this.className, behavior: how?.behavior ?? 'auto' });
  own.call(this, how);
};
"""


@pytest.fixture
def opened(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Opens an address on a phone; what is scrolled into view is in `window.scrolled`."""

    def open_address(address: str, *, ready: str, **how: Any) -> Any:
        page = visit(address, ready=ready, before=lambda page: page.add_init_script(WATCH), **{**PHONE, **how})
        page.wait_for_load_state("networkidle")
        return page

    return open_address


def comes_into_view(page: Any, selector: str, *, timeout: float = 30_000) -> None:
    """Waits until the beginning of the first element that fits stands within the window, and stays there."""
    page.wait_for_function(
        """(selector) => {
          const top = document.querySelector(selector)?.getBoundingClientRect().top;
          const still = top !== undefined && top >= -1 && top < innerHeight - 100 && window.top_before === top;
          window.top_before = top;
          return still;
        }""",
        arg=selector,
        timeout=timeout,
        polling=300,
    )


def scrolled(page: Any) -> list[dict[str, str]]:
    return page.evaluate("window.scrolled")


def press_cell(page: Any, *, across: float, up: float) -> None:
    """Presses a cell of the matrix at these shares of its width and height."""
    area = page.locator("#correlations-figure .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    page.mouse.click(box["x"] + across * box["width"], box["y"] + up * box["height"])


@pytest.mark.parametrize("reduced", [False, True], ids=["smooth", "at-once"])
def test_a_cell_of_the_correlations(opened: Callable, reduced: bool) -> None:
    page = opened("correlations", ready="#correlations-figure [data-listens=pair]", reduced=reduced)
    press_cell(page, across=0.05, up=0.55)
    page.locator("[data-pair]").wait_for()
    comes_into_view(page, "[data-pair]")
    assert page.evaluate("document.activeElement.matches('[data-pair]')"), "it is not read aloud"
    behaviors = {each["behavior"] for each in scrolled(page) if each["behavior"] != "auto"}
    assert behaviors == {"instant" if reduced else "smooth"}


def test_a_cell_leaves_a_visitor_who_scrolls_on_where_they_are(opened: Callable) -> None:
    page = opened("correlations", ready="#correlations-figure [data-listens=pair]")
    held: list[Any] = []
    gone_on = False

    def answer(route: Any) -> None:
        """Only once the visitor has gone on."""
        route.continue_() if gone_on else held.append(route)

    page.route("**/predict*", answer)
    press_cell(page, across=0.05, up=0.55)
    while not held:
        page.wait_for_timeout(20)
    page.mouse.wheel(0, -40)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    gone_on = True
    for route in held:
        route.continue_()
    page.locator("[data-pair]").wait_for()
    page.wait_for_timeout(500)  # longer than the page waits between two looks
    assert scrolled(page) == []


def test_a_claim(opened: Callable) -> None:
    page = opened("claims", ready=".lk-claims[data-ready]")
    page.get_by_label("The answer").get_by_role("link").first.click()
    card = page.get_by_label("The chosen claim")
    comes_into_view(page, ".lk-detail")
    assert card.get_attribute("aria-live") == "polite"
    assert len(scrolled(page)) == 1


def test_a_claim_in_view_stays_where_it_is(opened: Callable) -> None:
    page = opened("claims", ready=".lk-claims[data-ready]", width=1280)
    page.set_viewport_size({"width": 1280, "height": 2400})
    page.locator("[role=gridcell]").nth(12).click()
    page.wait_for_function("new URLSearchParams(location.search).has('claim')")
    assert scrolled(page) == []


def test_a_point_of_the_map(opened: Callable) -> None:
    page = opened("map?of=models", ready="#map-figure [data-listens=selection]")
    page.evaluate("""() => {
      const plot = document.querySelector('#map-figure .js-plotly-plot');
      document.querySelector('#map-figure').scrollIntoView();
      window.scrolled.length = 0;
      plot.emit('plotly_click', { points: [{ customdata: 0 }] });
    }""")
    page.locator(".pg-near tbody tr").first.wait_for()
    comes_into_view(page, ".pg-near")
    assert page.locator(".pg-near").get_attribute("aria-live") == "polite"


def test_the_answer_of_a_query(opened: Callable) -> None:
    page = opened("sql", ready=".lk-sql[data-ready]")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".lk-sql[data-state=answered]").wait_for()
    comes_into_view(page, ".lk-result")


def test_the_answers_on_try(opened: Callable) -> None:
    page = opened("compare", ready=READY)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator(".cp-result[data-done=yes]").wait_for(timeout=SLOW)
    comes_into_view(page, ".cp-result")


def test_a_table_on_try(opened: Callable) -> None:
    page = opened("compare?models=tiny&inputs=astronaut,text-astronaut", ready=READY)
    page.locator(".likeness-batch summary").first.click()
    page.evaluate("window.scrolled.length = 0")
    press = page.get_by_role("button", name="Run the sample")
    press.scroll_into_view_if_needed()
    press.click()
    page.locator(".likeness-batch .bt-download").wait_for(timeout=SLOW)
    comes_into_view(page, ".likeness-batch .bt-result")


def test_a_judge_in_detail(opened: Callable) -> None:
    page = opened("judges", ready=".jd-head")
    page.locator(".jd-panel li a").nth(1).click()
    page.wait_for_url("**/judges?judge=**")
    page.locator(".jd-detail h2").wait_for()
    comes_into_view(page, ".jd-detail")
    assert page.evaluate("document.activeElement.matches('.jd-detail h2')"), "it is not read aloud"


def test_the_comparison_of_the_board(opened: Callable) -> None:
    page = opened(f"board?select={CHOSEN}", ready=".likeness-board[data-ready=true]")
    page.get_by_role("button", name="Compare 3").click()
    page.locator("#comparison h2").wait_for()
    comes_into_view(page, "#comparison")
    assert page.evaluate("document.activeElement.matches('#comparison h2')")


def test_an_address_that_ends_in_a_broken_name_harms_nothing(visit: Callable) -> None:
    page = visit("about#%")
    page.wait_for_function("document.querySelector('.site-bar-theme').dataset.ready === 'true'")
