"""Answers as models give them, and what must not be read as one. The expectations are written by hand, case by case."""

import random

import pytest

from compute.procedures.shared.parsing import read

SIMILAR = ("(A) Image 2", "(B) Image 3")  # Img-2AFC: the reference is image 1
BETTER = ("(A) Image 1", "(B) Image 2")
CAPTIONS = ("(A) Caption 1", "(B) Caption 2")
ODD = ("(A) Image 1", "(B) Image 2", "(C) Image 3")

# What names an option: by the options that are offered, and its place.
CLEAR = (
    (SIMILAR, 0, (
        "A", "a", "(A)", "A.", "  A \n", "answer: a", "Answer: A", "The correct answer is: (A) Image 2.",
        "My final answer is option A", "Final answer: **A**", "`A`", r"$\boxed{\text{A}}$", "A\u200b", "A</s>",
        "Image 2", "(A) Image 2", "A. Image 2", "I would choose (A).",
        "The image that is more similar to the reference image is Image 2.", "A.\nThe texture is closer.",
        "A\nA closer look shows the same edges.",
    )),
    (SIMILAR, 1, (
        "B", "b", "( B )", "[B]", "[[B]]", "B)", "(b).", "Answer: (B)", "ANSWER: B.", "The answer is B.",
        "Option B", "So, the answer is (B).", "**B**", "**(B) Image 3**", '"B"', "$B$", r"\boxed{B}", "（Ｂ）",
        "B<|im_end|>", "<answer>B</answer>", "<think>(A) or (B)? A, I think.</think>\n\nB",
        "[THINK](A), I think.[/THINK](B)", "◁think▷(A), I think.◁/think▷(B)",
        "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>",
        '{"answer": "B"}', '```json {"answer": "B"} ```', '```json\n{\n  "answer": "B"\n}\n```',
        'It is sharper.\n```json\n{"choice": "(B) Image 3", "reason": "Not A."}\n```', "```\nB\n```", "Image 3",
        "B: Image 3", "Image 3 is more similar to the reference image.", "I choose B",
        "Compared with image 1, I prefer Image 3.", "B is more similar.",
        "The answer would be (B), as its colours are nearer.",
        "Option B (Image 3) looks much closer to the reference.",
        "The reference shows a cat. Image 3 best matches the reference.", "Option B is the correct answer.",
        "B\n\nImage 3 is less blurred than Image 2.", "The reference shows a cat.\nAnswer: B",
    )),
    (BETTER, 1, (
        "image 2.", "Answer: Image 2", "Image 2 is of higher quality.", "B. The second image has less noise.",
        "(B) because it is not as dark",
    )),
    (BETTER, 0, (
        "Image 1", "A is sharper.", "(A) has more contrast.",
    )),
    (ODD, 2, (
        "Image 3", "C", "(C)", "The odd one is Image 3, a dog.", "The image that is the odd one out is Image 3.",
        "C is the odd one out.",
    )),
    (CAPTIONS, 1, (
        "Caption 2",
    )),
    (CAPTIONS, 0, (
        "(a) caption 1", "Caption 1 describes the image in more detail.",
    )),
    (SIMILAR, None, (
        "(A) Image 2\nBoth edges are kept as in image 1.",
    )),
)  # fmt: skip

