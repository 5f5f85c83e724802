"""Plotly on a phone: no toolbar, labels stay, and random switches of presets without a script error."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.conftest import PATIENCE, Watch
from tests.browser.test_pages import settle

SWITCHES = int(os.environ.get("LIKENESS_PRESET_SWITCHES", "12"))  # by link: each loads the page, 1 to 3 s
FIGURE = "#correlations-figure"
DRAWN = f"{FIGURE} [data-listens=pair]"
SEED = 7


@pytest.fixture
def phone(browser: Any, server: str) -> Iterator[Callable[[str], Any]]:
    """Opens an address on a phone with a touch screen; fails at the end on an error of any script."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(PATIENCE)
    watches: list[Watch] = []

    def open_page(path: str) -> Any:
        page = context.new_page()
        watches.append(Watch(page, server=server, expected=""))
        page.goto(server + path)
        return page

    yield open_page
    offences = [offence for watch in watches for offence in watch.offences]
    context.close()
    assert offences == []


def test_random_switches_of_presets(phone: Callable) -> None:
    page = phone("correlations")
    page.locator(DRAWN).wait_for(state="attached")
    chance = random.Random(SEED)
    seen = set()
    for _ in range(SWITCHES):
        links = page.get_by_role("navigation", name="Ready-made views").locator("a[href*=preset]")
        link = links.nth(chance.randrange(links.count()))
        seen.add(link.inner_text())
        with page.expect_navigation(wait_until="commit"):
            link.click()
        page.locator(DRAWN).wait_for(state="attached")
    assert len(seen) > 3 and page.locator(f"{FIGURE} .heatmaplayer").count() > 0


CONTROLS = {"correlations": ("Compare", "Method", "Models", "Figures"), "map": ("Map of", "Colour by", "Figures")}


@pytest.mark.parametrize("address", CONTROLS)
def test_random_switches_of_controls(phone: Callable, address: str) -> None:
    """A figure is redrawn in the page that stands, with whatever the switches before left in it."""
    page = phone(address)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    settle(page)
    chance, seen = random.Random(SEED), set()
    for _ in range(SWITCHES):
        label = chance.choice(CONTROLS[address])
        radio = (
            page.get_by_role("radiogroup", name=label)
            .or_(page.locator("fieldset", has_text=label))
            .get_by_role("radio")
        )
        before = page.url
        if radio.count():
            radio.nth(chance.randrange(radio.count())).check(force=True)
        else:
            page.get_by_label(label, exact=True).blur()  # Gradio lists the choices when the control takes the focus
            page.get_by_label(label, exact=True).click()
            options = page.locator("ul[role=listbox] [role=option]")
            options.first.wait_for()
            options.nth(chance.randrange(options.count())).click()
        settle(page)
        seen.add(page.url)
        assert page.url.partition("?")[0] == before.partition("?")[0]
    assert len(seen) > 3, seen


@pytest.mark.parametrize("address", ["correlations", "generators"])
def test_no_toolbar_and_every_label(phone: Callable, address: str) -> None:
    page = phone(address)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    page.wait_for_load_state("networkidle")
    bars = page.locator(".js-plotly-plot .modebar-container")
    assert bars.count() > 0
    assert not any(bars.nth(at).is_visible() for at in range(bars.count()))
    if address == "correlations":
        labels = [page.locator(f"{FIGURE} .{axis}tick text").all_inner_texts() for axis in "xy"]
        assert len(labels[0]) == len(labels[1]) == 10, labels
        outside = page.locator(f"{FIGURE} .ytick text").evaluate_all(
            "all => all.filter((text) => text.getBoundingClientRect().left < 0).map((text) => text.textContent)"
        )
        assert outside == []
