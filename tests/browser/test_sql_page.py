"""The SQL page: a link runs nothing, Run answers in a table, errors are sentences, and the keyboard does it all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.browser.axe_rules import grave_violations

LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"width": 390}}
CONFLICTS = "SELECT paper, count(*) AS conflicts FROM claims WHERE verdict = 'conflict' GROUP BY paper ORDER BY paper"


@pytest.fixture
def open_sql(visit: Callable[..., Any]) -> Callable[..., Any]:
    def opened(query: str = "", **how: Any) -> Any:
        page = visit(f"sql?query={quote(query)}" if query else "sql", **how)
        page.locator(".lk-sql[data-ready]").wait_for()
        return page

    return opened


def run(page: Any, state: str = "answered") -> None:
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(f".lk-sql[data-state={state}]").wait_for()


def test_a_link_fills_in_a_query_and_runs_nothing(open_sql: Callable) -> None:
    page = open_sql(CONFLICTS)
    assert page.get_by_label("SQL query").input_value() == CONFLICTS
    assert "came with the link" in page.locator(".lk-said").inner_text()
    assert page.get_by_role("grid").count() == 0
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.wait_for_timeout(500)
    assert "POST" not in sent
    run(page)
    assert "POST" in sent
    assert page.get_by_role("grid").get_attribute("aria-rowcount") == "5"
    numbers = page.locator("[role=gridcell][aria-colindex='2']")
    assert all(int(text) > 0 for text in numbers.all_inner_texts())
    assert numbers.first.evaluate("node => getComputedStyle(node).textAlign") == "right"


def test_the_keyboard_writes_runs_and_reads(open_sql: Callable) -> None:
    page = open_sql()
    query = page.get_by_label("SQL query")
    query.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("SELECT 41 + 1 AS answer")
    page.keyboard.press("ControlOrMeta+Enter")
    page.get_by_role("gridcell", name="42").wait_for()
    page.wait_for_function("new URLSearchParams(location.search).get('query') === 'SELECT 41 + 1 AS answer'")
    example = page.get_by_role("button", name="Claims that fail")
    example.focus()
    page.keyboard.press("Enter")
    assert query.evaluate("node => node === document.activeElement") and "conflict" in query.input_value()


def test_a_refusal_is_a_sentence_and_the_next_query_works(open_sql: Callable) -> None:
    page = open_sql("FROM read_text('/etc/passwd')", expected="400")
    run(page, "failed")
    assert "'read_text'" in page.locator(".lk-said").inner_text()
    page.get_by_label("SQL query").fill("SELECT '<img src=x onerror=window.harmed=1>' AS text")
    run(page)
    page.get_by_role("gridcell", name="<img src=x").wait_for()
    assert page.evaluate("window.harmed") is None and page.locator("img[src=x]").count() == 0


def test_an_answer_is_saved_as_csv_and_json(open_sql: Callable) -> None:
    page = open_sql("SELECT '=1+1' AS risky, -2 AS n")
    run(page)
    with page.expect_download() as csv:
        page.get_by_role("button", name="Save as CSV").click()
    assert Path(csv.value.path()).read_text() == "risky,n\n'=1+1,-2\n"
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSON").click()
    assert json.loads(Path(saved.value.path()).read_text())["rows"] == [["=1+1", -2]]


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_an_answer_can_be_read_by_all(open_sql: Callable, look: dict[str, Any]) -> None:
    page = open_sql(CONFLICTS, **look)
    run(page)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
    page.get_by_text("leaderboard_scores", exact=True).click()
    page.get_by_text("stderr", exact=True).first.wait_for()
