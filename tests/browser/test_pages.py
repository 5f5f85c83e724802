"""Every page, opened from its address alone: light, dark, on a phone, and without leaving the machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.pages import VIEWS
from tests.browser.axe_rules import grave_violations

LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"width": 390}}
KEYS = [view.key for view in VIEWS]
NAMES = [view.key or "overview" for view in VIEWS]
BUSY = ".likeness-board[data-ready=false], [aria-busy=true], .progress-text, .pg-waiting, .empty.large"  # a figure last
NONSENSE = (
    "suite=nowhere&model=no/body&task=x/y&method=guess&metric=%3Cscript%3E&paper=none&q=%00&sort=-&n=1e999&page=-7"
)


def settle(page: Any) -> None:
    """Until the page's load event has been answered and its figures stand."""
    page.wait_for_load_state("networkidle")
    page.wait_for_function(
        "(busy) => ![...document.querySelectorAll(busy)].some((node) => node.offsetParent)", arg=BUSY
    )
    page.wait_for_function("""() => {
      const plots = [...document.querySelectorAll('.js-plotly-plot')].filter((node) => node.offsetParent);
      return plots.every((plot) => plot.querySelector('.main-svg'));
    }""")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # styles follow


@pytest.fixture
def open_page(visit: Callable[..., Any]) -> Callable[..., Any]:
    def open_key(key: str, **how: Any) -> Any:
        page = visit(key, **how)
        page.locator("h1").first.wait_for()
        page.wait_for_load_state("load")
        settle(page)
        return page

    return open_key


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
@pytest.mark.parametrize("key", KEYS, ids=NAMES)
def test_a_page_opens_from_its_address_and_can_be_read_by_all(
    open_page: Callable, key: str, look: dict[str, Any]
) -> None:
    """One title, one sentence, no serious violation of the rules for access, nothing to scroll sideways."""
    page = open_page(key, **look)
    assert page.locator("h1").count() == 1
    sentence = page.locator("h1 + p").first.inner_text()
    assert len(sentence.split()) >= 5 and sentence.strip().endswith("."), sentence
    assert page.evaluate("document.body.classList.contains('dark')") is look.get("dark", False)
    assert "Something failed" not in page.locator("body").inner_text()
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)


@pytest.mark.parametrize("key", KEYS, ids=NAMES)
def test_nonsense_in_the_address_shows_the_page_all_the_same(open_page: Callable, key: str) -> None:
    page = open_page(f"{key}?{NONSENSE}", expected="400")
    assert page.locator("h1").count() == 1
    text = page.locator("body").inner_text()
    assert not re.search(r"Traceback|Exception|\bError:|undefined|\bNaN\b|\[object", text)
    assert page.locator("body script:text('nowhere'), img[src=x]").count() == 0


def test_first_page_links_reach_the_others(open_page: Callable) -> None:
    """Whatever the first page links to within the app is a page of it."""
    page = open_page("")
    hrefs = page.evaluate("""() => [...document.querySelectorAll('a[href]')].map((link) => link.href)
      .filter((href) => href.startsWith(document.baseURI)).map((href) => href.slice(document.baseURI.length))""")
    paths = {href.partition("?")[0].partition("#")[0].strip("/") for href in hrefs}
    known = {*KEYS, "export/everything"}
    assert paths <= known, sorted(paths - known)
    listed = {view.key for view in VIEWS if view.listed}
    assert listed <= paths | {""}, f"the navigation lacks {sorted(listed - paths)}"
    for view in VIEWS:
        if not view.listed:  # a page of one model or task, whose list the first page links to
            page = open_page(f"{view.key}s")
            page.locator(f"main a[href^='{view.key}?']").first.wait_for()


def test_no_name_resolves_in_this_browser(visit: Callable) -> None:
    """The pages above were read with name resolution off; this holds that it was."""
    page = visit("", expected="ERR_NAME_NOT_RESOLVED|Failed to load")
    page.watch.host = ""  # this one request is meant to go elsewhere
    page.watch.offences.clear()
    answer = page.evaluate("fetch('http://example.org/', {mode: 'no-cors'}).then(() => 'reached', () => 'nowhere')")
    assert answer == "nowhere"
    page.watch.offences = [one for one in page.watch.offences if "example.org" not in one]


@pytest.mark.parametrize("key", KEYS, ids=NAMES)
def test_plotly_is_only_fetched_where_a_figure_stands(open_page: Callable, key: str) -> None:
    page = open_page(key)
    if page.locator(".js-plotly-plot").count() == 0:
        assert not [path for path in page.watch.requests if "plotly" in path.lower()]
    if key == "board":
        assert page.locator(".js-plotly-plot").count() == 0


# Notes in which order the answer was painted, which is before the frame after the one that shows it, and plotly ran.
ORDER = """
window.order = [];
Object.defineProperty(window, 'Plotly', { set() { order.push('plotly'); }, configurable: true });
(function look() {
  if (document.querySelector('.pg-lead')) requestAnimationFrame(() => order.push('answer'));
  else requestAnimationFrame(look);
})();
"""


@pytest.mark.parametrize("key", ["cost", "generators", "languages", "map"])
def test_the_answer_is_painted_before_plotly_runs(visit: Callable, key: str) -> None:
    page = visit(key, before=lambda page: page.add_init_script(ORDER))
    page.wait_for_function("order.length === 2", timeout=60_000)
    assert page.evaluate("order") == ["answer", "plotly"]


EVENTS = "**/gradio_api/run/**"


def refuse_events(page: Any) -> None:
    """Has the server refuse what a page asks for when it is opened."""
    page.route(EVENTS, lambda route: route.fulfill(status=503, json={"error": "Many visitors"}))


@pytest.mark.parametrize("key", ["", "about"], ids=["overview", "about"])
def test_a_page_whose_event_fails_says_so_and_can_be_tried_again(visit: Callable, key: str) -> None:
    """These pages wait for one event; without its answer they once said "Loading" for good."""
    page = visit(key, expected="503", before=refuse_events)
    message = page.locator("main .pg-message")
    message.wait_for()
    assert "could not be loaded. The server could not answer." in message.inner_text()
    assert page.locator(".pg-waiting").count() == 0 and grave_violations(page) == []
    page.unroute(EVENTS)
    page.get_by_role("link", name="Try again").click()
    page.locator("main h2").first.wait_for()
    settle(page)
    assert message.count() == 0


@pytest.mark.parametrize(
    ("key", "messages"), [("", 1), ("tasks", 1), ("models", 0)], ids=["overview", "tasks", "models"]
)
def test_text_that_came_with_the_page_stays_where_its_event_fails(visit: Callable, key: str, messages: int) -> None:
    """Once a message stood in its place, on Tasks twice, and the link to `#types` led nowhere."""
    page = visit(key, expected="503", before=refuse_events)
    page.locator("main .pg-starts a, main .pg-lead a").first.wait_for()
    settle(page)
    assert page.locator("main .pg-message").count() == messages
    assert page.locator("main .pg-starts a, main .pg-lead a").count() > 3
    if key == "tasks":
        assert "What each type of task asks could not be loaded." in page.locator("#types .pg-message").inner_text()
