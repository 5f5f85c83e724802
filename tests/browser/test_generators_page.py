"""The page of generators with computed sets: read by all, its order, two generators by prompt, address, phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import serving
from tests.leaderboard import generator_stand_ins

SET = f"generators?set={generator_stand_ins.SUITE}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a database with a set of one's own generators, rated by people, and a study of drawn ones."""
    folder = tmp_path_factory.mktemp("generators")
    rates = dict(zip(generator_stand_ins.GENERATORS, (0.6, 0.55, 0.3, 0.1), strict=True))
    generator_stand_ins.make(folder / "results", human=rates)
    with serving(generator_stand_ins.database(folder, results=folder / "results")) as address:
        yield address


@pytest.fixture
def open_set(visit: Callable[..., Any]) -> Callable[..., Any]:
    def opened(address: str = f"{SET}&metric=clipscore", **how: Any) -> Any:
        page = visit(address, ready=".gn-head", **how)
        page.locator(".js-plotly-plot .scatterlayer").first.wait_for(state="attached")
        page.wait_for_load_state("networkidle")
        return page

    return opened


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_the_whole_page_can_be_read_by_all(open_set: Callable, look: dict[str, Any]) -> None:
    page = open_set(**look)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
    pictures = page.locator(".gn-pictures img")
    assert pictures.count() == 36
    pictures.last.scroll_into_view_if_needed()
    page.wait_for_function("[...document.querySelectorAll('.gn-pictures img')].at(-1).naturalWidth > 0")


def test_the_answer_stands_before_the_picture_and_its_controls(open_set: Callable) -> None:
    page = open_set()
    parts = ("h1", ".gn-head h2", ".js-plotly-plot", ".pg-controls >> nth=1", ".gn-directions", ".pg-table >> nth=0")
    tops = [page.locator(part).first.bounding_box()["y"] for part in parts]
    assert tops == sorted(tops)


def test_two_other_generators_by_keyboard_are_in_the_address(open_set: Callable) -> None:
    page = open_set()
    page.get_by_role("heading", name="Which prompts separate").wait_for()
    box = page.get_by_label("with", exact=True)
    box.focus()
    box.fill("worst")
    box.press("Enter")
    page.get_by_role("heading", name="and worst").wait_for()
    page.wait_for_function("location.search.includes('second=own/worst')")
    page.reload()
    page.get_by_role("heading", name="and worst").wait_for()
    page.get_by_text("is better on average").first.wait_for()


def test_a_set_of_the_paper_has_none_of_it_and_leads_back(open_set: Callable) -> None:
    page = open_set()
    page.get_by_label("HPDv2").check()
    page.get_by_role("heading", name="CLIPScore on HPDv2").wait_for()
    page.wait_for_function("!document.querySelector('.gn-directions')")
    assert page.get_by_label("Compare by prompt").is_hidden()
    page.get_by_label("Mini generators (synthetic)").check()
    page.locator(".gn-head .pg-synthetic").wait_for()
    page.locator(".gn-head h2", has_text="CLIPScore").wait_for()
    assert page.get_by_label("Metric", exact=True).input_value() == "CLIPScore", "the set has this metric: it stays"


def test_an_unknown_generator_is_named(open_set: Callable) -> None:
    page = open_set(f"{SET}&metric=fd&first=own/gud")
    page.get_by_text("No generator 'own/gud' in this set. Did you mean 'own/good'?").wait_for()
