"""Names at the points of best-to-worst figures: the best, the worst and others, none over another, at any width."""

from __future__ import annotations

from collections.abc import Callable

import pytest

NAMED = ".pg-names .js-plotly-plot[data-named]"
BOXES = """() => {
  const around = (node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return { left, right, top, bottom, text: node.textContent };
  };
  const plot = document.querySelector('.pg-names .js-plotly-plot');
  const shown = (node) => getComputedStyle(node).visibility === 'visible';
  const others = '.trace:not(:has(.textpoint)) .points path';
  return {
    frame: around(plot),
    all: Array.from(plot._fullData.find(({ meta }) => meta === 'names').text),
    names: [...plot.querySelectorAll('.textpoint text')].filter(shown).map(around),
    points: [...plot.querySelectorAll(others)].map(around).filter(({ left, right }) => right - left > 2),
  };
}"""


def meet(a: dict, b: dict) -> bool:
    return a["left"] < b["right"] and a["right"] > b["left"] and a["top"] < b["bottom"] and a["bottom"] > b["top"]


@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize("address", ["task?task=mieb/stl10", "task?task=cfred/hpdv2", "languages?language=eng"])
def test_the_ends_have_names_and_none_hides_anything(visit: Callable, address: str, width: int) -> None:
    page = visit(address, width=width)
    page.locator(NAMED).wait_for()
    page.wait_for_function(f"Number(document.querySelector('{NAMED}').dataset.named) > 2")
    drawn = page.evaluate(BOXES)
    texts = [name["text"] for name in drawn["names"]]
    assert drawn["all"][0] in texts and drawn["all"][-1] in texts, texts
    for at, name in enumerate(drawn["names"]):
        others = [*drawn["names"][at + 1 :], *drawn["points"]]
        assert [other for other in others if meet(name, other)] == [], name
        assert drawn["frame"]["left"] <= name["left"] and name["right"] <= drawn["frame"]["right"], name


def test_another_task_is_named_anew(visit: Callable) -> None:
    page = visit("languages?language=deu")
    page.locator(NAMED).wait_for()
    before = page.evaluate(BOXES)["all"]
    page.get_by_label("Language (type to search)").fill("Japanese")
    page.get_by_role("option", name="Japanese").click()
    page.wait_for_function("document.querySelector('.pg-answer').innerText.includes('Japanese')")
    page.wait_for_function(
        "(first) => document.querySelector('.pg-names .js-plotly-plot')._fullData.at(-1).text[0] !== first && "
        "document.querySelectorAll('.pg-names .pg-named').length > 2",
        arg=before[0],
    )
    assert page.evaluate("new URLSearchParams(location.search).get('language')") == "jpn"


def test_swahili_is_found_and_leads_to_its_models(visit: Callable) -> None:
    page = visit("board")
    page.keyboard.press("/")
    page.locator("dialog[open] input").fill("swahili")
    page.get_by_role("option", name="Swahili").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/languages?language=swa")
    page.get_by_text("score of Swahili alone").first.wait_for()
