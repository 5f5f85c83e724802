"""An image beside its changed copy: scores as it is changed more, in both orders, and without each part of it."""

import numpy as np
import pytest
from PIL import Image

from compute.analysis.calibrated import Calibrations
from compute.live import changes, examples, occlusion
from compute.live.changes import ChangedPair, answers_in_words, cannot, rate
from compute.live.questions import LiveQuestion, ask
from compute.procedures.shared.similarity import alike
from compute.tasks.perturb import perturb
from compute.types import BadInput, CannotDo
from tests.compute.live.subjects import JUDGE, ROWS, Judge, loaded, subject

CAT, FACE, COFFEE, WORDS = (examples.load(key) for key in ("cat", "cat-face", "coffee", "text-cat"))


def rated(row, condition="sensitive", *, model=None, strength=0.5):
    pair = ChangedPair(image=COFFEE, kind="rotate", strength=strength)
    return rate(subject(row, model=model), pair, condition)


@pytest.mark.parametrize("condition", ["sensitive", "invariant"])
def test_a_judge_gets_the_prompts_of_pairbench_in_both_orders(condition):
    judge = Judge("Score: 8", "Score: 6")
    rating = rated(JUDGE, condition, model=judge)
    assert rating.scores == (8, 6) and rating.apart == 2
    prompts = ["".join(part for part in each.parts if isinstance(part, str)) for each in judge.questions]
    first, second = judge.shown()
    assert prompts[0] == prompts[1] and first == second[::-1] != second
    assert prompts[0].split() == changes.prompt("rotate", condition).replace('"data1" "data2"', "").split()


def test_without_a_prompt_the_invariant_condition_is_the_mean_of_five_applications():
    pair = ChangedPair(image=COFFEE, kind="rotate", strength=0.5)
    assert [len(side) for side in pair.variants] == [5, 5]
    assert len({each.key for side in pair.variants for each in side} | {each.key for each in pair.sides}) == 12
    ssim = loaded("ssim")
    by_hand = [ssim.compare([first.content], [second.content])[0] for first, second in zip(*pair.variants, strict=True)]
    assert rated("ssim", "invariant").detail["numbers"][0] == pytest.approx(np.mean(by_hand))


def test_who_cannot_rate_two_images_says_why():
    assert cannot(ROWS["psnr"]).startswith("Its own scores have no lowest and highest value.")
    with pytest.raises(CannotDo, match="no lowest and highest"):
        rated("psnr")
    assert cannot(ROWS["wordllama"]) == "It compares no image with image"
    assert not any(cannot(ROWS[key]) for key in ("tiny", "ssim", "gpt-4o-2024-11-20"))
    assert answers_in_words(ROWS["gpt-4o-2024-11-20"]) and not answers_in_words(ROWS["tiny"])


def test_a_text_and_another_strength_are_refused():
    with pytest.raises(BadInput, match="only an image can be perturbed"):
        ChangedPair(image=WORDS, kind="rotate", strength=0.5).rated(JUDGE, "sensitive")
    with pytest.raises(BadInput, match="A strength is 0 to 1"):
        ChangedPair(image=COFFEE, kind="rotate", strength=1.5).rated(JUDGE, "sensitive")


def test_a_step_is_the_score_of_the_changed_image():
    mine = subject("tiny")
    found = changes.curve(mine, "rotate", CAT, COFFEE, Calibrations()).scores
    changed = changes.changed(CAT, kind="rotate", strength=0.5)
    assert np.array_equal(changed.content, perturb(CAT.content, kind="rotate", strength=0.5))
    alone = ask(subject("tiny"), LiveQuestion(mode="pair", inputs=(COFFEE, changed))).scores[0]
    assert found[4] == pytest.approx(alone, abs=1e-5)


# ---- which parts of an image a score rests on: how far it falls without each cell of a grid


@pytest.mark.parametrize("other", [FACE, WORDS], ids=["image", "text"])
def test_a_drop_is_the_score_less_that_of_the_image_greyed_by_hand(other):
    whole, grids = occlusion.drops(subject("tiny"), CAT, other)
    assert [grid is None for grid in grids] == [False, other.modality == "text"]
    pixels = np.asarray(CAT.content.resize(occlusion.size(CAT), Image.Resampling.LANCZOS)).copy()
    height, width = (side / occlusion.CELLS for side in pixels.shape[:2])
    pixels[round(3 * height) : round(4 * height), round(5 * width) : round(6 * width)] = pixels.mean((0, 1)).round()
    model, content = loaded("tiny"), other.content
    if other.modality == "image":
        content = content.resize(occlusion.size(other), Image.Resampling.LANCZOS)
    first, second = (
        model.embed(kind, [model.prepare(kind, each)])
        for kind, each in (("image", Image.fromarray(pixels)), (other.modality, content))
    )
    assert grids[0][3, 5] == pytest.approx(whole - alike(first, second)[0], abs=1e-5)


class Endless:
    """A metric without bounds: equal images are infinitely alike."""

    def compare(self, first, second):
        return [float("inf")] * len(second)


@pytest.mark.parametrize("row, error", [("psnr", BadInput), (JUDGE, CannotDo)], ids=["infinite", "words"])
def test_what_has_no_score_to_fall_is_refused(row, error):
    with pytest.raises(error):
        occlusion.drops(subject(row, model=Endless()), CAT, FACE)
