"""A board whose mean is not the suite's own: it says so, and counts the ranks that differ."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.browser.boards import idle, wait_query

ABOUT, LINE = ".lk-about", ".lk-changed"
TWO = "w=Visual%20STS%20(en):0,Document%20Understanding:0,Linear%20Probing:0,Clustering:0,Zero-shot%20Classification:0"
TWO += ",Compositionality:0,Vision-centric%20QA:0,Visual%20STS%20(cross%20%26%20multi):0"


def ranks(server: str, path: str) -> list[Any]:
    with urllib.request.urlopen(f"{server}data/{path}", timeout=60) as answer:
        data = json.load(answer)
    return data["ranking"]["rank"] if "ranking" in data else data["rank"]


def published(server: str) -> list[bool]:
    with urllib.request.urlopen(f"{server}data/board/mieb", timeout=60) as answer:
        return [row["origin"] == "published" for row in json.load(answer)["rows"]]


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
def test_a_mean_of_ones_own_is_said_above_the_table_until_it_is_reset(
    open_board: Callable, server: str, look: dict[str, Any]
) -> None:
    """The line names weights and counts ranks; the suite's sentence, untrue of this mean, is gone until the reset."""
    page = open_board(f"suite=mieb&{TWO}", **look)
    idle(page)
    usual, now = ranks(server, "board/mieb"), ranks(server, f"rank/mieb?{TWO}")
    shown = published(server)
    differ = sum(one != other for one, other, here in zip(usual, now, shown, strict=True) if here)
    line = page.locator(LINE)
    assert line.is_visible() and not page.locator(ABOUT).is_visible()
    words = re.sub(r"\s+", " ", line.inner_text())
    assert words.startswith("Your mean: Multilingual Retrieval 1, Retrieval 1 · "), words
    assert f"{differ} of {sum(shown)} ranks differ" in words and differ > 5
    assert grave_violations(page) == []
    box = line.bounding_box()
    assert (
        box["y"] < page.locator(".lk-grid").bounding_box()["y"]
        and box["x"] + box["width"] <= page.viewport_size["width"]
    )
    page.get_by_role(
        "button", name="Filters", exact=True
    ).click()  # to hide rows changes no mean: the line stays as it is
    page.get_by_role("dialog", name="Filters").get_by_label("Encoder").check()
    wait_query(page, "kind", "encoder")
    assert re.sub(r"\s+", " ", line.inner_text()) == words
    page.keyboard.press("Escape")
    line.get_by_role("button", name="Reset").click()
    wait_query(page, "w", None)
    page.locator(ABOUT).wait_for()
    assert "All 130 tasks" in page.locator(ABOUT).inner_text() and not line.is_visible()
    wait_query(page, "kind", "encoder")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("suite=mieb&preset=english", "without Multilingual Retrieval, Visual STS (cross & multi)"),
        ("suite=mieb&tasks=mieb/stl10,mieb/cifar10", "only CIFAR10, STL10"),
        ("suite=mieb&coverage=0.5", "minimum coverage 50%"),
        ("w=IQA:2", "IQA 2, others 1"),
    ],
    ids=["preset", "tasks", "coverage", "weights"],
)
def test_whatever_makes_the_mean_is_named(open_board: Callable, query: str, words: str) -> None:
    page = open_board(query)
    idle(page)
    assert page.locator(LINE).inner_text().startswith(f"Your mean: {words} · ")
    assert page.get_by_role("columnheader", name=f"Your mean: {words}").count() == 1


def test_a_filter_is_no_mean_of_ones_own(open_board: Callable) -> None:
    page = open_board("suite=mieb&kind=encoder&q=clip&columns=mieb/stl10")
    assert not page.locator(LINE).is_visible() and page.locator(ABOUT).is_visible()


def test_a_comparison_says_whose_mean_it_is(open_board: Callable) -> None:
    chosen = "dreamsim-ensemble~published,google/siglip-so400m-patch14-224~published"
    page = open_board(f"select={chosen}&compare=1&w=IQA:2")
    page.locator("#comparison").get_by_text("Your mean: IQA 2, others 1").first.wait_for()


# ---- what sets the colours


CELLS = """(column) => [...document.querySelectorAll(`.lk-body [aria-colindex="${column}"]`)].map((cell) => ({
  text: cell.textContent, mark: cell.dataset.mark ?? '', best: cell.classList.contains('lk-best'),
  shade: Number([...cell.classList].find((name) => name.startsWith('lk-shade-'))?.slice(9) ?? -1),
}))"""


def cells(page: Any, key: str) -> list[dict[str, Any]]:
    return page.evaluate(CELLS, page.locator(f'.lk-titles [data-key="{key}"]').get_attribute("aria-colindex"))


def test_a_doubtful_figure_is_never_best_and_sets_no_colour(open_board: Callable) -> None:
    """On WU-IT (b) of PairBench the highest figure is one in doubt."""
    page = open_board("suite=pairbench&columns=pairbench/wu-it-b")
    found = [cell for cell in cells(page, "pairbench/wu-it-b") if cell["text"] != "—"]
    doubtful, sound = ([one for one in found if ("?" in one["mark"]) is wanted] for wanted in (True, False))
    assert len(doubtful) > 5 and len(sound) > 5
    highest = max(float(one["text"]) for one in sound)
    assert max(float(one["text"]) for one in doubtful) >= highest
    assert {(one["best"], one["shade"]) for one in doubtful} == {(False, -1)}
    assert {one["text"] for one in sound if one["best"]} == {f"{highest:.2f}"}
    assert max(one["shade"] for one in sound) == 20 and min(one["shade"] for one in sound) == 0
    assert "never the best of its column" in page.locator(".lk-legend").inner_text()


def test_colours_run_over_the_tasks_that_count_and_the_rows_that_filters_leave(open_board: Callable) -> None:
    for query in ("suite=mieb&tasks=mieb/stl10,mieb/cifar10", "suite=mieb&size=%3C100m,100m-1b", "suite=mieb"):
        ends = []
        for sort in ("-Linear%20Probing", "Linear%20Probing"):
            page = open_board(f"{query}&sort={sort}")
            idle(page)
            ends.append(next(cell for cell in cells(page, "Linear Probing") if cell["text"] != "—"))
        assert [(end["shade"], end["best"]) for end in ends] == [(20, True), (0, False)], query
    page = open_board("suite=mieb&q=clip")  # a search only finds: the best stays where it is
    assert page.locator(".lk-legend").inner_text().count("among") == 0
