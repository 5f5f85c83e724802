"""The playground of the section Perturb: scores from 1 to 10 while a slider moves, in the address where it may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.compute.live.pictures import png

READY = ".likeness-tray[data-ready=true]"
DONE = ".cp-result[data-done=yes]"
SLOW = 120_000  # ms: models are loaded
SHOWN = "#rated .cp-ratings tr[data-model=ssim]"


@pytest.fixture
def open_compare(visit: Callable[..., Any]) -> Callable[..., Any]:
    def open_query(query: str = "", **how: Any) -> Any:
        page = visit(f"compare{'?' if query else ''}{query}", ready=READY, **how)
        page.set_default_timeout(SLOW)
        return page

    return open_query


def query(page: Any) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def settled(page: Any, shown: str) -> None:
    page.locator(f".likeness-judging[data-shown='{shown}'][data-settled=true]").wait_for(state="attached")


def opened(page: Any) -> None:
    """Waits for the answer to a comparison, and opens the section."""
    page.locator(DONE).wait_for()
    page.get_by_role("button", name="Perturb").click()


# Opens the section and moves the slider in the first moment that it can have the focus; hands back its label.
AT_ONCE = """async () => {
  const [button] = [...document.querySelectorAll('button')].filter((each) => each.textContent.includes('Perturb:'));
  button.click();
  for (;;) {
    const slider = document.querySelector('input[type=range][aria-label*="Rotation"]');
    slider?.focus();
    if (slider && document.activeElement === slider) {
      slider.value = slider.max;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      return slider.value;
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
}"""
SLOW_FRAMES = """
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => frame(() => setTimeout(() => draw(performance.now()), 300));
"""


@pytest.mark.parametrize("frames", ["", SLOW_FRAMES], ids=["fast", "slow"])
def test_a_slider_moved_as_soon_as_the_section_opens_stays_moved(open_compare: Callable, frames: str) -> None:
    query = "mode=pair&inputs=coffee,coffee-blurred&models=ssim"
    page = open_compare(query, before=lambda page: page.add_init_script(frames))
    page.locator(DONE).wait_for()
    page.get_by_role("button", name="Perturb").wait_for()
    assert page.evaluate(AT_ONCE) == "45"
    settled(page, "rotate 45")
    assert page.get_by_role("slider", name="Rotation (degrees)").first.input_value() == "45"


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_slider_moved_by_keyboard_is_rated(open_compare: Callable, width: int, dark: bool) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_compare("mode=pair&inputs=coffee,coffee-blurred&models=ssim,tiny", width=width, dark=dark)
    opened(page)
    page.get_by_role("slider", name="Rotation (degrees)").first.focus()
    page.keyboard.press("End")
    settled(page, "rotate 45")
    cells = [cell.inner_text() for cell in page.locator(f"{SHOWN} td").all()]
    assert len(cells) == 2 and all("then" in cell and "score 0." in cell for cell in cells)
    assert "expected 8" in page.locator("#rated thead").inner_text()
    assert not page.get_by_role("button", name="Ask the judges").is_visible()  # none is ready without an endpoint
    found = query(page)
    assert (found["change"], found["by"], found["amount"]) == ("coffee", "rotate", "45")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    violations = axe.Axe().run(page, context="#rated").response["violations"]
    assert [each["id"] for each in violations] == []


def test_a_link_shows_the_same_change_again(open_compare: Callable) -> None:
    link = "mode=pair&inputs=cat,coffee&models=ssim&change=coffee&by=rotate&amount=22.5"
    page = open_compare(link)
    settled(page, "rotate 22.5")
    assert "Rotation: 22.5 degrees" in page.locator("#rated").inner_text()
    assert page.get_by_role("slider", name="Rotation (degrees)").first.input_value() == "22.5"
    assert query(page)["amount"] == "22.5"
    page.get_by_role("button", name="Clear").first.click()
    page.wait_for_function("!location.search.includes('change=')")


def test_ones_own_image_is_rated_and_stays_out_of_the_address(open_compare: Callable) -> None:
    page = open_compare()
    page.get_by_role("button", name="Clear").click()
    file = {"name": "red.png", "mimeType": "image/png", "buffer": png("red", (200, 160))}
    page.set_input_files(".likeness-tray input[type=file]", [file])
    page.locator(".likeness-tray[data-count='1'][data-busy=false]").wait_for()
    page.get_by_role("button", name="Compare", exact=True).click()
    opened(page)
    page.get_by_role("slider", name="Gaussian blur (pixels)").first.focus()
    page.keyboard.press("End")
    settled(page, "gaussianblur 8")
    assert page.locator(f"{SHOWN} td").first.inner_text().startswith("10 then 10")  # one colour, blurred
    assert not {"change", "by", "amount", "inputs"} & set(query(page))
