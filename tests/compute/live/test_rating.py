"""A judge's number for a pair, in both orders."""

from __future__ import annotations

import pytest

from compute.content.messages import Picture, Question, Reply
from compute.live import answers, inputs, rating
from compute.live.models.subject import LiveSubject
from compute.live.question import LiveQuestion
from compute.types import Model
from tests.compute.live.pictures import png


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
    assert rating.read(text) == number


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


ROW = Model(key="judge", title="Judge", kind="mllm", abilities=("choose", "score_pair"), modalities=("image", "text"))
RED, BLUE = (inputs.image(png(colour), name=colour) for colour in ("red", "blue"))


def subject(judge: Judge, *given: inputs.Input) -> LiveSubject:
    return LiveSubject(row=ROW, model=judge, inputs={one.key: one for one in given})


def test_both_orders_are_asked_and_kept() -> None:
    judge = Judge("8", "6")
    found = answers.answer(subject(judge, RED, BLUE), LiveQuestion(mode="pair", inputs=(RED, BLUE)))
    assert (found.scores, found.replies, found.unit, found.problem) == ((7.0,), ("8", "6"), "rating", "")
    shown = [[part.key for part in one.parts if isinstance(part, Picture)] for one in judge.asked]
    assert shown == [[RED.key, BLUE.key], [BLUE.key, RED.key]]


def test_an_unread_reply_is_no_score() -> None:
    asked = LiveQuestion(mode="pair", inputs=(RED, BLUE))
    found = answers.answer(subject(Judge("no idea", "both are nice"), RED, BLUE), asked)
    assert found.scores == ()
    assert found.problem == "Neither of its replies holds a number from 1 to 10"
    half = answers.answer(subject(Judge("no idea", "4"), RED, BLUE), asked)
    assert half.scores == (4.0,)


def test_a_judge_picks_only_what_it_picks_in_both_orders() -> None:
    asked = LiveQuestion(mode="choice", inputs=(RED, BLUE, RED))
    steady = answers.answer(subject(Judge("(A)", "(B)"), RED, BLUE), asked)
    assert (steady.picks, steady.pick, steady.scores) == ((0, 0), 0, (1.0, 0.0))
    first = answers.answer(subject(Judge("(A)", "(A)"), RED, BLUE), asked)  # whatever stands first
    assert (first.picks, first.pick, first.scores) == ((0, 1), None, (0.5, 0.5))
    silent = answers.answer(subject(Judge("(A)", "hm"), RED, BLUE), asked)
    assert (silent.picks, silent.pick) == ((0, None), None)
