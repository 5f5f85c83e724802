"""Single items, run details and maps of images: what they show, their state in the address, and who can read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.browser.axe_rules import grave_violations

TASK = "task?task=unisim/imagenet-ooo"
READY = ".lk-items[data-ready]"
LOOKS = {"light": {}, "dark": {"dark": True}, "phone": {"width": 390}}


def query_of(page: Any) -> dict[str, str]:
    return {
        key: values[0]
        for key, values in parse_qs(page.evaluate("location.search.slice(1)")).items()
        if key != "__theme"
    }


@pytest.fixture
def open_items(visit: Callable[..., Any]) -> Callable[..., Any]:
    def open_address(address: str = TASK, **how: Any) -> Any:
        page = visit(address, ready=READY, **how)
        page.wait_for_load_state("networkidle")
        return page

    return open_address


def test_what_a_model_got_wrong_comes_first_with_its_pictures(open_items: Callable) -> None:
    page = open_items()
    pressed = page.locator(".lk-group-of[aria-pressed=true]")
    assert pressed.inner_text().startswith("Wrong")
    page.locator(".lk-item").first.scroll_into_view_if_needed()
    first = page.locator(".lk-item").first
    assert "✗ wrong" in first.inner_text() and "margin −" in first.inner_text()
    pictures = first.locator("img")
    assert pictures.count() == 3
    names = [pictures.nth(at).get_attribute("alt") for at in range(3)]
    assert sum("the right one" in name for name in names) == 1 and all(name.startswith("Image ") for name in names)
    page.wait_for_function("document.querySelector('.lk-item img').naturalWidth > 0")
    assert query_of(page) == {"task": "unisim/imagenet-ooo"}


def test_two_models_their_disagreements_and_the_address(open_items: Callable) -> None:
    page = open_items()
    page.get_by_label("Beside it").select_option("example/judge")
    page.locator(".lk-group-of", has_text="They disagree").wait_for()
    page.locator(".lk-group-of", has_text="Only Example Judge right").click()
    page.wait_for_function("new URLSearchParams(location.search).get('show') === 'second'")
    assert query_of(page)["items"].endswith(",example/judge")
    page.locator(".lk-group-of[aria-pressed=true]", has_text="Only Example Judge right").wait_for()
    said = page.locator(".lk-item").first.inner_text()
    assert "✗ wrong" in said and "✓ right" in said
    again = open_items(page.url.partition("127.0.0.1")[2].partition("/")[2].replace("&__theme=light", ""))
    assert again.locator(".lk-group-of[aria-pressed=true]").inner_text().startswith("Only Example Judge right")
    assert again.locator(".lk-item").count() == page.locator(".lk-item").count()


def test_pages_are_turned_with_the_keyboard(open_items: Callable) -> None:
    page = open_items(f"{TASK}&show=all")
    names = page.locator(".lk-item-name").all_inner_texts()
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("new URLSearchParams(location.search).get('part') === '2'")
    page.wait_for_function("(first) => document.querySelector('.lk-item-name').innerText !== first", arg=names[0])
    assert not set(names) & set(page.locator(".lk-item-name").all_inner_texts())
    assert page.evaluate("document.activeElement.textContent") == "Next"
    assert "25 to 48" in page.locator(".lk-pager").inner_text()


def test_a_reply_is_shown_as_it_was_written(open_items: Callable) -> None:
    """The stand-in judge writes markup among other things."""
    page = open_items(f"{TASK}&items=example/judge&show=all")
    page.locator(".lk-item blockquote", has_text="<img src=x onerror='window.harmed=1'> (A)").first.wait_for()
    page.locator(".lk-group-of", has_text="Unread").click()
    page.locator(".lk-item blockquote", has_text="Both look alike to me.").first.wait_for()
    assert page.evaluate("window.harmed") is None and page.locator("img[src=x]").count() == 0


def test_hits_of_a_query_with_the_relevant_ones_marked(open_items: Callable) -> None:
    page = open_items("task?task=unisim/roxford&show=all")
    first = page.locator(".lk-item").first
    assert "Query" in first.inner_text() and "square" in first.inner_text()
    assert first.locator(".lk-hits figure").count() == 5
    marked = first.locator(".lk-hits .lk-right img")
    assert all("relevant" in marked.nth(at).get_attribute("alt") for at in range(marked.count()))


def test_nonsense_in_the_address_shows_the_items_all_the_same(open_items: Callable) -> None:
    page = open_items(f"{TASK}&show=plaid&order=up&part=-3&subset=x&every=perhaps")
    assert page.locator(".lk-item").count() > 0


def test_no_other_models_items_stand_in_place_of_an_unknown_ones(open_items: Callable) -> None:
    page = open_items(f"{TASK}&items=no/body,%3Cb%3E&map=nobody")
    assert "no/body" in page.locator(".lk-items .pg-message").inner_text()
    assert page.locator(".lk-item").count() == 0


def test_another_task_keeps_the_models_and_drops_the_rest(open_items: Callable) -> None:
    page = open_items(f"{TASK}&items=example/dim&show=right&part=2")
    page.get_by_label("Task (type to search)").click()
    page.keyboard.type("UniSim-Bench, IR")
    page.keyboard.press("Enter")
    page.locator(".lk-items[data-task='unisim/roxford'][data-ready]").wait_for()
    page.wait_for_function("!new URLSearchParams(location.search).has('part')")
    assert query_of(page) == {"task": "unisim/roxford", "items": "example/dim"}
    assert page.locator(".lk-items select").first.input_value() == "example/dim"


def test_a_task_without_runs_says_how_to_make_one(open_items: Callable) -> None:
    page = open_items("task?task=mieb/stl10")
    said = page.locator(".lk-items").inner_text()
    assert "No computed run of this task yet" in said and "python -m compute run --suite mieb" in said
    assert "python -m compute project --task mieb/stl10" in page.locator("body").inner_text()


def test_a_lost_server_is_said_and_can_be_asked_again(open_items: Callable) -> None:
    page = open_items(expected="ERR_FAILED|Failed to load")
    page.route("**/data/items*", lambda route: route.abort())
    page.get_by_role("button", name="Right", exact=False).first.click()
    page.locator(".lk-items", has_text="The server did not answer").wait_for()
    page.unroute("**/data/items*")
    page.locator(".lk-items").get_by_role("button", name="Try again").click()
    page.locator(".lk-items .lk-item").first.wait_for()


def test_run_details_open_from_the_task_the_model_and_the_board(
    open_items: Callable, visit: Callable, open_board: Callable
) -> None:
    page = open_items()
    opened = [
        page,
        visit("model?model=example/eye", ready=".lk-run"),
        open_board("suite=unisim-ood&origin=computed&columns=unisim/imagenet-ooo"),
    ]
    opened[2].locator(".lk-body .lk-row .lk-cell").last.click()
    for one in opened:
        details = one.locator("dialog .lk-run" if one is opened[2] else ".lk-run").last
        details.locator("summary").first.click()
        body = details.locator(".lk-run-body dl").first
        body.wait_for()
        said = details.inner_text()
        assert "Fingerprint" in said and "float32" in said and "Its single items" in said and "{" not in said


def test_pointing_at_a_mark_shows_its_image(open_items: Callable) -> None:
    page = open_items()
    page.locator("#item-map [data-listens=pictures]").wait_for(state="attached")
    page.locator("#item-map").scroll_into_view_if_needed()
    box = page.locator("#item-map .scatterlayer .point").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 - 1, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    picture = page.locator("#item-map .pg-hover img")
    picture.wait_for()
    assert picture.get_attribute("alt") in ("odd one", "one of the others")
    page.get_by_label("Look at").select_option(label="odd one (60)")
    page.locator(".pg-pictures img").first.wait_for()
    assert {one.get_attribute("alt") for one in page.locator(".pg-pictures img").all()} == {"odd one"}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_items_runs_and_map_can_be_read_by_all(open_items: Callable, look: dict[str, Any]) -> None:
    page = open_items(f"{TASK}&items=example/eye,example/judge", **look)
    page.locator(".lk-run summary").first.click()
    page.locator(".lk-run-body dl").first.wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    grave = grave_violations(page)
    assert grave == [], "\n".join(grave)
