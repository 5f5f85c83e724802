"""What people come for, from the front page in at most three clicks, with the answer on the screen.

A click and a choice count one each, and so does what is typed into a field or dropped as files. Ranking a table of
one's own is one command, and so is what a run costs: `likeness rank` and `likeness run --dry-run`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import query
from tests.compute.live.pictures import png

MOST = 3
TRAY = ".likeness-tray[data-ready=true][data-busy=false]"


class User:
    """A page with a count of what its user did. Methods named after what they do; each counts one."""

    def __init__(self, page: Any) -> None:
        self.page, self.clicks = page, 0

    def click(self, target: Any) -> None:
        self.clicks += 1
        target.click()

    def type(self, target: Any, text: str, *, option: str = "") -> None:
        """Types into a field and confirms with Enter, once a list offers the `option`."""
        self.clicks += 1
        target.fill(text)
        if option:
            self.page.get_by_role("option", name=option).first.wait_for()
        target.press("Enter")

    def drop(self, *colours: str) -> None:
        """Gives Try image files, each of one colour, and waits until it has them and nothing else."""
        self.clicks += 1
        files = [
            {"name": f"{colour}.png", "mimeType": "image/png", "buffer": png(colour, (64, 64))} for colour in colours
        ]
        self.page.wait_for_selector(TRAY)
        self.page.get_by_label("Image files").set_input_files(files)
        self.page.wait_for_selector(f"{TRAY}[data-count='{len(colours)}']")

    def page_of(self, *titles: str) -> None:
        """Opens a page by the bar: the list of its group, if it has one, then its link."""
        bar = self.page.locator("header.site-bar")
        for group in titles[:-1]:
            self.click(bar.get_by_role("button", name=group, exact=True))
        self.click(bar.get_by_role("link", name=titles[-1], exact=True))
        self.page.get_by_role("heading", level=1).first.wait_for()

    def board(self) -> None:
        self.page_of("Board")
        self.page.locator(".likeness-board[data-ready=true]").wait_for()

    def reads(self, pattern: str) -> re.Match[str]:
        """What of the text in the window's page matches, as soon as it is there."""
        self.page.wait_for_function(
            "(pattern) => new RegExp(pattern).test(document.querySelector('main, gradio-app').innerText)", arg=pattern
        )
        found = re.search(pattern, self.page.locator("main, gradio-app").first.inner_text())
        assert found, f"{pattern} has gone again"
        return found


@pytest.fixture
def user(visit, record_property):
    page = visit("", width=1360)
    page.locator(".pg-findings dl").wait_for()
    page.wait_for_function("document.querySelector('.site-bar-theme').dataset.ready === 'true'")
    one = User(page)
    yield one
    record_property("clicks", one.clicks)
    print(f"clicks: {one.clicks}")
    assert one.clicks <= MOST


def test_the_best_model_for_a_need_and_the_code_that_loads_it(user):
    user.page_of("Choose")
    user.click(user.page.get_by_role("link", name="Find documents, at most 3 B"))
    lead = user.reads(r"(.+) has the highest mean of the \d+ models that fit, .*ViDoRe v3.* The runner-up is .+: .+")
    first = user.page.locator("#shortlist li").first.inner_text()
    assert lead[1].strip() in first and "import " in first and re.search("(likeness|mteb) run ", first)
    size = re.search(r"([\d.]+) ([MB]) parameters", first)
    assert size and float(size[1]) * (1 if size[2] == "B" else 0.001) <= 3


def test_two_models_of_which_one_is_misspelt(user):
    user.type(user.page.get_by_label("First model"), "siglip so400m 384")
    user.type(user.page.get_by_label("Second model"), "EVA02-CLIP bigE/14+")
    user.reads("Did you mean 'SigLIP SO400M/14 384 px'")
    name = "SigLIP SO400M/14 384"
    user.type(user.page.get_by_label("Models (type to search"), name, option=name)
    user.reads(r"SigLIP SO400M/14 384 px is (significantly )?ahead in")


def test_where_a_value_comes_from(user):
    user.board()
    at = user.page.locator(".lk-titles [data-key='Img-2AFC']").get_attribute("aria-colindex")
    cell = user.page.locator(f".lk-body .lk-row[aria-rowindex='3'] [aria-colindex='{at}']")
    shown = cell.inner_text()
    user.click(cell)
    dialog = user.page.locator("dialog[open]")
    source = dialog.get_by_role("link", name=re.compile(r"UniSim-Bench Table \d"))
    source.wait_for()
    assert source.get_attribute("href").startswith("https://arxiv.org/abs/")
    assert shown in dialog.inner_text() and "As printed" in dialog.inner_text() and "NIGHTS" in dialog.inner_text()


def test_a_suite_of_fifteen_tasks_for_mteb(user):
    user.page_of("Insights", "Smaller suite")
    user.reads(r"\d+ of 130 tasks rank")
    user.type(user.page.get_by_role("spinbutton", name="Number of tasks"), "15")
    user.reads(r"15 of 130 tasks rank the \d+ models like the whole suite")
    names = user.reads(r"mteb\.get_tasks\(tasks=\[([^\]]+)\]\)")[1]
    assert names.count(",") == 14


def test_the_nearest_neighbours_of_a_model_on_the_map(user):
    user.page.keyboard.press("/")
    user.type(user.page.locator(".se-input"), "DINOv2 giant", option="DINOv2 giant")
    user.click(user.page.get_by_role("link", name="Show it on the map"))
    user.reads(r"Nearest models in the data[\s\S]*DINOv2 large")


def test_a_claim_that_fails_and_its_report(user):
    title = "All measures have a high positive correlation with the benchmarks"
    user.click(user.page.get_by_role("link", name=title))
    card = user.page.get_by_label("The chosen claim")
    card.get_by_role("heading", name=title, exact=True).wait_for()
    assert "Conflict" in card.inner_text() and "18 of 32 cells" in card.inner_text()
    card.get_by_text("Report a mistake").press("Enter")
    report = card.get_by_label("Report of a mistake").input_value()
    assert title in report and f"claim={query(user.page)['claim']}" in report


def test_two_photographs_of_a_visitor(user):
    user.page_of("Try")
    user.drop("red", "blue")
    user.click(user.page.get_by_role("button", name="Compare", exact=True))
    user.page.locator(".cp-result[data-done=yes] .cp-row").first.wait_for()
    assert user.page.locator(".tr-slot[data-id]").count() == 2


def test_an_odd_one_out_of_a_visitor(user):
    user.click(user.page.get_by_role("link", name="odd one out"))
    user.drop("red", "blue", "green")
    user.click(user.page.get_by_role("button", name="Compare", exact=True))
    user.reads("odd one out[.;]")


def test_what_a_suite_costs(user):
    user.page_of("Insights", "Size & cost")
    user.type(user.page.get_by_label("Suite"), "MIEB-lite", option="MIEB-lite")
    user.page.wait_for_url("**suite=mieb-lite**")
    user.reads(r"[\d.]+ hours of one device at[\s\S]*--suite mieb-lite")
