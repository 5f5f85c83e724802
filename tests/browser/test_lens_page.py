"""The page of metrics on known faults: read by all, its order, keyboard and address, phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import serving
from tests.leaderboard import fault_stand_ins


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a database with a study of made-up figures."""
    folder = tmp_path_factory.mktemp("lens")
    fault_stand_ins.make(folder / "results")
    with serving(fault_stand_ins.database(folder, results=folder / "results")) as address:
        yield address


@pytest.fixture
def open_lens(visit: Callable[..., Any]) -> Callable[..., Any]:
    def opened(address: str = "lens?metric=fd", **how: Any) -> Any:
        page = visit(address, ready=".ln-head", **how)
        page.wait_for_load_state("networkidle")
        return page

    return opened


# At 200% zoom a screen of 1280 pixels shows as many as one of 640.
@pytest.mark.parametrize(
    "look", [{}, {"dark": True}, {"width": 390}, {"width": 640}], ids=["light", "dark", "phone", "zoomed"]
)
def test_the_whole_page_can_be_read_by_all(open_lens: Callable, look: dict[str, Any]) -> None:
    page = open_lens(**look)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
    pictures = page.locator(".ln-panel svg")
    assert pictures.count() == 7
    assert min(pictures.nth(at).bounding_box()["height"] for at in range(7)) > 60
    labels = page.locator(".ln-chart .ln-x span, .ln-chart .ln-y span")
    assert labels.count() > 7 * 5
    sizes = labels.evaluate_all("all => all.map((one) => parseFloat(getComputedStyle(one).fontSize))")
    assert min(sizes) >= 12, "an axis cannot be read"


def test_the_answer_stands_before_the_picture_and_the_controls(open_lens: Callable) -> None:
    page = open_lens()
    tops = [
        page.locator(part).first.bounding_box()["y"]
        for part in ("h1", ".ln-head h2", ".ln-answer", ".ln-panels", ".pg-controls", ".pg-section")
    ]
    assert tops == sorted(tops)


def test_another_metric_by_keyboard_is_in_the_address(open_lens: Callable) -> None:
    page = open_lens()
    page.get_by_text("FD sees 5 of 7 faults").wait_for()
    box = page.get_by_label("Metric", exact=True)
    box.focus()
    box.fill("cFreD")
    box.press("Enter")
    page.get_by_text("cFreD sees 6 of 7 faults").wait_for()
    page.wait_for_function("!location.search.includes('fd')")


def test_a_metric_of_the_table_opens_it(open_lens: Callable) -> None:
    page = open_lens("lens")
    table = page.locator(".lk-data[data-source='data/lens']")
    table.scroll_into_view_if_needed()
    table.get_by_role("link", name="FD", exact=True).first.click()
    page.get_by_text("FD sees 5 of 7 faults").wait_for()
    assert page.url.endswith("lens?metric=fd")


def test_the_table_sorts_by_a_fault(open_lens: Callable) -> None:
    page = open_lens()
    table = page.locator(".lk-data[data-source='data/lens']")
    table.scroll_into_view_if_needed()
    head = table.get_by_role("columnheader", name="Swapped prompts")
    head.click()
    table.locator("[role=columnheader][aria-sort=ascending]").wait_for()
    first = table.locator("[role=row]").nth(1)
    assert "no difference" in first.inner_text()
    head.click()
    table.locator("[role=columnheader][aria-sort=descending]").wait_for()
    assert "sees from 1" in table.locator("[role=row]").nth(1).inner_text()


def test_the_curve_over_prompts_ends_at_infinity(open_lens: Callable) -> None:
    page = open_lens()
    chart = page.locator(".ln-sizes .ln-chart")
    assert chart.locator(".ln-x span").all_inner_texts() == ["32", "128", "256", "∞"]
    assert chart.locator(".ln-whisker").count() == 4 and chart.locator(".ln-band").count() == 1
    places = chart.locator(".ln-x span").evaluate_all("all => all.map((one) => one.getBoundingClientRect().left)")
    assert places == sorted(places)
