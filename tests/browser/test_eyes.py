"""Your eyes: from the start over the questions to the answer, by keyboard and on a phone, with one's own images too."""

import io
import json
import re
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from PIL import Image

from compute.eyes.folder import EyesSettings, StudyFolder
from compute.eyes.study import Judgment, Study, parsed, standing
from tests.browser.conftest import serving, violations
from tests.compute.live.zips import packed

START = "[data-screen=start]"
LEFT = "Connection errored out|signal is aborted"  # a page is left while models are asked


def picture(seed):
    """A pattern of its own as a PNG file, larger than the copies that a server gets."""
    noise = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).resize((800, 600), Image.Resampling.NEAREST).save(out, "PNG")
    return out.getvalue()


IMAGES = {f"{seed}.png": picture(seed) for seed in range(6)}
MANIFEST = "reference,alternative_1,alternative_2\n" + "".join(
    f"{at}.png,{(at + 1) % 6}.png,{(at + 2) % 6}.png\n" for at in range(6)
)
LISTED = IMAGES | {"questions.csv": MANIFEST.encode()}


def files(contents):
    return [
        {"name": name, "mimeType": "image/png" if name.endswith("png") else "text/csv", "buffer": data}
        for name, data in contents.items()
    ]


def place(page, number):
    """Until the question at a place of the order is shown and takes answers."""
    page.locator(f".ey-ask[data-place='{number}'][data-answers='{number}']").wait_for()


def judge(page, *, first, until):
    for at in range(first, until):
        place(page, at)
        page.keyboard.press(("ArrowLeft", "ArrowRight", "ArrowDown")[at % 3])
    place(page, until)


def photographs(page):
    page.locator("input[value=text]").check()
    page.get_by_role("button", name="Use the shipped photographs").click()
    place(page, 0)
    return page


def saved(page, button):
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_bytes()


def test_twenty_answers_by_keyboard_give_the_answer_and_a_reload_goes_on(visit):
    page = photographs(visit("eyes", ready=START))
    assert violations(page) == []
    assert not page.evaluate("/ConSE|CLIP/.test(document.querySelector('.likeness-eyes').textContent)")
    judge(page, first=0, until=3)
    page.keyboard.press("Backspace")
    judge(page, first=2, until=6)
    page.reload()
    judge(page, first=6, until=9)
    page.evaluate(
        """(last) => {
      const { visit, asking } = document.querySelector('.likeness-eyes').likenessEyes;
      for (let at = 9; at < last; at += 1) {
        const { side } = visit.asked(at);
        visit.answer([side, 1 - side, null][at % 3], 1);
      }
      return asking.show();
    }""",
        22,
    )
    page.get_by_text(re.compile(r"^22 of \d+ answers to the next")).wait_for()
    judge(page, first=22, until=23)
    page.get_by_role("button", name="Show the answer").click()
    page.locator("[data-screen=answer] .pg-table").wait_for()
    page.wait_for_function("[...document.querySelectorAll('.ey-wrong img')].every((image) => image.naturalWidth)")
    assert violations(page) == []
    study = parsed(saved(page, "Save the study"), name="The file")
    answers = standing(study.judgments)
    assert [each.order for each in answers] == list(range(23)) and len(study.judgments) == 25
    assert all(each.choice == {0: each.left, 1: 1 - each.left, 2: None}[each.order % 3] for each in answers)
    with ZipFile(io.BytesIO(saved(page, "Download the answers"))) as exported:
        assert exported.testzip() is None
        rows = exported.read("manifest.csv").decode().splitlines()[1:]
        assert rows and {name for row in rows for name in row.split(",")[-4:-2]} <= set(exported.namelist())
    page.get_by_role("button", name="Go on asking").click()
    judge(page, first=23, until=25)
    page.reload()
    place(page, 25)


