"""Models compared: picked by search, from the board, or by an address of an earlier version."""

from __future__ import annotations

from typing import Any

from tests.browser.conftest import query, settle, violations

SIGLIP, EVA = "google/siglip-so400m-patch14-384", "quansun/eva02-clip-bige-14-plus"
RESULT = ".bc-comparison"


def pick(page: Any, typed: str) -> None:
    box = page.get_by_label("Models (type to search")
    box.fill(typed)
    page.get_by_role("option", name=typed).first.wait_for()
    box.press("Enter")


def test_a_result_is_read_aloud_in_view_and_in_the_address(visit):
    page = settle(visit("compare"), ".bc-pairs")
    pick(page, "SigLIP SO400M/14 384")
    page.locator("[data-answer]", has_text="Choose a model to compare SigLIP SO400M/14 384 px with").wait_for()
    pick(page, "EVA02-CLIP bigE/14+")
    page.wait_for_function("document.activeElement.closest('.bc-comparison')", timeout=60_000)
    sentence = page.inner_text(f"{RESULT} .pg-lead")
    assert page.locator("[role=status].pg-unseen").text_content() == sentence
    assert query(page) == {"models": f"{SIGLIP},{EVA}"}
    assert page.evaluate("document.querySelector('.bc-comparison h2').getBoundingClientRect().top < innerHeight")
    outside = page.evaluate("""() => [...document.querySelectorAll('.bc-track')].flatMap((track) => {
      const room = track.getBoundingClientRect();
      return [...track.children].map((mark) => mark.getBoundingClientRect()).map((box) => box.left + box.width / 2)
        .filter((at) => at < room.left - 1 || at > room.right + 1);
    })""")
    assert outside == [] and violations(page) == []
    page.get_by_label("Scores").fill("Paper")
    page.get_by_role("option", name="Paper").wait_for()
    page.get_by_label("Scores").press("Enter")
    page.wait_for_function("(old) => document.querySelector('.pg-unseen').textContent !== old", arg=sentence)
    assert query(page)["origin"] == "published"
