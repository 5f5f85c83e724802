"""The page of judges with stored pairs: its order, examples with pictures and reasons, keyboard, phone, no shift."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import serving
from tests.leaderboard import judge_stand_ins

LEANING = "judges?suite=mini-pairs&judge=example/leaning"
SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (!entry.hadRecentInput) window.shifts.push([entry.startTime, entry.value]);
})).observe({type: 'layout-shift', buffered: true});"""
DRAWN = """new MutationObserver(() => {
  if (document.querySelector('.jd-head')) window.drawn ??= performance.now();
}).observe(document, {childList: true, subtree: true});"""
MOST_SHIFT = 0.1  # of the page's own; good by the Core Web Vitals


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a database with stand-in judges."""
    folder = tmp_path_factory.mktemp("judges")
    judge_stand_ins.make(folder / "results")
    with serving(judge_stand_ins.database(folder, results=folder / "results")) as address:
        yield address


@pytest.fixture
def open_judges(visit: Callable[..., Any]) -> Callable[..., Any]:
    def opened(address: str = LEANING, **how: Any) -> Any:
        page = visit(address, ready=".jd-head", **how)
        page.locator(".jd-detail").wait_for()
        page.wait_for_load_state("networkidle")
        return page

    return opened


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_the_whole_page_can_be_read_by_all(open_judges: Callable, look: dict[str, Any]) -> None:
    page = open_judges(**look)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
    names = page.locator(".jd-panel li a:visible")
    assert min(names.nth(at).bounding_box()["width"] for at in range(names.count())) > 30


def test_the_answer_stands_before_the_picture_and_the_controls(open_judges: Callable) -> None:
    page = open_judges()
    tops = [
        page.locator(part).first.bounding_box()["y"]
        for part in ("h1", ".jd-head h2", ".jd-leads", ".jd-panels", ".pg-controls", ".jd-detail")
    ]
    assert tops == sorted(tops)


def test_examples_show_both_pictures_both_answers_and_the_reasons(open_judges: Callable) -> None:
    page = open_judges()
    first = page.locator(".jd-flips li").first
    first.scroll_into_view_if_needed()
    page.wait_for_function("""() => [...document.querySelector('.jd-flips li').querySelectorAll('img')]
      .every((image) => image.complete && image.naturalWidth > 0)""")
    assert first.locator("img").count() == 2
    replies = first.locator(".jd-replies dd").all_inner_texts()
    assert len(replies) == 2 and all(reply.startswith("Score: ") and "Reason:" in reply for reply in replies)
    assert "<img src=x" in replies[0], "markup in a reply is text"
    assert page.evaluate("window.harmed") is None and page.locator("img[src=x]").count() == 0


def test_another_judge_by_keyboard_is_in_the_address(open_judges: Callable) -> None:
    page = open_judges()
    box = page.get_by_label("Judge in detail (type to search)")
    box.focus()
    box.fill("Steady")
    page.get_by_role("option", name="Steady Judge").wait_for()
    page.keyboard.press("Enter")
    page.locator(".jd-detail h2", has_text="Steady Judge on Mini pairs").wait_for()
    page.wait_for_function("new URLSearchParams(location.search).get('judge') === 'example/steady'")
    page.get_by_text("None: every pair with two scores got the same score in both orders.").wait_for()


def test_a_name_in_the_picture_opens_the_judge(open_judges: Callable) -> None:
    page = open_judges("judges?suite=mini-pairs")
    page.locator(".jd-panel a", has_text="Example Eye").first.click()
    page.locator(".jd-detail h2", has_text="Example Eye on Mini pairs").wait_for()
    page.get_by_role("link", name="Everything about Example Eye").click()
    page.locator("h2.pg-name", has_text="Example Eye").wait_for()
    assert page.get_by_text("As a judge", exact=True).count() == 1
    page.get_by_role("heading", name="As a judge").wait_for()
    page.locator("a[href^='judges?judge=example/eye&suite=mini-pairs']").click()
    page.locator(".jd-detail h2", has_text="Example Eye on Mini pairs").wait_for()


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_single_pairs_of_a_task_show_both_images_and_both_answers(visit: Callable, look: dict[str, Any]) -> None:
    page = visit("task?task=mini/pairs-cj&items=example/leaning", ready=".lk-items[data-ready] .lk-item", **look)
    apart = page.locator(".lk-item").first  # the pair whose scores differ the most in the two orders
    apart.scroll_into_view_if_needed()
    page.wait_for_function("""() => [...document.querySelector('.lk-item').querySelectorAll('img')]
      .every((image) => image.complete && image.naturalWidth > 0)""")
    names = [image.get_attribute("alt").partition(",")[0] for image in apart.locator("img").all()]
    assert names == ["First", "Second"]
    forward, reverse = (float(score) for score in apart.locator(".lk-said").inner_text().split(" | "))
    replies = apart.locator("blockquote").all_inner_texts()
    assert len(replies) == 2 and forward != reverse
    for reply, order, score in zip(replies, ("In this order", "The two swapped"), (forward, reverse), strict=True):
        assert reply.startswith(order) and f"Score: {score:g}" in reply
    assert "<img src=x" in replies[0], "markup in a reply is text"
    assert page.evaluate("window.harmed") is None and page.locator("img[src=x]").count() == 0
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)


@pytest.mark.parametrize(
    "query",
    [
        "suite=%22%3E%3Cscript%3Ewindow.harmed=1%3C/script%3E",
        "judge=%3Cimg%20src=x%20onerror=window.harmed=1%3E",
        "split=../../etc/passwd&splits=%00",
        "suite=mini-pairs&judge=example/leaning&split=pairbench/coco-cj",
        "judge=" + "a" * 3000,
    ],
    ids=["suite", "judge", "split", "split-of-another-suite", "long"],
)
def test_hostile_parameters_harm_nothing(visit: Callable, query: str) -> None:
    page = visit(f"judges?{query}", expected="400")
    page.wait_for_load_state("networkidle")
    assert page.locator("h1").count() == 1 and page.evaluate("window.harmed") is None
    assert "Something failed" not in page.locator("body").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_when_the_answer_is_drawn(open_judges: Callable, width: int) -> None:
    """From the frame in which the answer is drawn; how Gradio's own bar builds up before that is every page's."""
    page = open_judges(width=width, before=lambda page: page.add_init_script(SHIFTS + DRAWN))
    page.wait_for_timeout(300)
    moved = page.evaluate(
        "window.shifts.filter(([at]) => at > window.drawn - 50).reduce((sum, [, value]) => sum + value, 0)"
    )
    assert moved < MOST_SHIFT, page.evaluate("window.shifts")
