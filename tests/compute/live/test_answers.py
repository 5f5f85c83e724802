"""Answers of real models to small questions, against the library's and the procedures' own numbers."""

import pytest

from compute.analysis.calibrated import DomainCheck
from compute.live import inputs, questions
from compute.live.questions import LiveQuestion
from tests.compute.live.pictures import png
from tests.compute.live.subjects import JUDGE, Judge, loaded, subject
from tests.compute.live.test_questions import asked

RED, BLUE = (inputs.image(png(colour), name=colour) for colour in ("red", "blue"))


def test_nothing_is_encoded_twice():
    class Counting:
        settings, seen = {}, 0

        def prepare(self, modality, item):
            return loaded("tiny").prepare(modality, item)

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
