"""Which mode fits what was dropped, who can answer, and what models and judges answer."""

import pytest

from compute.analysis.calibrated import DomainCheck
from compute.live import examples, inputs, questions
from compute.live.questions import LiveQuestion
from tests.compute.live.pictures import png
from tests.compute.live.subjects import JUDGE, ROWS, Judge, loaded, subject

I, T = "image", "text"  # noqa: E741


@pytest.mark.parametrize(
    "kinds, mode",
    [
        ((), ""),
        ((I,), "quality"),
        ((I, T), "pair"),
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


def asked(mode, *keys, attribute="quality"):
    return LiveQuestion(mode=mode, inputs=tuple(examples.load(key) for key in keys), attribute=attribute)


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
