"""The order in which questions are asked."""

from __future__ import annotations

from compute.content.messages import Picture, Question
from compute.models.judges.images import grouped


def named(name: str) -> Picture:
    return Picture(key=name.encode(), read=lambda: name.encode())


def question(*parts: str) -> Question:
    return Question(item="", parts=tuple(named(part) if part.isupper() else part for part in parts))


def test_questions_that_share_images_are_near_each_other():
    """Both orders of every pair, all of one order first, as judging asks them."""
    pairs = [("A", "B"), ("C", "D"), ("A", "E"), ("C", "F"), ("A", "C")]
    questions = [question("rate", *pair) for pair in pairs] + [question("rate", *reversed(pair)) for pair in pairs]
    assert grouped(questions) == [0, 2, 4, 5, 7, 9, 1, 3, 6, 8]
    assert grouped([question("no"), question("images"), question("at all")]) == [0, 1, 2]
