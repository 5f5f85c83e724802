"""The board that `compute.rank` writes as one file: opened from disk, sorted, on a phone, in both colour schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import compute
from tests.browser.axe_rules import grave_violations
from tests.browser.conftest import HOSTILE

MODELS = 30
LONG = "a-task-with-a-name-that-has-no-place-to-break-however-narrow-the-screen-may-be"


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    """Thirty models, one of them hostile and one without a score on a task; two categories."""
    draw = np.random.default_rng(4)
    values = 0.4 + 0.01 * np.arange(MODELS)[:, None] + 0.03 * draw.normal(size=(MODELS, 14))
    frame = pd.DataFrame(values, columns=[LONG, HOSTILE, *(f"task {at}" for at in range(12))])
    frame.insert(0, "model", [f"model {at}" for at in range(MODELS)])
    frame.loc[4, "model"] = HOSTILE
    frame.loc[7, "task 3"] = None
    return frame


@pytest.fixture(scope="module")
def address(scores: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the page lies on the disk."""
    tasks = list(scores.columns[1:])
    path = tmp_path_factory.mktemp("board") / "board.html"
    ranked = compute.rank(scores, categories={"First": tasks[:6], "Second": tasks[6:]})
    ranked.save_html(path, title=f"Mine {HOSTILE}")
    return path.as_uri()


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens the page from the disk; fails at the end on a request for anything else, or an error."""
    contexts, offences, refused = [], [], []

    def opened(*, width: int = 1280, scheme: str = "light", expected: str = "") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: request.url != address and offences.append(request.url))
        page.on("pageerror", lambda error: offences.append(str(error)))
        page.on("console", lambda message: message.type == "error" and offences.append(message.text))
        refused.append(expected)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [text for text in offences if not any(words and words in text for words in refused)] == []


def column(page: Any, heading: str) -> list[str]:
    """The texts of a column from top to bottom."""
    return page.evaluate(
        """(heading) => {
            const table = document.querySelector('table');
            const at = [...table.tHead.rows[0].cells].findIndex(
                (cell) => cell.querySelector('button').textContent === heading);
            return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent);
        }""",
        heading,
    )


def state(page: Any) -> list[str]:
    """The columns that are sorted, with their direction."""
    return page.eval_on_selector_all(
        "thead th",
        """heads => heads.filter((head) => head.ariaSort !== 'none')
            .map((head) => `${head.querySelector('button').textContent} ${head.ariaSort}`)""",
    )


def test_it_opens_in_the_order_of_ranks(open_page: Callable[..., Any], scores: pd.DataFrame) -> None:
    page = open_page()
    ranks = column(page, "Rank")
    assert ranks[:3] == ["1", "2", "3"] and ranks[-1] == "–" and len(ranks) == MODELS
    assert set(column(page, "Model")) == set(scores["model"])
    assert state(page) == ["Rank ascending"]
    assert page.locator("tbody svg line").count() == MODELS - 1, "an interval for every ranked model"
    assert page.get_by_text("Not ranked: needs all 14 tasks; 13 have a figure").first.count() == 1


def test_a_heading_sorts_by_what_its_cells_mean(open_page: Callable[..., Any]) -> None:
    page = open_page()
    head = page.get_by_role("button", name="task 3", exact=True)
    head.click()
    values = column(page, "task 3")
    assert values[-1] == "–", "what has no score comes last"
    numbers = list(map(float, values[:-1]))
    assert numbers == sorted(numbers, reverse=True) and state(page) == ["task 3 descending"]
    head.press("Enter")
    values = column(page, "task 3")
    assert values[-1] == "–" and list(map(float, values[:-1])) == numbers[::-1]
    assert state(page) == ["task 3 ascending"]
    page.get_by_role("button", name="Class", exact=True).click()
    classes = column(page, "Class")[:-1]
    assert classes == sorted(classes, key=lambda letter: (len(letter), letter)) and len(set(classes)) > 2
    page.get_by_role("button", name="Rank", exact=True).click()
    assert column(page, "Rank")[:-1] == [str(rank) for rank in range(1, MODELS)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_accessible_and_does_not_scroll_sideways(open_page: Callable[..., Any], width: int, scheme: str) -> None:
    page = open_page(width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert grave_violations(page) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    assert dark == (scheme == "dark")


def test_on_a_phone_the_model_stays_beside_the_scores(open_page: Callable[..., Any]) -> None:
    page = open_page(width=390)
    region = page.get_by_role("region", name="Ranking")
    region.evaluate("node => { node.scrollLeft = 600; }")
    box = page.locator("tbody th").first.bounding_box()
    assert box is not None and 0 <= box["x"] < 60 and box["width"] < 200
    one = page.get_by_role("button", name="Class", exact=True).evaluate("node => node.offsetHeight")
    for name in ("Rank", "Model", "95% range", "Mean", "task 3"):
        height = page.get_by_role("button", name=name, exact=True).evaluate("node => node.offsetHeight")
        assert height == one, "a short heading stands on one line"


def test_a_table_that_is_wider_than_the_screen_says_so(open_page: Callable[..., Any]) -> None:
    page = open_page(width=390)
    cue = page.get_by_text("Scroll the table sideways for more columns.")
    assert cue.is_visible() and cue.bounding_box()["y"] < page.locator("table").bounding_box()["y"]
    page.set_viewport_size({"width": 6000, "height": 800})
    page.evaluate("document.querySelector('main').style.maxWidth = 'none'")
    cue.wait_for(state="hidden")


def test_a_hostile_name_is_text(open_page: Callable[..., Any]) -> None:
    page = open_page()
    assert page.evaluate("window.harmed") is None and page.locator("img").count() == 0
    assert page.get_by_role("heading", level=1).inner_text() == f"Mine {HOSTILE}"
    assert page.get_by_role("button", name=HOSTILE, exact=True).count() == 1


def test_nothing_that_gets_into_the_page_may_run(open_page: Callable[..., Any]) -> None:
    """The page's own policy stops a script that it does not hold itself."""
    page = open_page(expected="Content Security Policy")
    ran = page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.harmed = 1';
            try { document.body.append(script); } catch { /* refused */ }
            return window.harmed ?? null;
        }"""
    )
    assert ran is None
