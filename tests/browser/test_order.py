"""Every page of insights opens with its answer, then the picture, then the controls: as laid out, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.pages import VIEWS
from tests.browser.test_pages import settle

TOOLS = {"board", "compare", "choose", "sql"}  # controls first: they are what the page is for
ANSWERS = ".pg-lead, .pg-findings, h2.pg-name, .jd-leads"
PICTURES = ".js-plotly-plot, .jd-panels, .ln-panels"
TOP = """(selector) => {
  const visible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(element).visibility !== 'hidden';
  };
  const tops = [...document.querySelectorAll(selector)].filter(visible).map((one) => one.getBoundingClientRect().top);
  return tops.length ? Math.min(...tops) + scrollY : null;
}"""


@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize("key", [view.key for view in VIEWS if view.key not in TOOLS])
def test_the_answer_then_the_picture_then_the_controls(visit: Callable[..., Any], key: str, width: int) -> None:
    page = visit(key, width=width)
    settle(page)
    answer, picture, controls = (page.evaluate(TOP, selector) for selector in (ANSWERS, PICTURES, ".pg-controls"))
    tops = [top for top in (page.locator("h1").bounding_box()["y"], answer, picture, controls) if top is not None]
    assert tops == sorted(tops), {"answer": answer, "picture": picture, "controls": controls}
    if controls is not None:
        assert answer is not None and picture is not None
