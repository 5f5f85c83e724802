"""What each page does: its state in the address, its figures and the tables behind them, clicks that open things."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import PATIENCE

PLOT = ".js-plotly-plot .main-svg"
CHOSEN = "dreamsim-ensemble~published,google/siglip-so400m-patch14-224~published,liqe-mix~published"


def query_of(page: Any) -> dict[str, str]:
    return {
        key: values[0]
        for key, values in parse_qs(page.evaluate("location.search.slice(1)")).items()
        if key != "__theme"
    }


def wait_query(page: Any, key: str, value: str) -> None:
    page.wait_for_function(
        "([key, value]) => new URLSearchParams(location.search).get(key) === value", arg=[key, value]
    )


@pytest.fixture
def open_page(visit: Callable[..., Any]) -> Callable[..., Any]:
    def open_address(address: str, **how: Any) -> Any:
        page = visit(address, **how)
        page.wait_for_load_state("networkidle")
        return page

    return open_address


# ---- state


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("correlations?suites=mieb&level=tasks&method=kendall", "Kendall"),
        ("map?of=models&colour=family", "Family"),
        ("model?model=google/siglip-so400m-patch14-384&by=task", "SigLIP"),
        ("task?task=mieb/stl10", "STL10"),
        ("generators?set=parti&metric=fid", "Parti"),
        ("languages?language=jpn&model=royokong/e5-v", "Highest for Japanese"),
        ("claims?paper=PairBench&verdict=conflict", "PairBench"),
    ],
    ids=lambda value: value.partition("?")[0] if "?" in value else "",
)
def test_the_address_alone_gives_the_view(open_page: Callable, address: str, shown: str) -> None:
    page = open_page(address)
    page.get_by_text(shown).first.wait_for(state="attached")
    assert page.locator(".pg-message:visible").count() == 0
    wanted = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
    assert query_of(page) == wanted


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("correlations?method=guess", "method"),
        ("correlations?minimum=1e999", "minimum"),
        ("map?colour=plaid", "colour"),
        ("model?model=%3Cscript%3Ewindow.harmed=1%3C/script%3E", "model"),
        ("task?task=nowhere/nothing", "task"),
        ("generators?set=%22%3E%3Cimg%20src=x%20onerror=window.harmed=1%3E", "set"),
        ("claims?paper=Nobody", "paper"),
    ],
    ids=lambda value: value.partition("?")[0],
)
def test_an_unknown_value_gives_the_default_and_a_sentence(open_page: Callable, address: str, named: str) -> None:
    page = open_page(address)
    message = page.locator(".pg-message:visible, .lk-notice:visible").first
    message.wait_for()
    assert named in message.inner_text()
    assert page.evaluate("window.harmed") is None


# ---- pages


def test_a_title_out_of_a_file_stays_text_on_its_page(open_page: Callable) -> None:
    page = open_page("model?model=example/hostile")
    page.locator("h2", has_text="<img src=x onerror=").wait_for()
    assert page.evaluate("window.harmed") is None
    assert page.locator("img[src=x]").count() == 0


def test_another_method_redraws_and_is_in_the_address(open_page: Callable) -> None:
    page = open_page("correlations")
    page.locator(f"#correlations-figure {PLOT}").first.wait_for()
    page.get_by_label("Method").click()
    page.get_by_role("option", name="Pearson r").click()
    wait_query(page, "method", "pearson")
    page.get_by_text("Pearson").first.wait_for()
    from playwright.sync_api import expect

    page.reload()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_label("Method")).to_have_value("Pearson r", timeout=PATIENCE)


def test_a_click_on_a_correlation_opens_the_two_columns(open_page: Callable) -> None:
    page = open_page("correlations")
    page.locator("#correlations-figure [data-listens=pair]").wait_for(state="attached")
    box = page.locator("#correlations-figure .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 0.05 * box["width"], box["y"] + 0.55 * box["height"])
    page.mouse.click(box["x"] + 0.05 * box["width"], box["y"] + 0.55 * box["height"])
    page.wait_for_function("new URLSearchParams(location.search).get('pair')?.includes(',')")
    page.wait_for_function(f"document.querySelectorAll('{PLOT}').length > 3")  # main-svg: three a figure


def test_a_page_that_opens_with_an_error_does_not_wait_for_ever(open_page: Callable) -> None:
    """Nobody published figures of the drawn suite. It is still said to be drawn; its own figures bring the matrix."""
    page = open_page("correlations?suites=mini&origin=published")
    page.wait_for_selector(".pg-message")
    page.wait_for_selector(".pg-warning")
    assert "Computing the correlations" not in page.inner_text("body")
    assert not page.is_visible(f"#correlations-figure {PLOT}")
    page.get_by_label("Figures").first.click()
    page.get_by_role("option", name="Computed").click()
    page.locator(f"#correlations-figure {PLOT}").first.wait_for()


@pytest.mark.parametrize("address", ["correlations?suites=mieb-lite&level=tasks", "model", "task"])
def test_the_table_behind_a_figure_loads_when_it_is_opened(open_page: Callable, address: str) -> None:
    page = open_page(address)
    places = page.locator(".lk-data")
    places.first.wait_for(state="attached")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    place = places.first
    place.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.lk-data[data-ready]')")
    assert int(page.locator(".lk-data[data-ready]").first.get_attribute("data-ready")) > 2
    grid = page.locator(".lk-data [role=grid]").first
    assert int(grid.get_attribute("aria-rowcount")) > 2
    head = grid.locator("[role=columnheader] button").first
    head.focus()
    page.keyboard.press("Enter")
    sorted_by = grid.locator("[aria-sort=ascending], [aria-sort=descending]")
    sorted_by.first.wait_for()
    assert sorted_by.count() == 1


def test_claims_filter_by_verdict_and_paper(open_page: Callable) -> None:
    page = open_page("claims")
    grid = page.locator("[role=grid]")
    grid.wait_for()
    everything = int(grid.get_attribute("aria-rowcount"))
    page.get_by_role("button", name="cFreD, conflict").click()
    wait_query(page, "verdict", "conflict")
    wait_query(page, "paper", "cFreD")
    page.wait_for_function(
        "([grid, every]) => grid.ariaRowCount > 1 && grid.ariaRowCount < every", arg=[grid.element_handle(), everything]
    )
    assert set(page.locator("[role=gridcell][aria-colindex='3']").all_inner_texts()) == {"cFreD"}
    page.locator("[role=gridcell]").first.click()
    page.get_by_label("The chosen claim").filter(has_text="cFreD").wait_for()


def test_generators_say_where_a_set_proves_nothing(open_page: Callable) -> None:
    page = open_page("generators?set=parti")
    page.get_by_text("too few").first.wait_for()
    page.locator(PLOT).first.wait_for()


def test_the_map_draws_what_is_shipped_and_recolours(open_page: Callable) -> None:
    page = open_page("map")
    page.locator(f"#map-figure {PLOT}").first.wait_for()
    page.get_by_label("Colour by").click()
    page.get_by_role("option", name="Category", exact=True).click()
    wait_query(page, "colour", "category")


def test_chosen_rows_are_compared_and_the_comparison_is_in_the_address(open_page: Callable) -> None:
    page = open_page(f"board?select={CHOSEN}")
    page.get_by_role("button", name="Compare 3").click()
    wait_query(page, "compare", "1")
    panel = page.locator("#comparison")
    panel.locator(".bc-chart").first.wait_for()
    assert panel.locator("tbody tr").count() >= 2
    assert "Compared with" in panel.inner_text()
    again = open_page(f"board?select={CHOSEN}&compare=1")
    again.locator("#comparison .bc-chart").first.wait_for()


def test_a_link_of_a_cell_leads_to_its_model(open_page: Callable) -> None:
    page = open_page("board")
    page.locator(".lk-body .lk-model").first.click()
    dialog = page.locator("dialog[open]")
    title = dialog.locator("h3").inner_text()
    dialog.get_by_role("link", name="The page of this model").click()
    page.wait_for_url("**/model?model=*")
    page.locator("h2", has_text=title).first.wait_for()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("address", ["correlations", "map", "model", "task", "generators"])
def test_figure_text_stands_out(open_page: Callable, address: str, dark: bool) -> None:
    """Plotly does not follow dark mode by itself: axis text against the page, at least 4.5."""
    page = open_page(address, dark=dark)
    page.locator(PLOT).first.wait_for()
    weak = page.evaluate("""() => {
      const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
      const luminance = ([r, g, b]) => [r, g, b].map((byte) => byte / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
      const behind = (node) => {
        for (let one = node; one; one = one.parentElement) {
          const colour = parse(getComputedStyle(one).backgroundColor);
          if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
      };
      const words = ['.xtick text', '.ytick text', '.xtitle', '.ytitle', '.legendtext'];
      return [...document.querySelectorAll(words.map((one) => `.js-plotly-plot ${one}`).join())]
        .filter((node) => node.getClientRects().length).map((node) => {
          const pair = [luminance(parse(getComputedStyle(node).fill)), luminance(behind(node))].sort((a, b) => b - a);
          return [(pair[0] + 0.05) / (pair[1] + 0.05), node.textContent];
        }).filter(([ratio]) => ratio < 4.5).slice(0, 5);
    }""")
    assert weak == []


def test_a_claim_has_an_address_and_a_report_of_a_mistake(open_page: Callable) -> None:
    page = open_page("claims")
    answer = page.get_by_label("The answer")
    answer.wait_for()
    assert re.search(r"\d+ of [\d,]+ claims fail", answer.inner_text())
    headline = answer.get_by_role("link").first
    name = headline.inner_text()
    headline.click()
    page.wait_for_function("new URLSearchParams(location.search).has('claim')")
    card = page.get_by_label("The chosen claim")
    assert card.get_by_role("heading").inner_text() == name
    page.reload()
    card.get_by_role("heading", name=name, exact=True).wait_for()
    assert card.bounding_box()["y"] < answer.bounding_box()["y"], "who follows the link of a claim reads it first"
    card.get_by_text("Report a mistake").press("Enter")
    report = card.get_by_label("Report of a mistake").input_value()
    assert name in report and f"claim={query_of(page)['claim']}" in report and "What is wrong:" in report


def test_claims_filter_by_severity_and_name_an_unknown_claim(open_page: Callable) -> None:
    page = open_page("claims?severity=headline&verdict=conflict")
    page.locator("[role=gridcell]").first.wait_for()
    assert set(page.locator("[role=gridcell][aria-colindex='2']").all_inner_texts()) == {"Headline"}
    page.get_by_label("Severity").select_option("detail")
    wait_query(page, "severity", "detail")
    assert set(page.locator("[role=gridcell][aria-colindex='2']").all_inner_texts()) == {"Detail"}
    page = open_page("claims?claim=nothing")
    assert "claim" in page.locator(".lk-notice:visible").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_point_of_the_map_is_found_with_its_nearest_in_the_data(visit: Callable, width: int) -> None:
    page = visit("map?of=models", width=width)
    page.locator("#map-figure [data-listens=selection]").wait_for(state="attached")
    page.get_by_label("Find a model").fill("dinov2 giant")
    page.get_by_label("Find a model").press("Enter")
    panel = page.locator(".pg-near")
    panel.get_by_role("link", name="DINOv2 giant").wait_for()
    assert panel.locator("tbody tr").count() == 6 and "DINOv2 large" in panel.inner_text()
    wait_query(page, "point", "facebook/dinov2-giant")
    again = visit(page.url.rpartition("/")[2], width=width)
    again.locator(".pg-near tbody tr").first.wait_for()
    assert again.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    again.get_by_label("Find a model").fill("nothing of this name")
    again.get_by_label("Find a model").press("Enter")
    again.get_by_text("Nothing on this map is called").wait_for()
