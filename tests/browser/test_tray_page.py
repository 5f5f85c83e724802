"""The tray in a browser: leaving the page, the camera, keys, narrow pages and hostile words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.tray_stand_in import HOSTILE, StandIn, drawn
from tests.browser.trays import READY, TRAY, compare, count, empty, example, file, mode, names, told

CAMERA = """navigator.mediaDevices.getUserMedia = async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 });
  const pen = canvas.getContext('2d');
  window.painted = setInterval(() => pen.fillRect(0, 0, 320, 240), 30);
  window.stream = canvas.captureStream(30);
  return window.stream;
};"""

# ---- leaving


def test_leaving_forgets_the_uploads(open_tray: Callable, stand_in: StandIn, tray_address: str) -> None:
    page = open_tray()
    page.goto(tray_address.replace("compare", "elsewhere"))
    assert stand_in.forgotten == [], "nothing was uploaded"
    page = open_tray()
    page.get_by_label("Image files").set_input_files(file())
    count(page, 4)
    page.goto(tray_address.replace("compare", "elsewhere"))
    assert stand_in.forgot.wait(60)
    assert stand_in.forgotten == stand_in.sessions


def test_clearing_forgets_the_uploads(open_tray: Callable, stand_in: StandIn) -> None:
    page = open_tray()
    page.get_by_label("Image files").set_input_files(file())
    count(page, 4)
    empty(page)
    assert stand_in.forgot.wait(60)
    assert stand_in.forgotten == stand_in.sessions
    assert page.evaluate("document.activeElement.textContent") == "Choose image"


def test_a_page_come_back_to_asks_for_the_uploads_again(open_tray: Callable) -> None:
    page = open_tray()
    page.get_by_label("Image files").set_input_files(file())
    count(page, 4)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    gone = page.locator(".tr-slot[data-state=gone]")
    assert "Drop it again" in gone.inner_text()
    assert "C holds no image" in page.locator(".tr-reason").inner_text()
    gone.get_by_role("button", name="Remove C").click()
    count(page, 3)
    assert len(compare(page)["inputs"]) == 3


# ---- the camera


def test_the_camera_runs_only_when_asked_and_stops(open_tray: Callable) -> None:
    page = empty(open_tray(script=CAMERA))
    assert page.evaluate("window.stream") is None
    page.get_by_role("button", name="Camera", exact=True).click()
    page.get_by_label("Camera preview").wait_for()
    page.wait_for_function("document.querySelector('video').videoWidth > 0")
    page.get_by_role("button", name="Take picture").click()
    count(page, 1)
    assert names(page) == ["A: Camera picture"]
    assert "320 × 240" in page.locator(".tr-slot").first.inner_text()
    assert page.evaluate("window.stream.getTracks().map(({ readyState }) => readyState)") == ["ended"]
    page.get_by_role("button", name="Camera", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    assert page.evaluate("window.stream.getTracks().map(({ readyState }) => readyState)") == ["ended"]
    assert page.get_by_label("Camera preview").is_hidden()


def test_a_camera_that_is_refused_or_missing(open_tray: Callable) -> None:
    page = open_tray(
        script="navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); }"
    )
    page.get_by_role("button", name="Camera", exact=True).click()
    page.get_by_text("The browser did not allow the camera").first.wait_for()
    assert page.get_by_role("button", name="Choose image").is_visible()
    page = open_tray(script="Object.defineProperty(navigator, 'mediaDevices', { value: undefined })")
    assert page.get_by_role("button", name="Camera", exact=True).count() == 0


# ---- keys, width, hostile words


def test_everything_is_reached_and_done_by_keys(open_tray: Callable) -> None:
    page = open_tray()
    page.evaluate("document.body.focus()")
    order = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name = page.evaluate("""(() => { const node = document.activeElement;
          return node.closest('.likeness-tray') && (node.getAttribute('aria-label') ?? node.closest('label')?.innerText
            ?? node.innerText).trim(); })()""")
        if name is None:
            break
        order.append(name)
    wanted = [
        "Move the reference to the right",
        "Remove the reference",
        "Make B the reference",
        "Choose image",
        "Write text",
        "Camera",
        "Which crop is nearer?",
        "Credits",
        "Which is nearest",
        "Tiny",
        "SSIM",
        "Add OpenCLIP ViT-B/32 LAION-2B (605 MB download)",
        "45 more models: 15 to download, 30 not possible here",
        "Compare",
        "Copy link",
        "Clear",
    ]
    places = [order.index(name) for name in wanted]
    assert places == sorted(places)
    assert "Image files" not in order
    mode(page, "Which is nearest").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"{READY}[data-mode=odd]")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("window.told.length === 1")
    assert page.evaluate("window.told[0].data.mode") == "odd"
    page.get_by_label("Elsewhere").focus()
    page.keyboard.press("Control+Enter")
    assert told(page) == 1, "the keys of another field are its own"
    page.get_by_role("button", name="Remove A").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("!!document.activeElement.closest('.likeness-tray')"), "the focus was lost"


def test_compare_pressed_while_the_server_is_asked_waits_for_it(open_tray: Callable) -> None:
    page = open_tray()
    page.evaluate("""() => { document.querySelector('[data-key=rocket]').click();
      [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Compare').click(); }""")
    page.wait_for_function("window.told.length === 1")
    assert len(page.evaluate("window.told[0].data.inputs")) == 4
    count(page, 4)
    assert told(page) == 1


@pytest.mark.parametrize("width", [390, 320])
def test_a_narrow_page_holds_two_slots_a_row_and_does_not_scroll_sideways(open_tray: Callable, width: int) -> None:
    page = open_tray(width=width)
    page.get_by_role("button", name="Write text").click()
    page.keyboard.type("averylongwordwithoutanyspace" * 6)
    page.get_by_label("Image files").set_input_files(file(f"{'long' * 30}.png"))
    example(page, "hostile").click()
    count(page, 6)
    page.get_by_text("Credits").click()
    page.get_by_role("button", name="Odd one out").click()
    count(page, 3)
    page.locator(".tr-more > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    tops = page.locator(".tr-slot").evaluate_all("(slots) => slots.map((slot) => slot.getBoundingClientRect().top)")
    assert tops[0] == tops[1] < tops[2] == tops[3]


def test_a_finger_finds_the_buttons(open_tray: Callable) -> None:
    page = open_tray(width=390, touch=True)
    sizes = page.evaluate("""() => [...document.querySelectorAll('.tr-button, .tr-segment, .tr-head .tr-icon')]
      .filter((node) => node.offsetParent).map((node) => [node.textContent, node.offsetWidth, node.offsetHeight])""")
    assert len(sizes) > 15
    assert [one for one in sizes if one[1] < 24 or one[2] < 44] == []
    letter = page.locator(".tr-letter").first
    assert letter.evaluate("(node) => node.scrollWidth <= node.clientWidth"), "Reference is cut"


def test_hostile_words_stay_words(open_tray: Callable) -> None:
    page = empty(open_tray())
    example(page, "hostile").click()
    example(page, "text-hostile").click()
    count(page, 2)
    assert names(page) == [f"A: {HOSTILE}", f"B: {HOSTILE}"]
    page.get_by_label("Image files").set_input_files(file("<img src=x onerror=window.harmed=1>.png"))
    count(page, 3)
    page.get_by_text("Credits").click()
    page.get_by_role("button", name="Remove B").click()
    page.locator(".tr-pick", has_text=HOSTILE).wait_for()
    assert page.locator(f"{TRAY} script, {TRAY} [onerror], {TRAY} img[src='x']").count() == 0
    assert page.evaluate("window.harmed") is None


def test_examples_that_do_not_load_leave_a_tray_to_use(open_tray: Callable) -> None:
    page = open_tray(
        expected="503",
        before=lambda page: page.route("**/live/examples", lambda route: route.fulfill(status=503, body="{}")),
    )
    assert "The examples did not load" in page.locator(".tr-notice").inner_text()
    page.get_by_label("Image files").set_input_files([file(), file("b.png", drawn("#123", kind="PNG"))])
    count(page, 2)
    page.unroute("**/live/examples")
    page.get_by_role("button", name="Retry").click()
    example(page, "cat").wait_for()
    assert names(page) == ["A: a photo.png", "B: b.png"]
    assert compare(page)["mode"] == "pair"
