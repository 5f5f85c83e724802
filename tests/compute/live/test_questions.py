"""Which mode fits what was dropped, who can answer, and what an answer means on the model's own scale."""

from dataclasses import replace

import numpy as np
import pytest

from compute.analysis.calibrated import DomainCheck, Reference
from compute.live import examples, inputs, questions
from compute.live.questions import Answer, LiveQuestion
from compute.types import Model
from tests.compute.live.pictures import png
from tests.compute.live.subjects import JUDGE, ROWS, Judge, loaded, subject

I, T = "image", "text"  # noqa: E741


@pytest.mark.parametrize(
    "kinds, mode",
    [
        ((), ""),
        ((T,), ""),
        ((I,), "quality"),
        ((I, I), "pair"),
        ((I, T), "pair"),
        ((T, T), "pair"),
        ((I, I, I), "choice"),
        ((T, I, I), "choice"),
        ((T, T, T), "choice"),
        ((I, I, T), ""),
        ((I,) * 9, "choice"),
        ((I,) * 10, ""),
    ],
)
def test_the_mode_follows_from_what_was_dropped(kinds, mode):
    assert questions.natural(kinds) == mode
    assert bool(questions.needs(kinds)) == (mode == "")


@pytest.mark.parametrize(
    "mode, kinds, said",
    [
        ("odd", (I, I), "It takes at least 3 inputs"),
        ("odd", (I, I, T), "It takes images only"),
        ("odd", (I,) * 9, "It takes at most 8 inputs"),
        ("choice", (I, I, T), "The alternatives must be all images or all texts"),
        ("quality", (I,), ""),
    ],
)
def test_a_mode_says_what_it_takes(mode, kinds, said):
    assert questions.problem(mode, kinds) == said


@pytest.mark.parametrize(
    "key, mode, kinds, able",
    [
        ("ssim", "pair", (I, T), False),
        ("ssim", "odd", (I, I, I), True),
        ("colour-histogram", "quality", (I,), False),
        ("gpt-4o-2024-11-20", "choice", (I, T, T), True),
        ("gpt-4o-2024-11-20", "quality", (I,), False),
        ("gpt-4o-2024-11-20", "pair", (T, T), False),
        ("facebook/dinov2-small", "pair", (I, T), False),
        ("google/t5-v1_1-base", "pair", (I, I), False),
    ],
)
def test_who_can_answer(key, mode, kinds, able):
    assert (questions.cannot(ROWS[key], mode, kinds) == "") == able


def reference(model="m", pairing="image-image", *, matching=True, scenes=500):
    """Unrelated pairs score 0 to 1, matching ones 2 to 3."""
    return Reference(
        model=model,
        pairing=pairing,
        unrelated=np.linspace(0, 1, 201),
        n_unrelated=500,
        n_matching=500,
        matching=np.linspace(2, 3, 201) if matching else np.zeros(0),
        separation=1.0 if matching else None,
        source="some/task",
        synthetic=True,
        domain="tasks",
        scenes=scenes,
    )


def row(key):
    return Model(key=key, title=key.upper())


def asked(mode, *keys, attribute="quality"):
    return LiveQuestion(mode=mode, inputs=tuple(examples.load(key) for key in keys), attribute=attribute)


HELD = {("m", "image-image"): reference(), ("m", "sharpness"): reference(pairing="sharpness", matching=False)}


def checked(answer, question):
    """The answer as a model gives it that is calibrated as HELD says, on inputs like these."""
    held = HELD.get((answer.row.key, question.pairing))
    return answer if answer.unit in ("rating", "votes") else replace(answer, domain=DomainCheck(reference=held))


def test_a_choice_leads_by_percentile_points():
    question = asked("choice", "cat", "coffee", "rocket", "astronaut")
    found = checked(Answer(row=row("m"), scores=(0.5, 2.5, 0.1), pick=1), question)
    assert found.margin == pytest.approx(75 - 25, abs=0.5)
    assert checked(Answer(row=row("m"), scores=(0.5, 0.5, 0.1), pick=None), question).margin is None


def test_the_odd_one_stands_lowest():
    pairs = {(0, 1): 2.5, (0, 2): 0.5, (1, 2): 0.5}
    answer = Answer(row=row("m"), scores=(0.5, 0.5, 2.5), pairs=pairs, pick=2)
    found = checked(answer, asked("odd", "cat", "coffee", "rocket"))
    assert found.percentiles == pytest.approx((50, 50, 25), abs=0.5)
    assert found.margin == pytest.approx(25, abs=0.5)


def test_an_answer_without_a_score_has_no_place():
    for answer in (Answer(row=row("m"), scores=(2.5,), problem="out of order"), Answer(row=row("m"))):
        assert checked(answer, asked("pair", "cat", "coffee")).reference is None


# ---- answers of real models, and of judges

RED, BLUE = (inputs.image(png(colour), name=colour) for colour in ("red", "blue"))


def test_nothing_is_encoded_twice():
    class Counting:
        settings, seen = {}, 0
        prepare = staticmethod(loaded("tiny").prepare)

        def embed(self, modality, prepared):
            self.seen += len(prepared)
            return loaded("tiny").embed(modality, prepared)

    question, again = asked("odd", "cat", "cat-face", "coffee"), asked("choice", "coffee", "cat", "cat-face")
    mine = subject("tiny", model=Counting())
    first = questions.ask(mine, question)
    questions.ask(mine, again)
    assert questions.ask(mine, question).scores == first.scores and mine.model.seen == 3


def test_equal_images_tie():
    question = LiveQuestion(mode="choice", inputs=(RED, BLUE, BLUE))
    assert questions.ask(subject("tiny"), question).pick is None


def test_a_pair_without_a_distribution_is_compared_with_unrelated_examples():
    question = asked("pair", "cat", "cat")
    found = questions.ask(subject("tiny"), question, controls=True)
    assert found.controls == (8, 8) and found.seconds > 0 and found.domain == DomainCheck()
    assert questions.ask(subject("tiny"), question).controls is None


def test_an_unread_reply_is_no_score():
    question = LiveQuestion(mode="pair", inputs=(RED, BLUE))
    found = questions.ask(subject(JUDGE, model=Judge("no idea", "both are nice")), question)
    assert found.scores == () and found.problem.startswith("Neither of its replies")
    half = questions.ask(subject(JUDGE, model=Judge("no idea", "4")), question)
    assert half.scores == (4.0,)


@pytest.mark.parametrize(
    "replies, picks, pick, scores",
    [
        (("(A)", "(B)"), (0, 0), 0, (1.0, 0.0)),
        (("(A)", "(A)"), (0, 1), None, (0.5, 0.5)),  # whatever stands first
        (("(A)", "hm"), (0, None), None, (0.5, 0.0)),
    ],
)
def test_a_judge_picks_only_what_it_picks_in_both_orders(replies, picks, pick, scores):
    question = LiveQuestion(mode="choice", inputs=(RED, BLUE, RED))
    found = questions.ask(subject(JUDGE, model=Judge(*replies)), question)
    assert (found.picks, found.pick, found.scores) == (picks, pick, scores)
