"""The section on pairs of backbones: read by all, its order, keyboard and address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import serving
from tests.leaderboard import fault_stand_ins, grid_stand_ins


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a database with a grid of backbones over rated generators, all made up."""
    folder = tmp_path_factory.mktemp("backbones")
    fault_stand_ins.make(folder / "results")
    grid_stand_ins.make(folder / "results")
    with serving(fault_stand_ins.database(folder, results=folder / "results")) as address:
        yield address


@pytest.fixture
def open_pairs(visit: Callable[..., Any]) -> Callable[..., Any]:
    def opened(**how: Any) -> Any:
        page = visit(f"lens?pairs={grid_stand_ins.SUITE}", ready=".ln-pairs", **how)
        page.wait_for_load_state("networkidle")
        return page

    return opened


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_the_heatmap_can_be_read_by_all(open_pairs: Callable, look: dict[str, Any]) -> None:
    page = open_pairs(**look)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
    cells = page.locator(".ln-cell")
    assert cells.count() == grid_stand_ins.CELLS
    colours = set(cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"))
    assert len(colours) > 1


def test_the_answer_stands_before_the_picture_and_the_control(open_pairs: Callable) -> None:
    page = open_pairs()
    parts = (".ln-pairs h2", ".ln-pairs .pg-lead", ".ln-grid")
    tops = [page.locator(part).first.bounding_box()["y"] for part in parts]
    tops.append(page.get_by_label("Agreement with").bounding_box()["y"])
    assert tops == sorted(tops)


def test_another_set_by_keyboard_is_in_the_address_and_leaves_the_metric(open_pairs: Callable) -> None:
    page = open_pairs()
    box = page.get_by_label("Agreement with")
    box.focus()
    box.fill("few")
    box.press("Enter")
    page.get_by_text("4 generators are too few for intervals").wait_for()
    page.wait_for_function("!location.search.includes('rated')")
    assert page.locator(".ln-head h2").count() == 1
