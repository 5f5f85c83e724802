"""The Try page as a visitor has it: answers, a link that answers by itself, maps, perturbations."""

from __future__ import annotations

import re
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
    with page.expect_response(re.compile("/run/predict"), timeout=SLOW):  # sent beside the question, at times after it
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
    assert page.locator(".cp-row").count() == page.locator(".tr-models input:checked").count() >= 6
    assert page.locator(".cp-row .cp-strip").count() >= 5
    assert "synthetic" in page.locator(".cp-row[data-model=tiny] .cp-records").inner_text()


def test_a_link_fills_the_tray_and_answers(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=heart-left,text-heart-left&models=tiny")
    page.locator(DONE).wait_for(timeout=SLOW)
    assert page.locator(".cp-row").count() == 1
    assert "percentile" in page.locator(".cp-strip").get_attribute("aria-label").lower()


def test_photographs_have_no_percentile_and_the_page_says_why(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=cat,cat-face&models=efficientnet-lite0,ssim")
    page.locator(DONE).wait_for(timeout=SLOW)
    assert "nearer to a matching pair" in page.locator(".pg-lead").inner_text()
    row = page.locator(".cp-row[data-model=efficientnet-lite0]")
    assert row.locator(".cp-strip").get_attribute("aria-label").startswith("Raw cosine 0.")
    assert "percentile" not in row.locator(".cp-ticks").inner_text()
    assert "no percentile: calibrated on 14 photographs, and a percentile needs 40" in row.inner_text()
    row.locator(".cp-domain summary").click()
    assert "photographs of scikit-image: used here" in row.locator(".cp-domain").inner_text()


def test_what_a_model_was_not_calibrated_on_is_outside(open_compare: Callable) -> None:
    page = open_compare("mode=quality&inputs=coffee,coffee-blurred&models=conse")
    page.locator(DONE).wait_for(timeout=SLOW)
    assert "For 1 model the input is outside what it was calibrated on." in page.locator(".pg-lead").inner_text()
    row = page.locator(".cp-row")
    assert "no percentile: outside what this model was calibrated on: drawn scenes" in row.inner_text()
    assert row.locator(".cp-band").count() == 0 and "raw cosine" in row.locator(".cp-ticks").inner_text()


def test_the_ready_comparisons_say_who_gets_them(open_compare: Callable) -> None:
    """On a machine without network: computed by the models that are ready."""
    page = open_compare()
    part = page.get_by_role("region", name="Ready comparisons")
    part.locator("summary").click()
    subject = part.locator(".tr-answers li", has_text="Which shows the same subject?")
    subject.get_by_text("EfficientNet-Lite0. Missed it:").wait_for(timeout=SLOW)
    page.wait_for_function(
        "!document.querySelector('.tr-answers').textContent.includes('still answering')", timeout=SLOW
    )
    assert "Expected: A, The cat's face, grey and upside down. Got it: ConSE" in subject.inner_text()
    assert "SSIM, MS-SSIM, Colour histogram, Perceptual hash" in subject.inner_text().partition("Missed it:")[2]
    caption = part.locator(".tr-answers li", has_text="A photograph and its caption")
    assert "No model that is ready gets it." in caption.inner_text() and "604 MB" in caption.inner_text()


def test_a_photograph_is_outside_the_bundled_models_domain(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=astronaut,coffee&models=tiny")
    page.locator(DONE).wait_for(timeout=SLOW)
    row = page.locator(".cp-row[data-model=tiny]")
    assert "no percentile: outside what this model was calibrated on: drawn scenes" in row.inner_text()
    assert "matching pair" not in row.inner_text()


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
    assert page.locator(".cp-row").count() == page.locator(".tr-models input:checked").count() >= 6
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


def test_where_two_images_agree(open_compare: Callable) -> None:
    page = open_compare("mode=pair&inputs=cat,cat-face&models=tiny")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.get_by_role("button", name="Where do they agree?").click()
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator(".cp-patches[data-drawn]").wait_for(timeout=SLOW)
    legend = " ".join(page.locator(".cp-legend").inner_text().split())
    assert legend == "least alike most alike the patch you point at, and its best match"
    canvas = page.locator(".cp-side canvas").first
    canvas.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator(".cp-legend + p").inner_text()
    assert said.startswith("First image, row 1, column 2: most like row")
    canvas.hover()
    page.wait_for_function("said => document.querySelector('.cp-legend + p').textContent !== said", arg=said)


def test_perturbing_an_image_draws_a_curve_a_model(open_compare: Callable) -> None:
    from playwright.sync_api import expect

    page = open_compare("mode=pair&inputs=coffee,coffee-blurred&models=ssim")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.get_by_role("button", name="Perturb").click()
    slider = page.get_by_role("slider", name="Gaussian blur (pixels)").first
    expect(slider).to_have_attribute("max", "17.05", timeout=SLOW)  # 5% of the shorter side of 341 pixels
    slider.focus()
    page.keyboard.press("End")
    page.locator(".cp-preview img").wait_for(timeout=SLOW)
    page.locator("#closer .js-plotly-plot .main-svg").first.wait_for(timeout=SLOW)
    assert page.get_by_text("What the curves say").is_visible()
    assert page.locator(".cp-preview").inner_text().startswith("Gaussian blur: standard deviation of 17 pixels")
    assert page.locator("#closer .xtitle").text_content() == "Gaussian blur (pixels)"


@pytest.mark.parametrize("reduced", [False, True])
def test_the_answer_comes_into_view_is_announced_and_takes_the_focus(open_compare: Callable, reduced: bool) -> None:
    def watch(page: Any) -> None:
        page.add_init_script(
            "window.scrolled = []; const own = Element.prototype.scrollIntoView;"
            "Element.prototype.scrollIntoView = function (how) {"
            " window.scrolled.push(how?.behavior); own.call(this, how); }"
        )

    page = open_compare(reduced=reduced, before=watch)
    live = page.locator(".likeness-tray > [role=status]")
    lead = page.locator(".cp-result .pg-lead")
    button = page.get_by_role("button", name="Compare", exact=True)
    button.evaluate(
        "(node) => { scrollTo(0, 0); node.focus({ preventScroll: true }); }"
    )  # the answer is below the fold
    page.keyboard.press("Enter")
    page.locator(DONE).wait_for(timeout=SLOW)
    page.wait_for_function("document.activeElement.matches('.cp-result')")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Answer"
    page.wait_for_function(
        "([one, other]) => one.innerText === other.innerText", arg=[live.element_handle(), lead.element_handle()]
    )
    page.wait_for_function(
        "() => { const { top, bottom } = document.querySelector('.pg-lead').getBoundingClientRect();"
        " return top >= 0 && bottom <= innerHeight; }"
    )
    assert set(page.evaluate("window.scrolled")) == {"instant" if reduced else "smooth"}


def test_an_answer_leaves_a_visitor_who_went_on_where_they_are(open_compare: Callable) -> None:
    page = open_compare()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Clear").focus()
    page.mouse.wheel(0, -50)
    page.locator(DONE).wait_for(timeout=SLOW)
    page.wait_for_function(
        "([live, lead]) => document.querySelector(live).textContent === document.querySelector(lead).textContent",
        arg=[".likeness-tray > [role=status]", ".pg-lead"],
    )
    assert page.evaluate("document.activeElement.textContent") == "Clear"


def test_letters_and_labels_of_an_axis_do_not_overlap(open_compare: Callable) -> None:
    page = open_compare("mode=choice&inputs=coffee,coffee-blurred,cat,rocket,cat-turned,astronaut&models=ssim,ms-ssim")
    page.locator(DONE).wait_for(timeout=SLOW)
    for width in (1280, 1200, 390):
        page.set_viewport_size({"width": width, "height": 900})
        overlaps = page.evaluate("""() => [...document.querySelectorAll('.cp-strip')].flatMap((strip) => {
          const axis = strip.getBoundingClientRect();
          return ['.cp-letters b', '.cp-ticks span', '.cp-lane span'].flatMap((kind) => {
            const boxes = [...strip.querySelectorAll(kind)].map((node) => node.getBoundingClientRect());
            const outside = boxes.filter(({ left, right }) => left < axis.left - 1 || right > axis.right + 1);
            const crossed = boxes.filter((one, at) => boxes.some((other, index) => index > at
              && one.left < other.right && other.left < one.right
              && one.top < other.bottom - 1 && other.top < one.bottom - 1));
            return [...outside, ...crossed].map(({ left, right }) => `${kind} ${left}-${right}`);
          });
        })""")
        assert overlaps == [], width
        assert page.evaluate(
            "[...document.querySelectorAll('.cp-axis span')].every((node) => node.scrollWidth <= node.clientWidth + 1)"
        ), "a heading is cut"


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