def test_what_nobody_can_have_seen_is_not_answered(visit):
    page = photographs(visit("eyes", ready=START))
    orders = "document.querySelector('.likeness-eyes').likenessEyes.visit.judgments.map((each) => each.order)"
    left = page.locator("[data-side=left]")
    left.dblclick()
    place(page, 1)
    left.dispatch_event("click", {"detail": 2})  # a slow double click's second one
    assert page.evaluate(orders) == [0]
    page.wait_for_function("document.querySelector('.likeness-eyes').likenessEyes.asking.ahead.size >= 3")
    places = page.evaluate("""async () => {
      const places = [];
      for (let at = 0; at < 2; at += 1) {
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
        await new Promise(requestAnimationFrame);
        places.push(document.querySelector('.ey-ask').dataset.place);
      }
      return places;
    }""")
    assert places == ["2", "2"]  # within a frame, and the second key came with the first frame of question 2
    place(page, 2)
    assert page.evaluate(orders) == [0, 1]


def test_a_phone_shows_all_images_at_once_and_taps_answer(visit):
    page = visit("eyes", ready=START, width=390, has_touch=True, expected=LEFT)
    page.set_viewport_size({"width": 390, "height": 844})
    own(page, files(LISTED))
    assert asked_about(page) == MANIFEST.splitlines()[1:]
    page.wait_for_function("document.querySelectorAll('.ey-ask img').length > 1")
    page.evaluate("scrollTo(0, 0)")
    boxes = [each.bounding_box() for each in page.locator(".ey-ask .ey-image img, .ey-ask footer").all()]
    assert all(box["x"] >= 0 and box["y"] + box["height"] <= 844 for box in boxes)
    assert len(boxes) == 4
    page.locator("[data-side=right]").tap()
    place(page, 1)
    page.get_by_role("button", name="Cannot tell").tap()
    place(page, 2)
    page.get_by_role("button", name="Undo").tap()
    place(page, 1)
    assert violations(page) == []


def own(page, chosen):
    page.get_by_label("Images, ZIP or CSV").set_input_files(chosen)
    page.get_by_role("button", name="Start", exact=True).click()
    place(page, 0)
    return page


def stored(page):
    return page.evaluate("JSON.parse(sessionStorage.getItem('likeness-eyes'))")


def asked_about(page):
    """The file names of the questions, in the manifest's order."""
    study = Study.model_validate(stored(page)["study"])
    return [",".join(study.contents[at] for at in question) for question in study.questions]


def test_own_images_in_a_zip_are_asked_about_and_come_back_as_files_after_a_reload(visit):
    zipped = {"name": "all.zip", "mimeType": "application/zip", "buffer": packed(LISTED)}
    page = own(visit("eyes", ready=START, expected=LEFT), [zipped])
    assert asked_about(page) == MANIFEST.splitlines()[1:]
    judge(page, first=0, until=2)
    assert all("live/" in path or "eyes" not in path for path in page.watch.paths if path.endswith("image"))
    page.reload()
    page.locator("[data-screen=images]").wait_for()
    page.get_by_label("Images, ZIP or CSV").set_input_files(files(IMAGES))
    place(page, 2)
    assert page.evaluate("[...document.querySelectorAll('.ey-ask img')].every((image) => image.naturalWidth === 800)")


def test_what_is_wrong_with_files_is_said(visit):
    page = visit("eyes", ready=START)
    wrong = [
        {"name": "broken.zip", "mimeType": "application/zip", "buffer": b"PK nothing"},
        {"name": "notes.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"},
        {"name": "huge.png", "mimeType": "image/png", "buffer": bytes(8_000_001)},
        *files({"0.png": IMAGES["0.png"]}),
    ]
    page.get_by_label("Images, ZIP or CSV").set_input_files(wrong)
    said = page.locator(".ey-own [role=status]")
    said.filter(has_text="1 image added").wait_for()
    assert all(name in said.text_content() for name in ("broken.zip", "notes.pdf", "huge.png"))
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".pg-message", has_text="too few").wait_for()


