"""Answers of real models to small questions, against the library's and the procedures' own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from compute.analysis.domain import DomainCheck
from compute.live import answers, inputs
from compute.live.questions import LiveQuestion
from compute.live.subject import column_of
from compute.procedures import choice, odd_one_out
from compute.tasks.data import Choices, OddOneOut
from tests.compute.live.pictures import png
from tests.compute.live.subjects import JUDGE, Judge, loaded, subject
from tests.compute.live.test_questions import asked

RED, BLUE = (inputs.image(png(colour), name=colour) for colour in ("red", "blue"))


def test_a_pair_is_the_cosine_of_the_models_own_features() -> None:
    import torch
    from transformers import CLIPModel, CLIPProcessor

    question = asked("pair", "astronaut", "text-astronaut")
    found = answers.answer(subject("tiny", *question.inputs), question)
    folder = "assets/tiny"
    model, processor = CLIPModel.from_pretrained(folder), CLIPProcessor.from_pretrained(folder)
    with torch.inference_mode():
        ready = processor(images=question.inputs[0].content, text=[question.inputs[1].content], return_tensors="pt")
        out = model(**ready)
    expected = float(torch.nn.functional.cosine_similarity(out.image_embeds, out.text_embeds)[0])
    assert found.scores[0] == pytest.approx(expected, abs=2e-3)
    assert found.unit == "cosine"


def test_a_choice_is_the_procedures_choice() -> None:
    question = asked("choice", "text-cat", "cat", "coffee", "astronaut")
    mine = subject("tiny", *question.inputs)
    found = answers.answer(mine, question)
    columns = [column_of([each]) for each in question.inputs]
    data = Choices(names=("one",), reference=columns[0], alternatives=tuple(columns[1:]), answer=np.array([0]))
    evidence = choice.run(mine, data, {"quality": "prompt", "wording": "paper"})
    assert list(found.scores) == pytest.approx(evidence.items["detail"][0]["scores"])
    assert "ABC"[found.pick] == evidence.items["answer"][0]


def test_odd_one_out_is_the_procedures() -> None:
    question = asked("odd", "heart-left", "heart-left-moved", "heart-orange", "cat")
    mine = subject("tiny", *question.inputs)
    found = answers.answer(mine, question)
    columns = [column_of([each]) for each in question.inputs]
    evidence = odd_one_out.run(mine, OddOneOut(names=("one",), members=tuple(columns), odd=np.array([3])), {})
    assert list(found.scores) == pytest.approx(evidence.items["detail"][0]["scores"])
    assert found.pick == 3 and len(found.pairs) == 6


@pytest.mark.parametrize("key", ["ssim", "psnr"])
def test_a_comparison_is_the_mean_of_both_orders(key: str) -> None:
    model = loaded(key)
    question = asked("pair", "cat", "cat-face")
    first, second = (one.content for one in question.inputs)
    forth, back = model.compare([first], [second])[0], model.compare([second], [first])[0]
    assert forth == back  # both at the smaller width and height
    assert answers.answer(subject(key, *question.inputs), question).scores == (pytest.approx((forth + back) / 2),)
    turned = LiveQuestion(mode="pair", inputs=question.inputs[::-1])
    assert answers.answer(subject(key, *question.inputs), turned).scores == (pytest.approx((forth + back) / 2),)


def test_quality_of_one_and_of_two() -> None:
    two = asked("quality", "coffee", "coffee-blurred", attribute="sharpness")
    found = answers.answer(subject("tiny", *two.inputs), two)
    one = asked("quality", "coffee", attribute="sharpness")
    alone = answers.answer(subject("tiny", *one.inputs), one)
    assert alone.scores == (pytest.approx(found.scores[0]),)
    assert alone.pick is None and found.pick == int(np.argmax(found.scores))


def test_nothing_is_encoded_twice() -> None:
    class Counting:
        settings, seen = {}, 0

        def prepare(self, modality: str, item: object) -> object:
            return loaded("tiny").prepare(modality, item)

        def embed(self, modality: str, prepared: list) -> np.ndarray:
            self.seen += len(prepared)
            return loaded("tiny").embed(modality, prepared)

    question, again = asked("odd", "cat", "cat-face", "coffee"), asked("choice", "coffee", "cat", "cat-face")
    mine = subject("tiny", *question.inputs, model=Counting())
    first = answers.answer(mine, question)
    answers.answer(mine, again)
    assert answers.answer(mine, question).scores == first.scores and mine.model.seen == 3


def test_equal_images_tie() -> None:
    question = LiveQuestion(mode="choice", inputs=(RED, BLUE, BLUE))
    assert answers.answer(subject("tiny", RED, BLUE), question).pick is None


def test_a_pair_without_a_distribution_is_compared_with_unrelated_examples() -> None:
    question = asked("pair", "cat", "cat")
    found = answers.answer(subject("tiny", *question.inputs), question, controls=True)
    assert found.controls == (8, 8) and found.seconds > 0 and found.domain == DomainCheck()
    assert answers.answer(subject("tiny", *question.inputs), question).controls is None


def test_both_orders_are_asked_and_kept() -> None:
    judge = Judge("8", "6")
    found = answers.answer(subject(JUDGE, RED, BLUE, model=judge), LiveQuestion(mode="pair", inputs=(RED, BLUE)))
    assert (found.scores, found.replies, found.unit, found.problem) == ((7.0,), ("8", "6"), "rating", "")
    assert judge.shown() == [[RED.key, BLUE.key], [BLUE.key, RED.key]]


def test_an_unread_reply_is_no_score() -> None:
    question = LiveQuestion(mode="pair", inputs=(RED, BLUE))
    found = answers.answer(subject(JUDGE, RED, BLUE, model=Judge("no idea", "both are nice")), question)
    assert found.scores == () and found.problem.startswith("Neither of its replies")
    half = answers.answer(subject(JUDGE, RED, BLUE, model=Judge("no idea", "4")), question)
    assert half.scores == (4.0,)


@pytest.mark.parametrize(
    ("replies", "picks", "pick", "scores"),
    [
        (("(A)", "(B)"), (0, 0), 0, (1.0, 0.0)),
        (("(A)", "(A)"), (0, 1), None, (0.5, 0.5)),  # whatever stands first
        (("(A)", "hm"), (0, None), None, (0.5, 0.0)),
    ],
)
def test_a_judge_picks_only_what_it_picks_in_both_orders(
    replies: tuple, picks: tuple, pick: int | None, scores: tuple
) -> None:
    question = LiveQuestion(mode="choice", inputs=(RED, BLUE, RED))
    found = answers.answer(subject(JUDGE, RED, BLUE, model=Judge(*replies)), question)
    assert (found.picks, found.pick, found.scores) == (picks, pick, scores)
