"""Two sets of images, in the browser: ZIPs or loose files go out, a table comes back, and others are answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.axe_rules import grave_violations
from tests.compute.live import zips
from tests.compute.live.pictures import png
from tests.compute.live.test_two_sets import squares

HOSTILE = '<img src=x onerror="window.harmed=1">.png'
PART, TRAY = ".likeness-sets", ".likeness-tray[data-ready=true]"


@pytest.fixture
def opened(visit: Callable[..., Any]) -> Callable[..., Any]:
    """Opens the page and the section, with the bundled encoder chosen."""

    def open_part(**how: Any) -> Any:
        page = visit("compare?models=tiny&inputs=astronaut,text-astronaut", ready=TRAY, **how)
        page.locator(f"{PART} summary").first.click()
        page.locator(f"{PART}[data-offered=true]").wait_for()
        page.get_by_label("Encoder").select_option("tiny")
        return page

    return open_part


def add(page: Any, role: str, files: dict[str, bytes]) -> None:
    page.locator(f"{PART} [data-role={role}] input[type=file]").set_input_files(
        [{"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files.items()]
    )


def ended(page: Any, *, timeout: float = 120_000) -> str:
    """What is said in the end."""
    page.locator(f"{PART}[data-state=idle]").wait_for(timeout=timeout)
    return page.locator(f"{PART} [role=status]").inner_text()


def compare(page: Any) -> str:
    page.get_by_role("button", name="Compare the sets").click()
    page.locator(f"{PART} .bt-result table").wait_for(timeout=120_000)
    return ended(page)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)], ids=["light", "dark", "phone"])
def test_the_drawn_sets_are_compared_in_one_click(opened: Callable[..., Any], width: int, dark: bool) -> None:
    page = opened(width=width, dark=dark)
    page.get_by_role("button", name="Try drawn sets").click()
    page.locator(f"{PART} .bt-result table").wait_for(timeout=120_000)
    assert ended(page) == "Done."
    assert page.locator(f"{PART} .bt-result").inner_text().startswith("Synthetic: scenes drawn by this program")
    assert page.locator(f"{PART} tbody th").all_inner_texts()[:3] == ["FD ↓", "KID × 1000 ↓", "Precision % ↑"]
    assert "FD is too high with few images" in page.locator(f"{PART} .bt-notes").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(f"{PART} .bt-list summary").first.click()
    assert grave_violations(page) == []


def test_a_zip_and_loose_images_with_names_that_would_do_harm(opened: Callable[..., Any]) -> None:
    page = opened()
    files = squares(6, seed=0)
    add(page, "reference", {"set.zip": zips.packed(files | {"notes.txt": b"x"})})
    loose = {f"{number}.png": data for number, data in enumerate(squares(4, seed=1).values())}
    add(page, "generated", loose | {HOSTILE: [*files.values()][2]})
    assert page.locator(f"{PART} [data-role=generated] .bt-file").inner_text().startswith("5 images, ")
    assert compare(page) == "Done."
    words = page.locator(f"{PART} .bt-result").inner_text()
    assert words.startswith("6 reference images and 5 generated images, 128 features an image by Tiny CLIP")
    page.get_by_text("1 generated image with the pixels of a reference image").click()
    page.get_by_text(f"{HOSTILE} = a folder/002.png").wait_for()
    page.get_by_text("1 file of the reference set skipped").click()
    page.get_by_text("notes.txt is not an image by its name").wait_for()
    assert page.locator(f"{PART} img").count() == 0 and page.evaluate("window.harmed") is None


def test_what_cannot_be_compared_is_a_sentence_each_time(opened: Callable[..., Any]) -> None:
    page = opened(width=390)
    page.get_by_role("button", name="Compare the sets").click()
    page.locator(f"{PART} [role=status]").get_by_text("Choose the reference set first.", exact=True).wait_for()
    add(page, "reference", {"a.zip": b"nothing"})
    add(page, "generated", {"b.zip": zips.packed(squares(3, seed=0))})
    for _ in range(2):  # the second is as new as the first
        page.get_by_role("button", name="Compare the sets").click()
        page.locator(f"{PART} [role=status]").get_by_text("is not a ZIP").wait_for(timeout=60_000)
        assert ended(page).startswith("The file of the reference set is not a ZIP.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_others_are_answered_meanwhile_and_a_cancel_ends_it(
    opened: Callable[..., Any], visit: Callable[..., Any]
) -> None:
    page = opened()
    for role in ("reference", "generated"):
        pictures = {f"{number}.png": png("red", (2000 + number, 1500)) for number in range(150)}
        add(page, role, {f"{role}.zip": zips.packed(pictures)})
    page.get_by_role("button", name="Compare the sets").click()
    page.locator(f"{PART}[data-state=running]").wait_for(timeout=120_000)
    other = visit("compare?mode=pair&models=tiny&inputs=astronaut,text-astronaut", ready=TRAY)
    other.locator(".cp-result[data-done=yes]").wait_for(timeout=120_000)
    assert page.locator(PART).get_attribute("data-state") == "running"
    page.get_by_role("button", name="Cancel", exact=True).click()
    assert ended(page) == "Stopped: nothing was computed."
    assert page.locator(f"{PART} .bt-result table").count() == 0
