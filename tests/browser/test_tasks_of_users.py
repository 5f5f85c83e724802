"""Twelve tasks of a new user, each done from the front page in at most four clicks, with the answer on the screen.

A click, a choice in a list, and typing into a field count one each.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.compute.live.pictures import png

MOST = 4
SLOW = 120_000  # ms: models are loaded


class User:
    """A page with a count of what its user did. Methods named after what they do; each counts one."""

    def __init__(self, page: Any) -> None:
        self.page, self.clicks = page, 0

    def click(self, target: Any) -> None:
        self.clicks += 1
        target.click()

    def type(self, target: Any, text: str) -> None:
        """Types into a field and confirms with Enter."""
        self.clicks += 1
        target.fill(text)
        target.press("Enter")

    def page_of(self, group: str, title: str) -> None:
        """Opens a page by the bar: the list of its group, then its link."""
        bar = self.page.locator("header.site-bar")
        self.click(bar.get_by_role("button", name=group, exact=True))
        self.click(bar.get_by_role("link", name=title, exact=True))
        self.page.get_by_role("heading", level=1).first.wait_for()

    def board(self) -> None:
        self.click(self.page.locator("header.site-bar").get_by_role("link", name="Board", exact=True))
        self.page.locator(".likeness-board[data-ready=true]").wait_for()

    def reads(self, pattern: str, *, timeout: float = 60_000) -> re.Match[str]:
        """What of the text in the window's page matches, as soon as it is there."""
        self.page.wait_for_function(
            "(pattern) => new RegExp(pattern).test(document.querySelector('main, gradio-app').innerText)",
            arg=pattern,
            timeout=timeout,
        )
        found = re.search(pattern, self.page.locator("main, gradio-app").first.inner_text())
        assert found, f"{pattern} has gone again"
        return found


@pytest.fixture
def user(visit: Callable[..., Any], record_property: Callable[[str, Any], None]) -> Iterator[User]:
    page = visit("", width=1360)
    page.locator("h2", has_text="What the figures say").wait_for()
    page.wait_for_function("document.querySelector('.site-bar-theme').dataset.ready === 'true'")
    one = User(page)
    yield one
    record_property("clicks", one.clicks)
    print(f"clicks: {one.clicks}")
    assert one.clicks <= MOST


def test_the_best_open_multilingual_retrieval_model_under_a_billion(user: User) -> None:
    user.page_of("Models & tasks", "Choose a model")
    user.click(user.page.get_by_role("link", name="Search in many languages, at most 1 B"))
    user.page.wait_for_url("**/choose?language=many&size=1b&license=stated**")
    lead = user.reads(r"(.+) has the highest mean of the \d+ models that fit, .*Multilingual Retrieval")
    first = user.page.locator("#shortlist li").first.inner_text()
    assert lead[1].strip() in first
    size = re.search(r"([\d.]+) ([MB]) parameters", first)
    assert size and float(size[1]) * (1000 if size[2] == "B" else 1) <= 1000
    assert "licence unknown" not in first


def test_whether_the_lead_is_real(user: User) -> None:
    """It stands on the front page, without a click."""
    user.reads(r"UniSim ViT-L/14 leads, .*no significant difference from \d+ of the \d+ others")
    assert user.clicks == 0


def test_two_models_side_by_side(user: User) -> None:
    user.board()
    boxes = user.page.locator(".likeness-board .lk-body").get_by_role("checkbox")
    user.click(boxes.nth(0))
    user.click(boxes.nth(1))
    user.click(user.page.get_by_role("button", name="Compare 2"))
    user.page.locator("#comparison h2").wait_for()
    user.reads(r"95%")
    assert user.page.locator("#comparison .bc-chart").count() > 0


def test_where_a_cell_comes_from(user: User) -> None:
    user.board()
    at = user.page.get_by_role("columnheader", name="IQA").first.get_attribute("aria-colindex")
    user.click(user.page.locator(f".likeness-board .lk-body [role=gridcell][aria-colindex='{at}']").first)
    dialog = user.page.get_by_role("dialog")
    dialog.get_by_text(re.compile(r"Table \d+")).first.wait_for()
    assert "UniSim" in dialog.inner_text()


def test_the_least_correlated_task(user: User) -> None:
    user.page_of("Insights", "Correlations")
    user.click(user.page.get_by_role("link", name="MIEB's tasks"))
    user.page.wait_for_url("**preset=mieb-tasks**")
    found = user.reads(r"Least alike are (.+) and (.+) \(Spearman")
    assert found[1] != found[2]


def test_a_suite_of_twenty_tasks(user: User) -> None:
    user.page_of("Insights", "Smaller suite")
    user.reads(r"\d+ of 130 tasks order")
    user.type(user.page.get_by_label("Tasks", exact=True).and_(user.page.get_by_role("spinbutton")), "20")
    user.reads(r"20 of 130 tasks order \d+ models as the whole suite does")


def test_the_neighbours_of_dinov2_on_the_map(user: User) -> None:
    user.page_of("Insights", "Map")
    user.page.locator("#map-figure [data-listens=selection]").wait_for(state="attached")
    user.click(user.page.get_by_label("Models", exact=True))
    field = user.page.get_by_label("Find a model")
    field.wait_for()
    user.type(field, "DINOv2 base")
    table = user.page.get_by_role("table").filter(has_text="Nearest models in the data")
    table.get_by_role("link", name="DINOv2").first.wait_for()
    assert re.search(r"DINOv2 (small|large|giant)", table.inner_text())


def test_which_metric_of_generators_to_trust(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Which metric to trust"))
    user.page.wait_for_url("**/generators**")
    user.reads(r"HPDv2, 10 generators: .*follow people")
    user.reads(r"COCO, 9 generators: none of the 9 metrics is proved")


def test_the_most_symmetric_judge(user: User) -> None:
    user.page_of("Insights", "Judges")
    user.reads(r"InternVL2\.5-8B is the most symmetric: 1-RelaxSym 95\.21%")


def test_a_claim_that_fails(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Overall rank of E5-V"))
    card = user.page.get_by_label("The chosen claim")
    card.get_by_role("heading", name="Overall rank of E5-V").wait_for()
    assert "Conflict" in card.inner_text()


def test_images_of_ones_own(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Try your own"))
    user.page.locator(".likeness-tray[data-ready=true]").wait_for()
    user.click(user.page.get_by_role("button", name="Clear", exact=True))
    user.clicks += 1  # the choice of both files at once
    user.page.set_input_files(
        ".likeness-tray input[type=file]",
        [{"name": f"{c}.png", "mimeType": "image/png", "buffer": png(c, (64, 64))} for c in ("red", "blue")],
    )
    user.page.locator(".likeness-tray[data-count='2'][data-busy=false]").wait_for()
    user.click(user.page.get_by_role("button", name="Compare", exact=True))
    user.page.locator(".cp-result[data-done=yes]").wait_for(timeout=SLOW)
    assert user.page.locator(".cp-result .pg-lead").inner_text().endswith(".")
    assert user.page.locator(".cp-row").count() >= 6


def test_a_file_and_a_link_of_the_view(user: User) -> None:
    user.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    user.board()
    user.click(user.page.get_by_role("button", name="Export", exact=True))
    with user.page.expect_download() as waiting:
        user.click(user.page.get_by_role("dialog", name="Export").get_by_role("button", name="CSV", exact=True))
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) > 20
    user.click(user.page.locator(".likeness-board").get_by_role("button", name="Copy link"))
    user.page.wait_for_function("(async () => (await navigator.clipboard.readText()).includes('/board'))()")
