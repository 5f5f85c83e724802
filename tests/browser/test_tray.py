"""The tray in a browser, against a stand-in server: what comes in, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from tests.browser.boards import own_query, wait_query
from tests.browser.tray_stand_in import StandIn, drawn
from tests.browser.trays import READY, TRAY, announced, compare, count, empty, example, file, names, put, told

# ---- the first visit


def test_a_first_visit_is_answered_with_one_press(open_tray: Callable) -> None:
    page = open_tray("__theme=dark")
    assert names(page) == ["Reference: Astronaut", "A: Astronaut crop", "B: Cat"]
    assert own_query(page) == {} and told(page) == 0
    assert page.get_by_role("button", name="Which crop is nearer?").get_attribute("aria-pressed") == "true"
    data = compare(page)
    assert len(data.pop("session")) == 36
    assert data == {
        "inputs": [{"kind": "example", "key": key} for key in ("astronaut", "astronaut-crop", "cat")],
        "mode": "choice",
        "question": "",
        "models": ["tiny", "ssim"],
        "judges": [],
        "pressed": True,
        "change": False,
    }
    wait_query(page, "inputs", "astronaut,astronaut-crop,cat")
    assert own_query(page) == {"mode": "choice", "inputs": "astronaut,astronaut-crop,cat"}
    assert "__theme=dark" in page.url


def test_every_address_lies_below_the_page_s_own_path(open_tray: Callable, tray_address: str) -> None:
    asked: list[str] = []
    open_tray(before=lambda page: page.on("request", lambda request: asked.append(urlsplit(request.url).path)))
    assert {"/below/live/examples", "/below/live/plan", "/below/live/example/astronaut.webp"} <= set(asked)
    assert all(path.startswith("/below/") for path in asked if path != ",")


# ---- what comes in


def test_files_come_in_by_choosing_dropping_and_pasting(open_tray: Callable, stand_in: StandIn) -> None:
    page = empty(open_tray())
    assert "Add one more input" in page.locator(".tr-reason").inner_text()
    page.get_by_label("Image files").set_input_files([file("one.png"), file("two.png", drawn("#a31", kind="PNG"))])
    count(page, 2)
    put(page, ".tr-models", file("three.png", drawn("#13a", (3000, 20), "PNG")))
    count(page, 3)
    put(page, "body", file("four.png", drawn("#1a3", kind="PNG")), kind="paste")
    count(page, 4)
    assert names(page) == ["Reference: one.png", "A: two.png", "B: three.png", "C: four.png"]
    assert "reduced from 3000 x 20 pixels" in page.locator(".tr-slot").nth(2).inner_text()
    assert page.locator(".tr-slot img[alt='one.png']").evaluate("(image) => image.naturalWidth") == 120
    data = compare(page)
    assert [one["kind"] for one in data["inputs"]] == ["image"] * 4
    assert len({one["key"] for one in data["inputs"]}) == 4
    assert set(stand_in.sessions) == {data["session"]}


def test_a_file_dropped_on_a_slot_takes_its_place(open_tray: Callable) -> None:
    page = open_tray()
    put(page, ".tr-slot:nth-child(2) .tr-shown", file("mine.png"))
    page.get_by_role("img", name="mine.png").wait_for()
    count(page, 3)
    assert names(page) == ["Reference: Astronaut", "A: mine.png", "B: Cat"]


def test_a_pasted_text_is_a_slot_but_not_while_writing(open_tray: Callable) -> None:
    page = empty(open_tray())
    paste = """([target, text]) => {
      const data = new DataTransfer();
      data.setData('text/plain', text);
      document.querySelector(target).dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
    }"""
    page.evaluate(paste, ["body", " two\nlines "])
    count(page, 1)
    assert names(page) == ["A: two\nlines"]
    page.evaluate(paste, ["textarea", "more"])
    page.evaluate(paste, ["[aria-label=Elsewhere]", "more"])
    page.evaluate(paste, ["body", "http:" + "//example.org/a.png"])
    assert "That is an address" in page.locator(".tr-notice").inner_text()
    count(page, 1)


def test_a_text_is_written_and_goes_along(open_tray: Callable) -> None:
    page = empty(open_tray())
    example(page, "cat").click()
    page.get_by_role("button", name="Write text").click()
    area = page.get_by_role("textbox", name="Text of B")
    assert area.evaluate("(node) => node === document.activeElement && node.dir === 'auto'")
    count(page, 2)
    assert "B is empty" in page.locator(".tr-reason").inner_text()
    page.get_by_role("button", name="Compare", exact=True).click(force=True)
    announced(page, "B is empty")
    assert told(page) == 0
    area.fill("<b>a cat</b>")
    data = compare(page)
    assert data["inputs"] == [{"kind": "example", "key": "cat"}, {"kind": "text", "text": "<b>a cat</b>"}]
    assert data["mode"] == "pair" and data["models"] == ["tiny"]


def test_what_is_no_image_or_too_large_is_said_in_its_slot(open_tray: Callable, stand_in: StandIn) -> None:
    page = empty(open_tray(expected="400"))
    page.get_by_label("Image files").set_input_files(
        [file("notes.pdf", b"x", "application/pdf"), file("large.png", b"0" * 8_400_000), file("broken.png", b"bad")]
    )
    count(page, 3)
    slots = page.locator(".tr-slot[data-state=failed]").all_inner_texts()
    assert "notes.pdf is not an image" in slots[0]
    assert "large.png has 8.4 MB; at most 8 MB can be sent" in slots[1]
    assert "no image that can be read" in slots[2]
    assert len(stand_in.sessions) == 1, "what can be refused here is not sent"
    announced(page, "no image that can be read")
    assert "A holds no image" in page.locator(".tr-reason").inner_text()
    for _ in range(3):
        page.get_by_role("button", name="Remove A").click()
    count(page, 0)


def test_sending_shows_and_is_stopped_by_removing(open_tray: Callable, stand_in: StandIn) -> None:
    page = empty(open_tray())
    stand_in.gate.clear()
    page.get_by_label("Image files").set_input_files(file())
    slot = page.locator(".tr-slot[data-state=sending]")
    slot.get_by_role("progressbar").wait_for()
    assert "sending" in slot.inner_text() and page.locator(TRAY).get_attribute("data-busy") == "true"
    assert "A is still being sent" in page.locator(".tr-reason").inner_text()
    page.get_by_role("button", name="Remove A").click()
    stand_in.gate.set()
    count(page, 0)


def test_a_dead_server_is_said_in_words_and_tried_again(open_tray: Callable) -> None:
    page = empty(open_tray(expected="ERR_FAILED"))
    page.route("**/live/input", lambda route: route.abort())
    page.get_by_label("Image files").set_input_files(file())
    page.get_by_text("The server did not answer").first.wait_for()
    page.unroute("**/live/input")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".tr-slot[data-state=ready]")
    page.route("**/live/plan*", lambda route: route.abort())
    example(page, "cat").click()
    page.get_by_role("button", name="Retry").wait_for()
    assert "The server did not answer" in page.locator(".tr-reason").inner_text()
    page.unroute("**/live/plan*")
    page.get_by_role("button", name="Retry").click()
    page.wait_for_selector(f"{READY}[data-mode=pair]")
    assert compare(page)["mode"] == "pair"


def test_a_server_that_is_full_is_quoted(open_tray: Callable, stand_in: StandIn) -> None:
    page = empty(open_tray(expected="429"))
    stand_in.refusal = "Too many images are held. Try again in a minute."
    page.get_by_label("Image files").set_input_files(file())
    page.get_by_text(stand_in.refusal).first.wait_for()
    assert page.get_by_role("button", name="Try again").is_visible()


def test_nine_are_the_most(open_tray: Callable) -> None:
    page = open_tray()
    page.get_by_label("Image files").set_input_files(
        [file(f"{place}.png", drawn(f"#{place}{place}{place}", kind="PNG")) for place in range(8)]
    )
    count(page, 9)
    assert "2 left out" in page.locator(".tr-notice").inner_text()
    assert page.locator(".tr-empty").count() == 0
    example(page, "cat").click()
    count(page, 9)
    page.get_by_role("button", name="Remove the reference").click()
    count(page, 8)
    assert page.locator(".tr-empty").is_visible()


# ---- order


def test_slots_change_places_by_button_and_by_drag(open_tray: Callable) -> None:
    page = open_tray()
    page.get_by_role("button", name="Make B the reference").click()
    assert names(page) == ["Reference: Cat", "A: Astronaut", "B: Astronaut crop"]
    left = page.locator(".tr-slot").nth(2).get_by_role("button", name="Move B to the left")
    left.focus()
    page.keyboard.press("Enter")
    assert names(page) == ["Reference: Cat", "A: Astronaut crop", "B: Astronaut"]
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Move A to the left", "focus was lost"
    announced(page, "position 2 of 3")
    page.locator(".tr-slot").nth(2).locator(".tr-shown").drag_to(page.locator(".tr-slot").nth(0))
    assert names(page) == ["Reference: Astronaut", "A: Cat", "B: Astronaut crop"]
    data = compare(page)
    assert [one["key"] for one in data["inputs"]] == ["astronaut", "cat", "astronaut-crop"]


def test_an_example_is_dragged_into_a_slot_or_clicked(open_tray: Callable) -> None:
    page = open_tray()
    example(page, "rocket").drag_to(page.locator(".tr-slot").nth(1))
    count(page, 3)
    assert names(page) == ["Reference: Astronaut", "A: Rocket", "B: Cat"]
    example(page, "cup").drag_to(page.locator(".tr-empty"))
    example(page, "astronaut").click()
    count(page, 5)
    assert names(page)[3:] == ["C: Cup", "D: Astronaut"]


def test_an_example_s_text_is_an_example_until_it_is_edited(open_tray: Callable) -> None:
    page = open_tray()
    page.get_by_role("button", name="A photograph and its caption").click()
    count(page, 2)
    assert compare(page)["inputs"][1] == {"kind": "example", "key": "text-cat"}
    wait_query(page, "inputs", "cat,text-cat")
    assert page.get_by_text("the link contains examples only").is_hidden()
    page.get_by_role("textbox", name="Text of B").fill("a photo of a dog")
    wait_query(page, "inputs", None)
    assert page.get_by_text("the link contains examples only").is_visible()
    assert compare(page)["inputs"][1] == {"kind": "text", "text": "a photo of a dog"}
    page.get_by_role("textbox", name="Text of B").fill("a photo of a cat")
    wait_query(page, "inputs", "cat,text-cat")


def test_credits_name_every_example_with_licence_and_source(open_tray: Callable) -> None:
    page = open_tray()
    assert example(page, "cat").get_attribute("title") == "Cat. NASA. public domain."
    assert example(page, "cup").inner_text().split() == ["Cup", "drawn"]
    page.get_by_text("Credits").click()
    lines = page.locator(".tr-credits li").all_inner_texts()
    assert len(lines) == page.locator(".tr-example").count()
    assert "Cup (drawn): NASA, public domain. Great Images, https:" in lines[3]
    links = page.locator(".tr-credits a").evaluate_all("(links) => links.map(({ protocol, rel }) => protocol + rel)")
    assert set(links) == {"https:noopener noreferrer"}
