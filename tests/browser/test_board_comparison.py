"""The comparison below the board: it follows what the table shows, says when it is late, and can be read by all."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.boards import header, idle, wait_query

SIGLIP, CLIP = "google/siglip-so400m-patch14-224~published", "openai/clip-vit-large-patch14-336~published"
DREAMSIM = "dreamsim-ensemble~published"
TWO = f"select={CLIP},{SIGLIP}&compare=1"
OTHERS = "select=openai/clip-vit-large-patch14~published,google/siglip-so400m-patch14-384~published&compare=1"
VERDICT = "#comparison .bc-verdict"
EVENT = "**/gradio_api/**"


def verdict(page: Any) -> str:
    """The sentence, once it is up to date."""
    page.wait_for_selector(f"#comparison:not([data-stale]) {VERDICT.removeprefix('#comparison ')}")
    return page.inner_text(VERDICT)


def changed(page: Any, before: str) -> str:
    page.wait_for_function(
        """([at, text]) => !document.querySelector('#comparison[data-stale]')
          && document.querySelector(at)?.innerText !== text""",
        arg=[VERDICT, before],
    )
    return verdict(page)


def test_it_follows_weights_and_sorting_at_once(open_board: Callable) -> None:
    page = open_board(TWO)
    mean = verdict(page)
    assert "in the mean" in mean and re.search(r"\d points (higher|lower)", mean), mean
    header(page, "IQA").get_by_role("button").click()
    category = changed(page, mean)
    assert " in IQA" in category and page.locator("#comparison .bc-category").count() == 1
    header(page, "rank").get_by_role("button").click()
    assert changed(page, category) == mean
    page.get_by_role("button", name="Weights", exact=True).click()
    page.get_by_label("Weight of IQA, number").fill("0")
    page.keyboard.press("Enter")
    mine = changed(page, mean)
    assert "in your mean" in mine
    assert "Your mean: without IQA" in page.inner_text("#comparison")
    assert [title.inner_text() for title in page.locator("#comparison .bc-category h3").all()] == [
        "Img-2AFC", "IT-2AFC", "Text-2AFC",
    ]  # fmt: skip
    page.locator(".lk-changed").get_by_role("button", name="Reset").click()
    assert changed(page, mine) == mean


def test_a_task_is_compared_when_the_table_is_sorted_by_it(open_board: Callable) -> None:
    page = open_board(f"{TWO}&columns=unisim/nights&sort=-unisim/nights")
    assert " in NIGHTS" in verdict(page)
    assert "standard errors of both scores" in page.inner_text("#comparison")


def test_filters_change_it_and_name_whom_they_hide(open_board: Callable) -> None:
    page = open_board(f"select={CLIP},{SIGLIP},{DREAMSIM}&compare=1")
    three = verdict(page)
    assert "Compared with" in three
    page.get_by_role("button", name="Filters", exact=True).click()
    panel = page.get_by_role("dialog", name="Filters")
    panel.get_by_label("Encoder").check()
    two = changed(page, three)
    assert "DreamSim" not in two and page.locator("#comparison .bc-legend > span").count() == 2
    assert re.search(r"Left out, since the filters hide it: DreamSim.*\.", page.inner_text("#comparison"))
    panel.get_by_label("Encoder").uncheck()
    assert changed(page, two) == three
    page.keyboard.press("Escape")
    page.get_by_label("Search models").fill("siglip")
    alone = changed(page, three)
    assert "Fewer than two of the selected rows are in view" in alone


def test_until_the_answer_comes_it_is_dimmed_and_says_so(open_board: Callable) -> None:
    page = open_board(TWO)
    before = verdict(page)
    held: list[Any] = []
    page.route(EVENT, lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    header(page, "IQA").get_by_role("button").click()
    page.wait_for_selector("#comparison[data-stale]")
    stale = page.locator("#comparison .bc-stale")
    assert stale.is_visible() and "Figures changed" in stale.inner_text()
    assert float(page.locator("#comparison .bc-body").evaluate("(node) => getComputedStyle(node).opacity")) < 0.6
    page.wait_for_timeout(400)
    assert page.inner_text(VERDICT) == before and page.locator("#comparison[data-stale]").count() == 1
    for route in held:
        route.continue_()
    page.unroute(EVENT)
    assert " in IQA" in changed(page, before)
    assert not stale.is_visible()


def test_the_last_of_many_changes_wins(open_board: Callable) -> None:
    page = open_board(TWO)
    before = verdict(page)
    page.get_by_role("button", name="Weights", exact=True).click()
    slider = page.get_by_label("Weight of IQA", exact=True)
    slider.focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    wait_query(page, "w", "IQA:3.25")
    idle(page)
    changed(page, before)
    page.wait_for_function("document.querySelector('#comparison').innerText.includes('Your mean: IQA 3.25, others 1')")


def test_ticks_change_it_and_taking_all_away_closes_it(open_board: Callable) -> None:
    page = open_board(f"{TWO}&origin=published")
    two = verdict(page)
    page.locator(".lk-grid").evaluate("node => { node.scrollTop = 0; }")  # it opens at the first of the selected rows
    page.get_by_role("checkbox", name="Select UniSim ViT-L/14", exact=True).click()
    assert "UniSim ViT-L/14" in changed(page, two)
    page.get_by_role("checkbox", name="Select UniSim ViT-L/14", exact=True).click()
    page.wait_for_function("([at, text]) => document.querySelector(at)?.innerText === text", arg=[VERDICT, two])
    header(page, "title").scroll_into_view_if_needed()
    page.get_by_role("button", name="Clear", exact=True).click()
    page.wait_for_function("!document.querySelector('#comparison .bc-verdict')")
    wait_query(page, "compare", None)


def test_the_table_of_values_holds_what_the_board_shows(open_board: Callable, server: str) -> None:
    """One line a mean, a category and a task; every number as in the cells of the board."""
    page = open_board(TWO)
    verdict(page)
    page.locator("#comparison summary").click()
    with urllib.request.urlopen(f"{server}data/board/unisim-core", timeout=60) as answer:
        board = json.load(answer)
    rows = [next(at for at, row in enumerate(board["rows"]) if row["id"] == one) for one in (CLIP, SIGLIP)]
    cells = {
        tuple(cell.strip(" †?‡") for cell in line.split("\t")[:3])
        for line in page.locator("#comparison .pg-scroll table").inner_text().splitlines()
    }
    for at, column in enumerate(board["columns"]):
        texts = [f"{board['cells'][row][at] / 10 ** column['digits']:.{column['digits']}f}" for row in rows]
        assert (column["title"], *texts) in cells
    assert len(cells) >= len(board["columns"]) + 2


# ---- eyes


@pytest.mark.parametrize("look", [{}, {"dark": True}, {"width": 390}], ids=["light", "dark", "phone"])
@pytest.mark.parametrize("query", [TWO, f"suite=mieb&{OTHERS}&w=Retrieval:0"], ids=["core", "mieb"])
def test_it_breaks_no_rule_of_accessibility_and_fits(open_board: Callable, query: str, look: dict[str, Any]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_board(query, **look)
    verdict(page)
    page.locator("#comparison summary").click()
    found = axe.Axe().run(page, context="#comparison").response["violations"]
    assert not found, [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found]
    assert page.evaluate("document.scrollingElement.scrollWidth") <= page.viewport_size["width"]
    outside = page.evaluate("""() => [...document.querySelectorAll('#comparison .bc-track')].flatMap((track) => {
      const room = track.getBoundingClientRect();
      return [...track.children].filter((mark) => {
        const box = mark.getBoundingClientRect();
        return box.left + box.width / 2 < room.left - 1 || box.left + box.width / 2 > room.right + 1;
      }).map((mark) => mark.className);
    })""")
    assert outside == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_colours_of_six_rows_stand_out(open_board: Callable, dark: bool) -> None:
    """Marks stand out from the page by 3 to 1 (WCAG 2.2, non-text contrast), and no two are alike."""
    page = open_board(f"{TWO}", dark=dark)
    verdict(page)
    colours = page.evaluate("""() => {
      const style = getComputedStyle(document.querySelector('.bc-comparison'));
      return [0, 1, 2, 3, 4, 5].map((at) => style.getPropertyValue(`--bc-${at}`).trim());
    }""")

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    behind = luminance("#0b0f19" if dark else "#ffffff")
    for colour in colours:
        low, high = sorted((luminance(colour), behind))
        assert (high + 0.05) / (low + 0.05) >= 3, colour
    assert len(set(colours)) == 6


def test_it_is_announced_and_takes_the_focus_only_when_it_is_asked_for(open_board: Callable) -> None:
    page = open_board(f"select={CLIP},{SIGLIP}")
    page.get_by_role("button", name="Compare 2").click()
    first = verdict(page)
    page.wait_for_function("document.activeElement?.closest('#comparison') !== null")
    page.wait_for_function("(text) => document.querySelector('.lk-unseen').textContent === text", arg=first)
    header(page, "IQA").get_by_role("button").click()
    second = changed(page, first)
    assert page.evaluate("document.activeElement.closest('#comparison')") is None
    page.wait_for_function("(text) => document.querySelector('.lk-unseen').textContent === text", arg=second)