UNREAD = (
    "", "   ", "\n", "?", "1", "2.", "AB", "A B", "A, B", "A/B", "(A)(B)", "A or B", "(A) or (B)", "A and B",
    "both", "Neither.",
    "A\nB", "A. Image 2\nB. Image 3", "(A) Image 2 (B) Image 3", "A) Image 2 B) Image 3", "A. Image 2 B. Image 3",
    "Options:\n(A) Image 2\n(B) Image 3", "Image 2 or Image 3", "Image 2 and Image 3 are both similar.",
    "A better image is B", "A closer look is needed.", "A clear choice", "A picture of a dog", "The answer is a",
    "C", "(C)", "D.", "Answer: (E)", "A\nC", "Image 1", "Image 23", "Image 4", "Caption 1", "(A) Image 3",
    "B. Image 2",
    "I'm sorry, I can't help with that.", "I cannot compare the images.", "As an AI I am unable to choose (A).",
    "not A", "Not (A)", "It is not Image 2.", "Image 2 is less similar.", "Image 2 is the worse one.",
    "Neither (A) nor (B)",
    "(A) is not similar to the reference", "Perhaps (B).", "Image 2 might be closer.",
    "Image 2 is as good as Image 3.",
    "A is better than B", "B is closer than A.", "A\nActually, the answer is B.", "A\nWait, Image 3 is closer.",
    "B. I cannot tell.", "Answer: A\nOr B", "Answer: A\n\nAnswer: B", "A: I cannot tell",
    "A: the second one is better",
    "The answer is (", "Answer:", "(A", "<think>(A)", "<think>It must be B", "Vitamin B", "BAD", "Image A",
    "the first one",
    "Image 2 is the reference; Image 3 is similar.", "The answer is neither.", "The images are equally similar. A",
    "Both (A) and (B) are plausible.", "null", "None", "{}",
    '{"answer": "A", "second choice": "B"}', '{"answer": "A or B"}', '```json\n{"answer": "C"}\n```', "<thinking>\n(A)",
    "<html>502</html>", "A?", "I'd say it's a tie",
    "Image 2 is dissimilar to the reference image.", "Option A is farther from the reference.", "(A) has more noise.",
    "Image 2 lacks the red ball.", "(A) lacks the red ball.", "(A) Image 2 lacks the red ball.", "Image 2 is sharper.",
    "(A) contains another object.", "Image 2 is more different.", "Image 3 is closer, but the colours decide.",
    "The other one is better than Image 2.", "Image 2 is far from the reference.", "Image 2 shows a dog.",
    "Image 2 is the odd one.", "Image 2 looks odd.",
)  # fmt: skip


@pytest.mark.parametrize("text, choices, expected", [(text, *each) for *each, texts in CLEAR for text in texts])
def test_what_answers_clearly_is_read(text, choices, expected):
    assert read(text, choices) == expected


@pytest.mark.parametrize("text", UNREAD)
def test_what_does_not_is_left_unread(text):
    assert read(text, SIMILAR) is None


@pytest.mark.parametrize(
    "text, expected",
    [("(A)", 0), ("B. The second has less", 1), ("<think>A?</think>\n(B)", 1), ("<think>(A)", None)]
    + [(text, None) for text in ("I prefer Image 2", "Image 2 has less noise, but", "First guess:\n(A)\n, bu")],
)
def test_of_a_cut_answer_only_its_beginning_is_read(text, expected):
    assert read(text, SIMILAR, finish="length") == expected
    assert read(text, SIMILAR, finish="refusal") is None


def test_bare_letters_may_be_offered():
    assert [read(text, ("A", "B")) for text in ("B", "(A)", "Image 2", "C")] == [1, 0, None, None]


def test_eight_options():
    eight = tuple(f"({letter}) Image {place + 2}" for place, letter in enumerate("ABCDEFGH"))
    for place, letter in enumerate("ABCDEFGH"):
        texts = (letter, f"Answer: ({letter.lower()})", f"Image {place + 2}")
        assert [read(text, eight) for text in texts] == [place] * 3


def test_random_texts_never_raise_and_name_what_is_read():
    """Pieces of answers in random order; with the options' letters swapped, a letter means the other option."""
    draw = random.Random(7)
    words = ("(A)", "(B)", "Image 2", "Image 3", "image", "answer is", "not", "or", "**", "</think>", "is")
    pieces = [*"ABa \n.:<>{\\\u200béIC", *words]
    letters_swapped = ("(B) Image 2", "(A) Image 3")
    read_any = 0
    for _ in range(3_000):
        text = draw.choice(("", " ")).join(draw.choices(pieces, k=draw.randint(0, 7)))
        found = read(text, SIMILAR)
        swapped = read(text, letters_swapped)
        if found is None:
            continue
        read_any += 1
        thought = text.rpartition("</think>")[2].lower()
        letter, label = "ab"[found], f"image {found + 2}"
        assert letter in thought or label in " ".join(thought.replace("\u200b", "").split()), text
        if "image" not in thought:
            assert swapped == 1 - found, text
    assert read_any > 150
