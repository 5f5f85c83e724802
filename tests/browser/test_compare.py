"""The Compare page as a visitor has it: answers, a link that answers by itself, blind rounds, maps, perturbations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.compute.live.pictures import png

READY = ".likeness-tray[data-ready=true]"
DONE = ".cp-result[data-done=yes]"
SLOW = 90_000  # ms: the first answer loads the model


@pytest.fixture
def open_compare(visit: Callable[..., Any]) -> Callable[..., Any]:
    def open_query(query: str = "", **how: Any) -> Any:
        return visit(f"compare{'?' if query else ''}{query}", ready=READY, **how)

    return open_query


def ask(page: Any) -> None:
    """Presses Compare and waits until another answer than the one before stands there."""
    before = page.evaluate(f"document.querySelector('{DONE}')?.dataset.at ?? ''")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function(
        "([done, before]) => (document.querySelector(done)?.dataset.at ?? before) !== before",
        arg=[DONE, before],
        timeout=SLOW,
    )


def test_one_press_answers_something_on_a_first_visit(open_compare: Callable) -> None:
    page = open_compare()
    ask(page)
    lead = page.locator(".cp-result .pg-lead").inner_text()
    assert "models pick" in lead and lead.endswith(".")
    assert page.locator(".cp-row").count() == 5
    assert page.locator(".cp-row .cp-strip").count() == 5
    assert "synthetic" in page.locator(".cp-records").first.inner_text()


def test_a_link_fills_the_tray_and_answers(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=astronaut,text-astronaut&models=tiny")
    page.locator(DONE).wait_for(timeout=SLOW)
    assert page.locator(".cp-row").count() == 1
    assert "percentile" in page.locator(".cp-strip").get_attribute("aria-label").lower()


def test_an_upload_is_compared_and_stays_out_of_the_address(open_compare: Callable) -> None:
    page = open_compare()
    page.get_by_role("button", name="Clear").click()
    page.set_input_files(
        ".likeness-tray input[type=file]",
        [
            {"name": f"{colour}.png", "mimeType": "image/png", "buffer": png(colour, (64, 64))}
            for colour in ("red", "blue")
        ],
    )
    page.locator(".likeness-tray[data-count='2'][data-busy=false]").wait_for()
    ask(page)
    assert page.locator(".cp-row").count() == 5
    assert "inputs=" not in page.url
    assert page.get_by_text("Your own images and texts stay on this page").is_visible()


def test_a_file_that_is_no_image_is_a_sentence(open_compare: Callable) -> None:
    page = open_compare(expected="400")  # the browser logs the refusal
    page.set_input_files(
        ".likeness-tray input[type=file]",
        [{"name": "notes.png", "mimeType": "image/png", "buffer": b"not an image at all"}],
    )
    page.locator(".tr-error", has_text="cannot be used").wait_for()
    assert "Traceback" not in page.locator("body").inner_text()


def test_blind_mode_shows_names_after_the_choice_and_keeps_a_tally(open_compare: Callable) -> None:
    page = open_compare("mode=choice&inputs=cat,cat-face,cat-cheek&models=tiny,ssim")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.get_by_text("Hide the models’ names").click()
    ask(page)
    row = page.locator(".cp-row").first
    hidden = (row, page.locator(".cp-result .pg-lead"), page.locator("#closer"))  # nothing that names or sways
    assert not any(one.is_visible() for one in hidden)
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.get_by_role("group", name="Your own answer").get_by_role("button", name="A", exact=True).click()
    assert all(one.is_visible() for one in hidden)
    tally = json.loads(page.evaluate("localStorage.getItem('likeness-tally')"))
    assert set(tally) == {"tiny", "ssim"} and {one["of"] for one in tally.values()} == {1}
    assert page.locator(".cp-tally li").count() == 2
    assert not [url for url in sent if "heartbeat" not in url]  # the tally goes nowhere
    page.get_by_role("button", name="Forget the tally").click()
    assert page.evaluate("localStorage.getItem('likeness-tally')") is None


def test_where_two_images_agree(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=cat,cat-face&models=tiny")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.get_by_role("button", name="Where do they agree?").click()
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator(".cp-patches[data-drawn]").wait_for(timeout=SLOW)
    canvas = page.locator(".cp-side canvas").first
    canvas.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator(".cp-patches + p").inner_text()
    assert said.startswith("First image, row 1, column 2: most like row")
    canvas.hover()
    page.wait_for_function("said => document.querySelector('.cp-patches + p').textContent !== said", arg=said)


def test_perturbing_an_image_draws_a_curve_a_model(open_compare: Callable) -> None:
    page = open_compare("mode=quality&inputs=coffee&models=tiny&question=sharpness")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.get_by_role("button", name="Perturb").click()
    slider = page.get_by_role("slider", name="Gaussian blur").first
    slider.focus()
    page.keyboard.press("End")
    page.locator(".cp-preview img").wait_for(timeout=SLOW)
    page.locator("#closer .js-plotly-plot .main-svg").first.wait_for(timeout=SLOW)
    assert page.get_by_text("What the curves say").is_visible()
    assert "Gaussian blur at 1" in page.locator(".cp-preview").inner_text()


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_telephone(open_compare: Callable, dark: bool) -> None:
    page = open_compare(
        "mode=choice&inputs=heart-left,text-heart-left,text-heart-right&models=tiny,ssim", width=390, dark=dark
    )
    page.locator(DONE).wait_for(timeout=SLOW)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".cp-row").count() == 1  # of the two in the link, SSIM compares no image with text


def test_answers_to_earlier_inputs_are_told_from_answers_to_these(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=cat,cat-face&models=ssim")
    page.locator(DONE).wait_for(timeout=SLOW)
    stale = page.get_by_text("The inputs have changed since: compare again.")
    assert not stale.is_visible()
    page.get_by_role("button", name="Odd one out").first.click()
    stale.wait_for()
    ask(page)
    stale.wait_for(state="hidden")
    page.get_by_role("button", name="Clear").click()
    page.locator(DONE).wait_for(state="hidden")
    assert not page.locator("#closer").is_visible()
