"""Seven tasks of a new user, each done from the front page in at most four clicks, with the answer on the screen.

A click, a choice in a list, and typing into a field count one each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

MOST = 4


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

    def page_of(self, *titles: str) -> None:
        """Opens a page by the bar: the list of its group, if it has one, then its link."""
        bar = self.page.locator("header.site-bar")
        for group in titles[:-1]:
            self.click(bar.get_by_role("button", name=group, exact=True))
        self.click(bar.get_by_role("link", name=titles[-1], exact=True))
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
    page.locator(".pg-findings dl").wait_for()
    page.wait_for_function("document.querySelector('.site-bar-theme').dataset.ready === 'true'")
    one = User(page)
    yield one
    record_property("clicks", one.clicks)
    print(f"clicks: {one.clicks}")
    assert one.clicks <= MOST


@pytest.mark.parametrize(
    ("need", "evidence", "billions"),
    [
        ("Search in many languages, open licence, at most 1 B", "Multilingual Retrieval", 1),
        ("Find documents, at most 3 B", "ViDoRe v3", 3),
        ("Search in Swahili", "in Swahili", 10),
    ],
)
def test_the_best_model_for_a_need_and_the_code_that_loads_it(
    user: User, need: str, evidence: str, billions: int
) -> None:
    user.page_of("Choose")
    user.click(user.page.get_by_role("link", name=need))
    lead = user.reads(
        rf"(.+) has the highest mean of the \d+ models that fit, .*{evidence}.* The runner-up is .+ significant"
    )
    first = user.page.locator("#shortlist li").first.inner_text()
    assert lead[1].strip() in first and "import " in first and re.search("(likeness|mteb) run ", first)
    size = re.search(r"([\d.]+) ([MB]) parameters", first)
    assert size and float(size[1]) * (1 if size[2] == "B" else 0.001) <= billions


def test_whether_the_lead_is_real(user: User) -> None:
    """It stands on the front page, without a click."""
    user.reads(r"UniSim ViT-L/14 leads with 85\.3, 0\.9 points ahead of UniSim LL-N-0\.5B \(not significant\)")
    assert user.clicks == 0


def test_two_models_side_by_side(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Compare two models"))
    user.reads("Choose two models above")
    box = user.page.get_by_label("Models (type to search")
    for typed in ("SigLIP SO400M/14 384", "EVA02-CLIP bigE/14+"):
        box.fill(typed)
        user.page.get_by_role("option", name=typed).first.wait_for()
        user.type(box, typed)
    user.reads(r"SigLIP SO400M/14 384 px is ahead in .+, EVA02-CLIP bigE/14\+ in .+; \d categories are not significant")
    assert user.clicks <= 3


def test_two_models_by_name_on_the_front_page(user: User) -> None:
    user.page.get_by_label("First model").fill("siglip so400m 384")
    user.page.get_by_label("Second model").fill("EVA02-CLIP bigE/14+")
    user.click(user.page.get_by_role("button", name="Compare", exact=True))
    user.reads("Did you mean 'google/siglip-so400m-patch14-384'")
    box = user.page.get_by_label("Models (type to search")
    box.fill("SigLIP SO400M/14 384")
    user.type(box, "SigLIP SO400M/14 384")
    user.reads(r"EVA02-CLIP bigE/14\+ is (significantly )?ahead in")


def test_a_suite_of_fifteen_tasks_for_mteb(user: User) -> None:
    user.page_of("Insights", "Smaller suite")
    user.reads(r"\d+ of 130 tasks rank")
    user.type(user.page.get_by_role("spinbutton", name="Number of tasks"), "15")
    user.reads(r"15 of 130 tasks rank the \d+ models like the whole suite")
    names = user.reads(r"mteb\.get_tasks\(tasks=\[([^\]]+)\]\)")[1]
    assert names.count(",") == 14 and user.clicks <= 3


def test_which_metric_of_generators_to_trust(user: User) -> None:
    user.click(user.page.get_by_role("link", name="Which metric to trust"))
    user.page.wait_for_url("**/generators**")
    user.reads(r"HPDv2, 10 generators .*agree significantly with people")
    user.reads(r"COCO, 9 generators .*none of the 9 metrics agrees significantly")


def test_the_most_symmetric_judge(user: User) -> None:
    user.page_of("Insights", "Judges")
    user.reads(r"InternVL2\.5-8B is the most symmetric: 1-RelaxSym 95\.21%")


def test_a_claim_that_fails(user: User) -> None:
    title = "All measures have a high positive correlation with the benchmarks"
    user.click(user.page.get_by_role("link", name=title))
    card = user.page.get_by_label("The chosen claim")
    card.get_by_role("heading", name=title).wait_for()
    assert "Conflict" in card.inner_text()
