"""The tray in a browser: the mode, the models, and what the address carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.boards import own_query, wait_query
from tests.browser.tray_stand_in import SUGGESTED, StandIn
from tests.browser.trays import READY, TRAY, announced, compare, count, empty, example, file, mode, names, told

# ---- the mode


def test_the_mode_follows_the_inputs_until_it_is_chosen(open_tray: Callable, stand_in: StandIn) -> None:
    page = empty(open_tray())
    seen = []
    for key in ("cat", "cup", "rocket"):
        example(page, key).click()
        page.wait_for_selector(f"{READY}[data-mode]:not([data-mode=''])[data-count='{len(seen) + 1}']")
        seen.append(page.locator(TRAY).get_attribute("data-mode"))
    assert seen == ["quality", "pair", "choice"]
    mode(page, "Odd one out").check()
    page.wait_for_selector(f"{READY}[data-mode=odd]")
    assert [name[0] for name in names(page)] == ["A", "B", "C"]
    example(page, "astronaut").click()
    count(page, 4)
    assert page.locator(TRAY).get_attribute("data-mode") == "odd", "a choice that fits stays"
    assert stand_in.plans[-1] == {"kinds": "image,image,image,image", "mode": "odd", "question": "quality"}
    page.get_by_role("button", name="Remove A").click()
    page.get_by_role("button", name="Remove A").click()
    page.wait_for_selector(f"{READY}[data-mode=pair]")
    wait_query(page, "mode", None)


def test_a_text_after_images_is_held_against_them(open_tray: Callable) -> None:
    page = open_tray()
    example(page, "text-cat").click()
    page.wait_for_selector(f"{READY}[data-mode=choice][data-count='4']")
    assert names(page) == ["Reference: a photo of a cat", "A: Astronaut", "B: Astronaut crop", "C: Cat"]
    announced(page, "D is the reference now")
    page.get_by_role("button", name="Make B the reference").click()
    page.wait_for_selector(f"{READY}[data-mode='']")
    assert names(page)[0] == "A: Astronaut crop", "an order of the visitor's own stays"
    assert "Add one more input" in page.locator(".tr-reason").inner_text()
    page.get_by_role("button", name="Make B the reference").click()
    page.wait_for_selector(f"{READY}[data-mode=choice]")


def test_a_mode_that_does_not_fit_says_why(open_tray: Callable) -> None:
    page = open_tray()
    pair = mode(page, "Pair")
    assert pair.is_disabled()
    described = pair.evaluate("(node) => document.getElementById(node.getAttribute('aria-describedby')).textContent")
    assert described == "It takes 2 to 2 inputs"
    assert page.locator("[data-key=pair].tr-segment").get_attribute("title") == described
    assert mode(page, "Odd one out").is_enabled()


def test_quality_asks_a_question(open_tray: Callable, stand_in: StandIn) -> None:
    page = open_tray()
    assert page.get_by_label("Question").is_hidden()
    page.get_by_role("button", name="Which is brighter?").click()
    page.wait_for_selector(f"{READY}[data-mode=quality]")
    assert page.get_by_label("Question").input_value() == "brightness"
    page.get_by_label("Question").select_option("Sharpness")
    wait_query(page, "question", "sharpness")
    page.wait_for_selector(READY)
    assert stand_in.plans[-1]["question"] == "sharpness"
    assert compare(page)["question"] == "sharpness"


# ---- the ready comparisons


def test_a_ready_comparison_shows_what_is_expected_and_who_gets_it(open_tray: Callable) -> None:
    page = open_tray()
    part = page.get_by_role("region", name="Ready comparisons")
    assert part.locator(".tr-expected:visible").inner_text().startswith("Expected: A, Astronaut crop.")
    assert part.get_by_text("What crops is for.").is_visible()
    part.get_by_text("2 of 2 got it").wait_for()  # the second answer of the server
    assert "Got it: Tiny, SSIM." in part.locator(".tr-expected:visible").inner_text()
    part.locator("summary").click()
    lines = part.locator(".tr-answers li").all_inner_texts()
    assert len(lines) == 4 and lines[0].startswith("Which crop is nearer? Expected: A, Astronaut crop.")
    assert lines[1].startswith("A photograph and its caption Expected: a matching pair. Missed it: Tiny.")
    assert "Expected: C, Rocket. Got it: Tiny. Missed it: <img" in lines[2] and "No clear answer: SSIM." in lines[2]
    assert page.evaluate("window.harmed") is None
    part.get_by_role("button", name="Which is brighter?").click()
    page.wait_for_selector(f"{READY}[data-mode=quality]")
    assert part.locator(".tr-expected").first.inner_text().startswith("Expected: A, Cup.")


def test_one_click_downloads_the_model_that_a_comparison_needs(open_tray: Callable, stand_in: StandIn) -> None:
    page = open_tray()
    page.get_by_role("button", name="A photograph and its caption").click()
    page.wait_for_selector(f"{READY}[data-mode=pair]")
    bring = page.locator(".tr-expected").first.get_by_role("button")
    assert bring.inner_text() == "Download and ask OpenCLIP ViT-B/32 LAION-2B (605 MB)"
    bring.click()
    page.wait_for_function("window.told.length === 1")
    data = page.evaluate("window.told[0]")
    assert data["name"] == "download" and data["data"]["models"] == ["tiny", SUGGESTED]
    assert [one["key"] for one in data["data"]["inputs"]] == ["cat", "text-cat"]


def test_without_a_network_the_download_is_named_and_not_offered(open_tray: Callable, stand_in: StandIn) -> None:
    def offline(page: Any) -> None:
        stand_in.offered = "impossible"

    page = open_tray(before=offline)
    page.get_by_role("button", name="A photograph and its caption").click()
    line = page.locator(".tr-expected").first
    line.get_by_text("OpenCLIP ViT-B/32 LAION-2B may: a download of 605 MB, and there is no network here.").wait_for()
    assert line.get_by_role("button").count() == 0


# ---- the models


def test_models_to_download_are_found_and_ticked(open_tray: Callable) -> None:
    page = open_tray()
    quick = page.get_by_role("button", name="Add OpenCLIP ViT-B/32 LAION-2B (605 MB download)")
    quick.focus()
    page.keyboard.press("Enter")
    assert quick.is_hidden()
    assert page.evaluate("document.activeElement.closest('.tr-pick').dataset.key") == SUGGESTED
    more = page.locator(".tr-more")
    assert more.locator("> summary").inner_text() == "45 more models: 15 to download, 30 not possible here"
    more.locator("> summary").click()
    groups = more.locator(".tr-group > summary")
    groups.first.wait_for()
    assert groups.all_inner_texts() == ["15 can be downloaded", "30 are too large for this machine"]
    groups.last.click()
    assert more.get_by_text("Run the app on a machine with more memory").is_visible()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page, context=".tr-more").response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    groups.last.click()
    more.get_by_label("Find a model").fill("lab model-3")
    row = more.locator("li:visible")
    assert row.count() == 1 and "will download 510 MB" in row.inner_text()
    row.get_by_role("checkbox").check()
    more.get_by_label("Find a model").fill("giant")
    assert more.locator("li:visible").count() == 30
    assert "It needs 40 GB of memory" in more.locator("li:visible").first.inner_text()
    assert more.locator("li:visible").first.get_by_role("checkbox").is_disabled()
    more.get_by_label("Find a model").fill("zzz")
    assert "No model matches" in more.inner_text()
    assert compare(page)["models"] == ["tiny", "ssim", SUGGESTED, "lab/model-3"]
    wait_query(page, "models", f"tiny,ssim,{SUGGESTED},lab/model-3")


def test_weights_that_are_not_here_are_asked_for_first(open_tray: Callable, stand_in: StandIn) -> None:
    page = open_tray()
    page.get_by_role("button", name="Add OpenCLIP").click()
    asked = compare(page)
    assert page.evaluate("window.told[0].name") == "download"
    stand_in.here.add(SUGGESTED)
    assert compare(page) == asked, "the server is asked again what is here"
    assert page.evaluate("window.told[1].name") == "compare"
    assert page.locator(f".tr-pick[data-key='{SUGGESTED}'] small").inner_text() == ""


def test_no_link_starts_a_download(open_tray: Callable, stand_in: StandIn) -> None:
    query = f"mode=pair&inputs=cat,cup&models=tiny,{SUGGESTED}"
    page = open_tray(query)
    assert page.get_by_role("checkbox", name="OpenCLIP").is_checked() and told(page) == 0
    compare(page)
    assert page.evaluate("window.told[0].name") == "download"
    stand_in.here.add(SUGGESTED)
    open_tray(query).wait_for_function("window.told.length === 1")  # with all that is here, it answers by itself


def test_a_choice_of_models_survives_the_modes(open_tray: Callable) -> None:
    page = open_tray()
    page.get_by_role("checkbox", name="SSIM").uncheck()
    page.get_by_role("button", name="Add OpenCLIP").click()
    page.get_by_role("button", name="A photograph and its caption").click()
    page.wait_for_selector(f"{READY}[data-mode=pair]")
    assert page.get_by_role("checkbox", name="SSIM").count() == 0
    assert compare(page)["models"] == ["tiny", SUGGESTED]
    page.get_by_role("button", name="Odd one out").click()
    page.wait_for_selector(f"{READY}[data-mode=odd]")
    assert compare(page)["models"] == ["tiny", SUGGESTED]
    assert not page.get_by_role("checkbox", name="SSIM").is_checked()


def test_twelve_models_are_the_most_and_one_the_least(open_tray: Callable) -> None:
    page = open_tray()
    page.locator(".tr-more > summary").click()
    for place in range(10):
        page.locator(f".tr-list [data-key='lab/model-{place}'] input").check()
    assert page.locator(".tr-list [data-key='lab/model-10'] input").is_disabled()
    assert page.get_by_text("12 models at once are the most").is_visible()
    assert len(compare(page)["models"]) == 12
    while page.locator(".tr-models input:checked").count():
        page.locator(".tr-models input:checked").first.click()
    assert page.locator(".tr-models input").count() == 13, "what was ticked once stays at hand"
    assert "Tick at least one model" in page.locator(".tr-reason").inner_text()
    wait_query(page, "models", "none")


# ---- the address


def test_a_link_fills_the_tray_and_asks_once(open_tray: Callable) -> None:
    query = "__theme=dark&mode=odd&inputs=astronaut,astronaut-crop,rocket&models=tiny,odd/hostile"
    page = open_tray(query)
    page.wait_for_function("window.told.length === 1")
    data = page.evaluate("window.told[0].data")
    assert data["mode"] == "odd" and data["models"] == ["tiny", "odd/hostile"]
    assert [one["key"] for one in data["inputs"]] == ["astronaut", "astronaut-crop", "rocket"]
    assert page.evaluate("location.search") == f"?{query}"
    page.get_by_role("checkbox", name="Tiny").uncheck()
    wait_query(page, "models", "odd/hostile")  # the address is written a moment after a change
    page.get_by_role("checkbox", name="Tiny").check()
    wait_query(page, "models", "tiny,odd/hostile")
    page.wait_for_selector(READY)
    assert page.evaluate("location.search") == f"?{query}" and told(page) == 1


@pytest.mark.parametrize(
    ("query", "named", "fires"),
    [
        ("inputs=astronaut,nowhere,cat", "nowhere", 0),
        ("inputs=cat,cup&models=nobody/nothing,tiny", "nobody/nothing", 1),
        ("inputs=cat,cup&mode=odd", "does not fit", 1),
        ("inputs=cat,cup&mode=__proto__", "__proto__", 1),
        ("mode=quality&inputs=cup&question=<img src=x onerror=window.harmed=1>", "<img", 1),
        ("inputs=<script>window.harmed=1</script>", "<script>", 0),
        ("inputs=cat,cup&models=far/model-3", "40 GB", 0),
    ],
    ids=["input", "model", "unfit mode", "mode", "question", "hostile", "impossible"],
)
def test_nonsense_in_a_link_is_a_sentence(open_tray: Callable, query: str, named: str, fires: int) -> None:
    page = open_tray(query)
    page.locator(".tr-notice").wait_for()
    assert named in page.locator(".tr-notice").inner_text()
    page.wait_for_function("(fires) => window.told.length >= fires", arg=fires)
    assert told(page) == fires
    assert page.evaluate("window.harmed") is None


def test_no_other_model_stands_in_place_of_one_that_does_not_exist(open_tray: Callable) -> None:
    page = open_tray("inputs=cat,cup&models=nobody/nothing,tinyy")
    page.locator(".tr-notice").wait_for()
    words = page.locator(".tr-notice").inner_text()
    assert "No model “nobody/nothing” answers this. No model “tinyy” answers this. Did you mean “tiny”?" in words
    assert page.locator(".tr-models input:checked").count() == 0 and told(page) == 0
    assert "Tick at least one model" in page.locator(".tr-reason").inner_text()


def test_uploads_never_enter_the_address(open_tray: Callable) -> None:
    page = open_tray()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("checkbox", name="SSIM").uncheck()
    wait_query(page, "inputs", "astronaut,astronaut-crop,cat")
    mode(page, "Odd one out").check()
    page.get_by_label("Image files").set_input_files(file("secret name.png"))
    count(page, 4)
    wait_query(page, "inputs", None)
    assert own_query(page) == {"mode": "odd", "models": "tiny"}
    copy = page.get_by_role("button", name="Copy link")
    described = copy.evaluate("(node) => document.getElementById(node.getAttribute('aria-describedby')).innerText")
    assert described == "Your own images and texts stay on this page: the link contains examples only."
    copy.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert urlsplit(page.evaluate("navigator.clipboard.readText()")).query == "mode=odd&models=tiny"


def test_a_link_of_an_untouched_tray_holds_it(open_tray: Callable) -> None:
    page = open_tray()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert urlsplit(link).query == "mode=choice&inputs=astronaut,astronaut-crop,cat"
    assert own_query(page) == {}