def test_another_rater_s_study_is_added_and_one_of_other_questions_is_not(visit):
    page = photographs(visit("eyes", ready=START))
    judge(page, first=0, until=23)
    page.get_by_role("button", name="Show the answer").click()
    mine = json.loads(saved(page, "Save the study"))
    theirs = mine | {"judgments": [each | {"rater": "ann"} for each in mine["judgments"]]}
    other = mine | {"study": mine["study"] | {"contents": [f"{name}?" for name in mine["study"]["contents"]]}}
    chosen = page.get_by_label("Another rater")
    newer = [each | {"choice": None, "time": "2100-01-01T00:00:00Z"} for each in theirs["judgments"][:2]]
    for content, words in (
        (other, "other questions"),
        (theirs, "23 judgments added by ann, 0 changed"),
        (theirs, "23 were here already"),
        (theirs | {"judgments": newer}, "2 changed"),
    ):
        chosen.set_input_files(
            {"name": "a.json", "mimeType": "application/json", "buffer": json.dumps(content).encode()}
        )
        page.locator(".pg-message", has_text=words).wait_for()
        chosen = page.get_by_label("Another rater")
    page.get_by_text("2 raters").first.wait_for()
    page.get_by_label("Name of the next rater").fill("bea")
    page.get_by_role("button", name="Next rater").click()
    judge(page, first=0, until=1)
    assert stored(page)["judgments"][-1]["rater"] == "bea" and len(stored(page)["judgments"]) > len(mine["judgments"])


def test_a_folder_s_answers_are_on_disk_and_wait_where_the_server_is_gone(visit, app_database, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name, data in IMAGES.items():
        (source / name).write_bytes(data)
    study = Study(kind="image", contents=list(IMAGES), questions=[(at, (at + 1) % 6, (at + 2) % 6) for at in range(6)])
    settings = EyesSettings(source=str(source), rater="ann", seed=3, models=["colour-histogram"])
    StudyFolder.created(tmp_path / "eyes", settings).save(study)
    log = tmp_path / "eyes" / "judgments.jsonl"
    with serving(app_database, "--eyes", str(tmp_path / "eyes")) as site:
        page = visit("eyes", site=site, ready=".ey-ask[data-place='0']", expected="Failed to load|ERR_|500|503")
        page.wait_for_function("!document.querySelector('.likeness-eyes').likenessEyes.visit.waits")
        judge(page, first=0, until=2)
        page.wait_for_function("!document.querySelector('.likeness-eyes').likenessEyes.visit.unsent.length")
        assert (
            page.evaluate("[...document.querySelectorAll('.ey-ask img')].filter((image) => image.naturalWidth).length")
            == 3
        )
        page.route("**/eyes/judgment", lambda route: route.abort())
        judge(page, first=2, until=4)
        page.locator(".pg-message", has_text="2 answers wait").wait_for()
        assert len(log.read_text().splitlines()) == 2
        page.evaluate("""() => {
          const { asking } = document.querySelector('.likeness-eyes').likenessEyes;
          asking.ahead.clear();
          window.address = asking.address;
          asking.address = () => 'data:image/png,';
        }""")
        page.keyboard.press("ArrowDown")
        page.get_by_text("cannot be shown").first.wait_for()
        page.keyboard.press("ArrowLeft")  # what is not seen is not judged
        place(page, 5)
        page.evaluate("document.querySelector('.likeness-eyes').likenessEyes.asking.address = window.address")
        page.unroute("**/eyes/judgment")
        page.wait_for_function("!document.querySelector('.likeness-eyes').likenessEyes.visit.unsent.length")
        page.reload()
        place(page, 5)
        page.evaluate("""() => {
          const eyes = document.querySelector('.likeness-eyes').likenessEyes;
          const [first] = eyes.visit.judgments;
          eyes.visit.merge([first, { ...first, rater: 'bob' }]);
          return eyes.deliver();
        }""")
    rows = [Judgment.model_validate_json(line) for line in log.read_text().splitlines()]
    mine = [(at, "ann", 3) for at in range(5)]
    assert [(each.order, each.rater, each.seed) for each in rows] == [*mine, (0, "bob", 3)]
    assert (tmp_path / "eyes" / "manifest.csv").exists()
    picked = Study.model_validate_json((tmp_path / "eyes" / "study.json").read_bytes())
    assert set(picked.models) == {"colour-histogram"} and len(picked.chance) == 6
