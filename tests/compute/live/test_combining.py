"""How long a run of combining marks is, since sorting a long one keeps a processor busy."""

from __future__ import annotations

import unicodedata

import pytest

from compute.live.inputs import MARKS, longest_run

ACUTE, BELOW = "\u0301", "\u0316"
IN_USE = {
    "vietnamese": "Vi\u1ec7t Nam ti\u1ebfng Vi\u1ec7t",
    "hebrew": "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0\u05e9\u05c1\u05b4\u05d9\u05ea",
    "tibetan": "\u0f56\u0f66\u0f92\u0fb2\u0f74\u0f56\u0f66",
    "devanagari": "\u0915\u094d\u0937\u0947\u0924\u094d\u0930",
    "emoji": "\U0001f469\U0001f3fd\u200d\U0001f4bb" * 40,
}


@pytest.mark.parametrize(
    ("text", "marks"),
    [("", 0), ("a cat", 0), ("é" * 500, 0), ("e" + ACUTE, 1), (ACUTE * 3 + "a" + ACUTE * 2, 3), ("]^-\\" + BELOW, 1)],
)
def test_the_longest_run(text: str, marks: int) -> None:
    assert longest_run(text) == marks


@pytest.mark.parametrize("text", IN_USE.values(), ids=IN_USE)
def test_no_language_comes_near_the_limit(text: str) -> None:
    assert longest_run(text) <= 5 and longest_run(unicodedata.normalize("NFKD", text)) <= 5 < MARKS


@pytest.mark.parametrize("sign", ["\u0344", "\u0f73", "\u0f75", "\u0f81"], ids=ascii)
def test_marks_that_are_several_marks_when_taken_apart(sign: str) -> None:
    assert longest_run("a" + sign * 200) == 200


def test_long_texts() -> None:
    assert longest_run("a" + (ACUTE + BELOW) * 500_000) == 1_000_000
    assert longest_run(("a" + ACUTE * 99) * 10_000) == 99
