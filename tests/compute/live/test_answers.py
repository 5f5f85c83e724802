"""Answers of real models to small questions, against the library's and the procedures' own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from compute import models
from compute.analysis.domain import DomainCheck
from compute.catalog import shipped
from compute.content.messages import Picture, Question, Reply
from compute.live import answers, examples, inputs
from compute.live.questions import LiveQuestion
from compute.live.subject import LiveSubject, column_of
from compute.models.adapter import Hardware
from compute.procedures import choice, odd_one_out
from compute.tasks.data import Choices, OddOneOut
from compute.types import BadInput, Model
from tests.compute.live.pictures import png

ROWS = {row.key: row for row in shipped().models}
CPU = Hardware(device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def tiny() -> object:
    return models.load(ROWS["tiny"], hardware=CPU)


def subject(key: str, model: object, given: tuple[inputs.Input, ...], cache: dict | None = None) -> LiveSubject:
    return LiveSubject(
        row=ROWS[key], model=model, inputs={one.key: one for one in given}, cache={} if cache is None else cache
    )


def shown(*keys: str) -> tuple[inputs.Input, ...]:
    return tuple(examples.load(key) for key in keys)


def asked(mode: str, *keys: str, attribute: str = "quality") -> LiveQuestion:
    return LiveQuestion(mode=mode, inputs=shown(*keys), attribute=attribute)


def test_a_pair_is_the_cosine_of_the_models_own_features(tiny: object) -> None:
    import torch
    from transformers import CLIPModel, CLIPProcessor

    question = asked("pair", "astronaut", "text-astronaut")
    found = answers.answer(subject("tiny", tiny, question.inputs), question)
    folder = "assets/tiny"
    model, processor = CLIPModel.from_pretrained(folder), CLIPProcessor.from_pretrained(folder)
    with torch.inference_mode():
        ready = processor(images=question.inputs[0].content, text=[question.inputs[1].content], return_tensors="pt")
        out = model(**ready)
    expected = float(torch.nn.functional.cosine_similarity(out.image_embeds, out.text_embeds)[0])
    assert found.scores[0] == pytest.approx(expected, abs=2e-3)
    assert found.unit == "cosine"


def test_a_choice_is_the_procedures_choice(tiny: object) -> None:
    question = asked("choice", "text-cat", "cat", "coffee", "astronaut")
    mine = subject("tiny", tiny, question.inputs)
    found = answers.answer(mine, question)
    columns = [column_of([each]) for each in question.inputs]
    data = Choices(names=("one",), reference=columns[0], alternatives=tuple(columns[1:]), answer=np.array([0]))
    evidence = choice.run(mine, data, {"quality": "prompt", "wording": "paper"})
    assert list(found.scores) == pytest.approx(evidence.items["detail"][0]["scores"])
    assert "ABC"[found.pick] == evidence.items["answer"][0]


def test_odd_one_out_is_the_procedures(tiny: object) -> None:
    question = asked("odd", "heart-left", "heart-left-moved", "heart-orange", "cat")
    mine = subject("tiny", tiny, question.inputs)
    found = answers.answer(mine, question)
    columns = [column_of([each]) for each in question.inputs]
    evidence = odd_one_out.run(mine, OddOneOut(names=("one",), members=tuple(columns), odd=np.array([3])), {})
    assert list(found.scores) == pytest.approx(evidence.items["detail"][0]["scores"])
    assert found.pick == 3 and len(found.pairs) == 6


@pytest.mark.parametrize("key", ["ssim", "psnr"])
def test_a_comparison_is_the_mean_of_both_orders(key: str) -> None:
    model = models.load(ROWS[key], hardware=CPU)
    question = asked("pair", "cat", "cat-face")
    first, second = (one.content for one in question.inputs)
    forth, back = model.compare([first], [second])[0], model.compare([second], [first])[0]
    assert forth == back  # both at the smaller width and height
    assert answers.answer(subject(key, model, question.inputs), question).scores == (pytest.approx((forth + back) / 2),)
    turned = LiveQuestion(mode="pair", inputs=question.inputs[::-1])
    assert answers.answer(subject(key, model, question.inputs), turned).scores == (pytest.approx((forth + back) / 2),)


def test_quality_of_one_and_of_two(tiny: object) -> None:
    two = asked("quality", "coffee", "coffee-blurred", attribute="sharpness")
    found = answers.answer(subject("tiny", tiny, two.inputs), two)
    one = asked("quality", "coffee", attribute="sharpness")
    alone = answers.answer(subject("tiny", tiny, one.inputs), one)
    assert alone.scores == (pytest.approx(found.scores[0]),)
    assert alone.pick is None and found.pick == int(np.argmax(found.scores))


def test_nothing_is_encoded_twice(tiny: object) -> None:
    class Counting:
        settings, multi_vector, seen = {}, False, 0

        def prepare(self, modality: str, item: object) -> object:
            return tiny.prepare(modality, item)

        def embed(self, modality: str, prepared: list) -> np.ndarray:
            self.seen += len(prepared)
            return tiny.embed(modality, prepared)

    model, cache = Counting(), {}
    question = asked("odd", "cat", "cat-face", "coffee")
    first = answers.answer(subject("tiny", model, question.inputs, cache), question)
    assert model.seen == 3
    again = asked("choice", "coffee", "cat", "cat-face")
    answers.answer(subject("tiny", model, again.inputs, cache), again)
    assert model.seen == 3
    assert answers.answer(subject("tiny", model, question.inputs, cache), question).scores == first.scores


def test_equal_images_tie(tiny: object) -> None:
    red, blue = (inputs.image(png(colour), name=colour) for colour in ("red", "blue"))
    question = LiveQuestion(mode="choice", inputs=(red, blue, blue))
    assert answers.answer(subject("tiny", tiny, (red, blue)), question).pick is None


def test_a_pair_without_a_distribution_is_compared_with_unrelated_examples(tiny: object) -> None:
    question = asked("pair", "cat", "cat")
    found = answers.answer(subject("tiny", tiny, question.inputs), question, controls=True)
    assert found.controls == (8, 8) and found.seconds > 0 and found.domain == DomainCheck()
    assert answers.answer(subject("tiny", tiny, question.inputs), question).controls is None


@pytest.mark.parametrize(
    ("mode", "keys", "said"),
    [
        ("pair", ("cat",), "How alike are two: it takes at least 2 inputs"),
        ("odd", ("cat", "cat-face", "text-cat"), "Odd one out: it takes images only"),
        ("choice", ("cat", "coffee", "text-cat"), "Which is nearest: the alternatives must be all images or all texts"),
    ],
)
def test_what_does_not_fit_is_said(mode: str, keys: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        asked(mode, *keys).checked()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("10", 10),
        ("I'd say 8.", 8),
        ("8/10", 8),
        ("9 out of 10", 9),
        ("**6**", 6),
        ("0", None),
        ("11", None),
        ("7.5", None),
        ("between 6 and 8", None),
        ("5, so 5", 5),
        ("-3", None),
        ("", None),
        ("very similar", None),
        ("<think>maybe 3</think> 9", 9),
        ("100", None),
        ("Score: 3-4", None),
        ("3 – 4", None),
    ],
)
def test_one_clear_number_is_read(text: str, number: int | None) -> None:
    assert answers.read_rating(text) == number


class Judge:
    """Says the next of its replies to each question, and remembers what it was asked."""

    def __init__(self, *replies: str, error: str = "") -> None:
        self.replies, self.error, self.asked = list(replies), error, []

    def reply(self, questions: list[Question]) -> list[Reply]:
        self.asked += questions
        return [
            Reply(item=one.item, error=self.error) if self.error else Reply(item=one.item, text=self.replies.pop(0))
            for one in questions
        ]


JUDGE = Model(key="judge", title="Judge", kind="mllm", abilities=("choose", "score_pair"), modalities=("image", "text"))
RED, BLUE = (inputs.image(png(colour), name=colour) for colour in ("red", "blue"))


def judged(judge: Judge, *given: inputs.Input) -> LiveSubject:
    return LiveSubject(row=JUDGE, model=judge, inputs={one.key: one for one in given})


def test_both_orders_are_asked_and_kept() -> None:
    judge = Judge("8", "6")
    found = answers.answer(judged(judge, RED, BLUE), LiveQuestion(mode="pair", inputs=(RED, BLUE)))
    assert (found.scores, found.replies, found.unit, found.problem) == ((7.0,), ("8", "6"), "rating", "")
    shown = [[part.key for part in one.parts if isinstance(part, Picture)] for one in judge.asked]
    assert shown == [[RED.key, BLUE.key], [BLUE.key, RED.key]]


def test_an_unread_reply_is_no_score() -> None:
    asked = LiveQuestion(mode="pair", inputs=(RED, BLUE))
    found = answers.answer(judged(Judge("no idea", "both are nice"), RED, BLUE), asked)
    assert found.scores == ()
    assert found.problem == "Neither of its replies holds a number from 1 to 10"
    half = answers.answer(judged(Judge("no idea", "4"), RED, BLUE), asked)
    assert half.scores == (4.0,)


def test_a_judge_picks_only_what_it_picks_in_both_orders() -> None:
    asked = LiveQuestion(mode="choice", inputs=(RED, BLUE, RED))
    steady = answers.answer(judged(Judge("(A)", "(B)"), RED, BLUE), asked)
    assert (steady.picks, steady.pick, steady.scores) == ((0, 0), 0, (1.0, 0.0))
    first = answers.answer(judged(Judge("(A)", "(A)"), RED, BLUE), asked)  # whatever stands first
    assert (first.picks, first.pick, first.scores) == ((0, 1), None, (0.5, 0.5))
    silent = answers.answer(judged(Judge("(A)", "hm"), RED, BLUE), asked)
    assert (silent.picks, silent.pick) == ((0, None), None)
