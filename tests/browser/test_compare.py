"""Models compared: picked by search, from the board, or by an address of an earlier version."""

from tests.browser.conftest import query, settle, violations

SIGLIP, CLIP = "google/siglip-so400m-patch14-224", "openai/clip-vit-large-patch14-336"
RESULT = ".bc-comparison"


def pick(page, typed):
    box = page.get_by_label("Models (type")
    box.fill(typed)
    page.get_by_role("option", name=typed).first.wait_for()
    box.press("Enter")


def test_a_hub_id_or_a_part_of_a_name_is_taken_though_the_list_has_neither(visit):
    page = settle(visit("compare?suite=unisim-core&models=OpenAI/CLIP-ViT-Large-patch14-336"), ".bc-pairs")
    box = page.get_by_label("Models (type")
    box.fill("google/siglip-SO400m-patch14-224")
    with page.expect_navigation():
        box.press("Enter")
    settle(page, "[data-answer]")
    assert page.locator(".bc-models .token").all_inner_texts() == ["CLIP ViT-L/14 336 px", "SigLIP SO400M/14 224 px"]


def test_a_result_is_read_aloud_in_view_and_in_the_address(visit):
    page = settle(visit("compare?suite=unisim-core"), ".bc-pairs")  # of few tasks, which are soon looked through
    pick(page, "SigLIP SO400M/14 224")
    page.locator("[data-answer]", has_text="Choose a model to compare SigLIP SO400M/14 224 px with").wait_for()
    pick(page, "CLIP ViT-L/14 336 px")
    page.wait_for_function("document.activeElement.closest('.bc-comparison')", timeout=60_000)
    sentence = page.inner_text(f"{RESULT} .pg-lead")
    assert page.locator("[role=status].pg-unseen").text_content() == sentence
    assert query(page) == {"suite": "unisim-core", "models": f"{SIGLIP},{CLIP}"}
    assert page.evaluate("document.querySelector('.bc-comparison h2').getBoundingClientRect().top < innerHeight")
    outside = page.evaluate("""() => [...document.querySelectorAll('.bc-track')].flatMap((track) => {
      const room = track.getBoundingClientRect();
      return [...track.children].map((mark) => mark.getBoundingClientRect()).map((box) => box.left + box.width / 2)
        .filter((at) => at < room.left - 1 || at > room.right + 1);
    })""")
    assert outside == [] and violations(page) == []
    page.get_by_label("Suite").fill("generalisation")
    page.get_by_role("option", name="generalisation").wait_for()
    page.get_by_label("Suite").press("Enter")
    page.wait_for_function("(old) => document.querySelector('.pg-unseen').textContent !== old", arg=sentence)
    assert query(page)["suite"] == "unisim-ood"
