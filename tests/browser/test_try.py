"""The Try page: what comes in, what it asks, the answers, a closer look, and tables of pairs."""

import csv
import io
import re
from itertools import combinations
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import query, unharmed, violations, wait_query
from tests.compute.live import zips
from tests.compute.live.pictures import png
from tests.leaderboard.served import HOSTILE

TRAY = ".likeness-tray[data-ready=true][data-busy=false]"
DONE = ".cp-result[data-done=yes]"
BATCH = ".likeness-batch"
PUT = """async ([target, url, kind]) => {
  const data = new DataTransfer();
  data.items.add(new File([await (await fetch(url)).blob()], `${kind}.webp`, { type: 'image/webp' }));
  const node = document.querySelector(target);
  if (kind === 'paste') node.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  else for (const type of ['dragenter', 'dragover', 'drop']) {
    node.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""
OVERLAPS = """() => [...document.querySelectorAll('.cp-strip')].flatMap((strip) => {
  const axis = strip.getBoundingClientRect();
  return ['.cp-letters b'].flatMap((kind) => {
    const boxes = [...strip.querySelectorAll(kind)].map((node) => node.getBoundingClientRect());
    const outside = boxes.filter(({ left, right }) => left < axis.left - 1 || right > axis.right + 1);
    const crossed = boxes.filter((one, at) => boxes.some((other, index) => index > at && one.left < other.right
      && other.left < one.right && one.top < other.bottom - 1 && other.top < one.bottom - 1));
    return [...outside, ...crossed].map(({ left, right }) => `${kind} ${left}-${right}`);
  });
})"""


@pytest.fixture
def tray(visit):
    return lambda given="", **how: visit(f"try{'?' if given else ''}{given}", ready=TRAY, **how)


@pytest.fixture
def answered(tray):
    """Opens a link that answers by itself, and waits for the answer."""

    def opened(given, **how):
        page = tray(given, **how)
        page.locator(DONE).wait_for()
        return page

    return opened


def files(*names):
    return [{"name": f"{name}.png", "mimeType": "image/png", "buffer": png(name, (64, 64))} for name in names]


def count(page, number):
    """Waits until the tray holds so many inputs and nothing is under way."""
    page.wait_for_selector(f"{TRAY}[data-count='{number}']")


def names(page):
    """What each slot holds, after its label."""
    return page.evaluate("""() => [...document.querySelectorAll('.tr-slot[data-id]')].map((slot) =>
      `${slot.querySelector('.tr-letter').textContent}: ${
        slot.querySelector('.tr-title')?.textContent ?? slot.querySelector('textarea').value}`)""")


def empty(page):
    page.get_by_role("button", name="Clear", exact=True).click()
    count(page, 0)
    return page


def example(page, key):
    """An example, where the examples are folded away too."""
    page.evaluate("document.querySelector('.tr-starters').open = true")
    return page.locator(f".tr-example[data-key='{key}']")


def ask(page, press="click"):
    """Presses Compare and waits for the answer to this question, not to an earlier one."""
    button = page.get_by_role("button", name="Compare", exact=True)
    before = page.evaluate("document.querySelector('.likeness-tray').likenessTray.asked")
    button.click() if press == "click" else button.press(press)
    page.wait_for_function(
        "([done, before]) => Number(document.querySelector(done)?.dataset.asked) > before", arg=[DONE, before]
    )


# ---- what comes in


def test_images_come_in_by_choosing_dropping_and_pasting_and_leave_with_the_visitor(tray):
    page = empty(tray())
    page.get_by_label("Image files").set_input_files(files("red"))
    count(page, 1)
    picture = example(page, "cat").locator("img").get_attribute("src")
    page.evaluate(PUT, [".tr-models", picture, "drop"])
    count(page, 2)
    page.evaluate(PUT, ["body", picture, "paste"])
    count(page, 3)
    assert [name.partition(": ")[2] for name in names(page)] == ["red.png", "drop.webp", "paste.webp"]
    page.evaluate(PUT, [".tr-slot:nth-child(2) .tr-shown", picture, "drop"])
    page.wait_for_function("document.querySelectorAll(\".tr-slot img[alt='drop.webp']\").length === 1")
    count(page, 3)
    ask(page)
    assert "inputs" not in query(page), "uploads never enter the address"
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "inputs" not in urlsplit(page.evaluate("navigator.clipboard.readText()")).query
    with page.expect_request("**/live/forget"):
        empty(page)
    assert not page.locator(DONE).is_visible()


def test_what_cannot_be_used_is_said_in_its_slot_and_a_lost_server_is_asked_again(tray):
    page = empty(tray(expected="400|ERR_FAILED"))
    page.get_by_label("Image files").set_input_files(
        [
            {"name": "notes.pdf", "mimeType": "application/pdf", "buffer": b"x"},
            {"name": "large.png", "mimeType": "image/png", "buffer": b"0" * 8_400_000},
            {"name": "broken.png", "mimeType": "image/png", "buffer": b"not an image at all"},
        ]
    )
    count(page, 3)
    said = page.locator(".tr-slot[data-state=failed]").all_inner_texts()
    assert "not an image" in said[0] and "at most 8 MB" in said[1] and "broken.png" in said[2]
    assert "A holds no image" in page.locator(".tr-reason").inner_text()
    empty(page)
    page.route("**/live/input", lambda route: route.abort())
    page.get_by_label("Image files").set_input_files(files("red"))
    page.get_by_text("The server did not answer").first.wait_for()
    page.unroute("**/live/input")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".tr-slot[data-state=ready]")


def test_slots_are_ordered_by_button_and_drag_and_texts_are_text(tray):
    page = tray("mode=choice&inputs=cat,cat-face,coffee&models=none")
    page.get_by_role("button", name="Make B the reference").click()
    assert names(page)[0].endswith("coffee")
    left = page.locator(".tr-slot").nth(2).get_by_role("button", name="Move B to the left")
    left.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Move A to the left", "focus was lost"
    before = names(page)
    page.locator(".tr-slot").nth(2).locator(".tr-shown").drag_to(page.locator(".tr-slot").nth(0))
    page.wait_for_function("document.querySelectorAll('.tr-slot')[0].innerText.includes('Reference')")
    assert names(page) != before
    example(page, "rocket").drag_to(page.locator(".tr-slot").nth(1))
    assert "rocket" in names(page)[1]
    page.get_by_role("button", name="Write text").click()
    page.keyboard.type(HOSTILE)
    count(page, 4)
    assert any(name.endswith(HOSTILE) for name in names(page)) and unharmed(page)
    assert page.locator(".tr-starters").get_attribute("open") is None, "a text of the visitor folds the examples away"
    example(page, "cat")
    page.get_by_text("Credits").click()
    assert page.locator(".tr-credits li").count() == page.locator(".tr-example").count()


# ---- what is asked


def test_the_mode_follows_the_inputs_until_it_is_chosen(tray):
    page, seen = empty(tray()), []
    for key in ("cat", "coffee", "rocket"):
        example(page, key).click()
        page.wait_for_selector(f"{TRAY}:not([data-mode=''])[data-count='{len(seen) + 1}']")
        seen.append(page.locator(TRAY).get_attribute("data-mode"))
    assert seen == ["quality", "pair", "choice"]
    pair = page.get_by_role("radio", name="How similar are two")
    why = pair.evaluate("(node) => document.getElementById(node.getAttribute('aria-describedby')).textContent")
    assert pair.is_disabled() and "2" in why
    page.get_by_role("radio", name="Odd one out").check()
    page.wait_for_selector(f"{TRAY}[data-mode=odd]")
    ask(page)
    assert query(page)["mode"] == "odd" and " odd " in page.locator(f"{DONE} .pg-lead").inner_text()
    page.get_by_role("button", name="Remove A").press("Enter")
    assert page.evaluate("!!document.activeElement.closest('.likeness-tray')"), "the focus was lost"
    page.wait_for_selector(f"{TRAY}[data-mode=pair]")
    page.get_by_role("radio", name="Quality").check()
    page.wait_for_selector(f"{TRAY}[data-mode=quality]")
    page.locator(".tr-select").select_option("Sharpness")
    wait_query(page, "question", "sharpness")
    ask(page)


def test_models_are_found_and_a_choice_survives_a_link(answered):
    page = answered("mode=pair&inputs=cat,coffee&models=ssim")
    more = page.locator(".tr-more")
    more.locator("> summary").click()
    more.locator(".tr-group > summary").first.wait_for()
    assert violations(page) == []
    find = more.get_by_label("Find a model")
    find.fill("zzz")
    assert "Nothing found" in more.inner_text()
    find.fill("dinov2")
    found = more.locator("li:visible")
    assert found.count() > 0 and "DINO" in found.first.inner_text()
    page.locator(".tr-pick[data-key=tiny] input").check()
    page.wait_for_function("new URLSearchParams(location.search).get('models')?.split(',').length === 2")
    page.locator(".tr-models input:checked").first.click()
    page.locator(".tr-models input:checked").first.click()
    wait_query(page, "models", "none")
    assert "Tick at least one model" in page.locator(".tr-reason").inner_text()


def test_nonsense_in_a_link_is_a_sentence_and_no_other_model_stands_in(tray):
    page = tray("inputs=cat,coffee&models=nobody/nothing,tinyy&mode=__proto__&question=<img src=x onerror=harmed=1>")
    page.locator(".tr-notice").wait_for()
    words = page.locator(".tr-notice").inner_text()
    assert "nobody/nothing" in words and "Did you mean “tiny”?" in words and "__proto__" in words
    assert page.locator(".tr-models input:checked").count() == 0 and page.locator(DONE).count() == 0
    assert unharmed(page)


# ---- the answers


def test_one_press_answers_a_first_visit_and_the_answer_takes_the_focus(tray):
    page = tray(width=390)
    page.locator(DONE).wait_for()
    assert page.evaluate("scrollY") == 0, "the answer that the page opens with moves nothing"
    ask(page, "Enter")
    page.wait_for_function("document.activeElement.matches('.cp-result')")
    lead = page.locator(".cp-result .pg-lead")
    page.wait_for_function(
        "(lead) => document.querySelector('.likeness-tray > [role=status]').textContent === lead.textContent",
        arg=lead.element_handle(),
    )
    page.wait_for_function(
        "(lead) => { const { top, bottom } = lead.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }",
        arg=lead.element_handle(),
    )
    assert "models pick" in lead.inner_text()
    assert page.locator(".tr-starters").get_attribute("open") is None, "the examples fold away"
    assert page.locator(".cp-row").count() == page.locator(".tr-models input:checked").count() >= 6
    row = page.locator(".cp-row[data-model=tiny]")
    assert "synthetic" not in row.inner_text()
    row.locator("summary").press("Enter")
    assert "synthetic" in row.locator(".cp-more").inner_text() and violations(page) == []
    row.locator("summary").press("Enter")
    assert page.evaluate(OVERLAPS) == []
    example(page, "rocket").click()
    page.get_by_text("The inputs or the question have changed since: compare again.").wait_for()


@pytest.mark.parametrize("given", ["pair&inputs=cat,cat-face", "odd&inputs=cat,cat-face,cat-cheek"])
def test_seven_results_take_little_room_and_compare_is_on_the_first_screen(answered, given):
    page = answered(f"mode={given}")
    assert page.locator(".cp-row").count() == 7
    ends = "(nodes) => Math.max(...nodes.map((node) => node.getBoundingClientRect().bottom + scrollY))"
    assert page.locator(".tr-slots, .tr-ask > .tr-primary").evaluate_all(ends) <= 850
    for width in (1360, 390):
        page.set_viewport_size({"width": width, "height": 850})
        assert page.locator(".cp-rows").bounding_box()["height"] <= 420


@pytest.mark.parametrize("second, images", [("cat-face", 2), ("text-cat", 1)])
def test_where_the_two_agree(answered, second, images):
    page = answered(f"mode=pair&inputs=cat,{second}&models=tiny")
    page.get_by_role("button", name="Where do they agree?").click()
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator(".cp-occluded figure").nth(images - 1).wait_for()
    assert page.locator(".cp-occluded figure").count() == images
    assert page.locator(".cp-occluded rect").count() == 49 * images


def test_a_perturbed_image_draws_curves_and_is_rated(answered):
    page = answered("mode=pair&inputs=coffee,coffee-blurred&models=ssim,tiny")
    page.get_by_role("button", name="Perturb").click()
    slider = page.get_by_role("slider", name="Strength").first
    slider.focus()
    page.keyboard.press("End")
    page.locator(".cp-preview img").wait_for()
    page.locator("#closer .js-plotly-plot .main-svg").first.wait_for()
    page.get_by_role("button", name="Rate", exact=True).click()
    page.locator("#rated tr[data-model=ssim] td b").first.wait_for()
    ratings = [cell.inner_text() for cell in page.locator("#rated tr[data-model=ssim] td").all()]
    assert len(ratings) == 2 and all("then" in rating for rating in ratings)
    assert violations(page) == []


# ---- tables of pairs


def add(page, data, name):
    page.locator(f"{BATCH} input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    )


def scores(page):
    page.locator(f"{BATCH}[data-state=idle]").wait_for()
    with page.expect_download() as file:
        page.locator(f"{BATCH} .bt-download").click()
    with open(file.value.path(), encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_tables_of_pairs_are_scored_and_a_row_that_fails_says_why(tray):
    page = tray("models=tiny&inputs=astronaut,text-astronaut")
    page.locator(f"{BATCH} summary").click()
    page.get_by_role("button", name="Run the sample").click()
    page.locator(f"{BATCH} .bt-download").wait_for()
    sample = scores(page)
    assert len(sample) > 3 and all(-1 <= float(row["tiny score"]) <= 1 and row["problem"] == "" for row in sample)
    out = io.StringIO()
    rows = [["red.png", "a red square", "=cmd()"], ["red.png", "none.png", HOSTILE], ["red.png", HOSTILE, "third"]]
    csv.writer(out).writerows([["first", "second", "name"], *rows])
    add(page, zips.packed({"set/a.csv": out.getvalue().encode(), "set/red.png": png("red")}), "set.zip")
    page.locator(f"{BATCH} [role=status]", has_text="3 pairs done.").wait_for()
    first, second, third = scores(page)
    assert first["name"] == "'=cmd()" and first["tiny score"] and third["tiny score"] and third["second"] == HOSTILE
    assert second["tiny score"] == "" and "none.png" in second["problem"]
    assert unharmed(page, f"{BATCH} img")
    add(page, b"left,right\na,b\n", "wrong.csv")
    page.locator(f"{BATCH} [role=status]", has_text="It needs first, second").wait_for()


def test_others_are_answered_while_a_table_is_at_work_and_a_cancel_keeps_what_is_done(tray, answered):
    page = tray("models=tiny,ms-ssim&inputs=astronaut,rocket")
    page.locator(f"{BATCH} summary").click()
    pictures = {f"{number}.png": png("red", (2000 + number, 1500)) for number in range(21)}
    table = "first,second\n" + "".join(f"{one}.png,{two}.png\n" for one, two in [*combinations(range(21), 2)][:200])
    add(page, zips.packed({"a.csv": table.encode(), **pictures}), "long.zip")
    page.locator(f"{BATCH}[data-state=running]").wait_for()
    answered("mode=pair&models=tiny&inputs=astronaut,text-astronaut")
    assert page.locator(BATCH).get_attribute("data-state") == "running"
    page.get_by_role("button", name="Cancel", exact=True).click()
    found = scores(page)
    said = page.locator(f"{BATCH} [role=status]").inner_text()
    assert re.match(r"Stopped: \d+ of 200 pairs", said) and 0 < len(found) < 200
