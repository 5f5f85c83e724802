"""The prompts against the wording of UniSim-Bench Table 7, and what each item's question holds."""

import numpy as np
import pytest

from compute.content import items
from compute.content.messages import Picture
from compute.procedures.shared.parsing import read
from compute.procedures.shared.prompts import ATTRIBUTES, NUMBERS, TABLE_7, questions, template
from compute.tasks.data import Choices, OddOneOut
from compute.types import CannotDo


def pictures(name, n=2):
    return items.images([f"{name}{row}".encode() for row in range(n)], of=name)


def words(name, n=2):
    return items.texts([f"{name} text {row}" for row in range(n)], of=name)


def choices(*alternatives, reference=None, question="reference"):
    return Choices(
        names=("first", "second"),
        alternatives=alternatives,
        answer=np.zeros(2, int),
        reference=reference,
        question=question,
    )


def text(parts):
    return "".join(part if isinstance(part, str) else "<image>" for part in parts)


def shown(parts):
    return [part.data for part in parts if isinstance(part, Picture)]


CAPTIONS = {"caption1": "a text 1", "caption2": "b text 1"}
ODD = OddOneOut(names=("first", "second"), members=tuple(map(pictures, "abc")), odd=np.zeros(2, int))


@pytest.mark.parametrize(
    "data, printed, images, offered",
    [
        (
            choices(pictures("a"), pictures("b"), reference=pictures("r")),
            TABLE_7["image"],
            [b"r1", b"a1", b"b1"],
            ("(A) Image 2", "(B) Image 3"),
        ),
        (
            choices(words("a"), words("b"), reference=pictures("r")),
            TABLE_7["text"].format(**CAPTIONS),
            [b"r1"],
            ("(A) Caption 1", "(B) Caption 2"),
        ),
        (ODD, TABLE_7["odd-one-out"], [b"a1", b"b1", b"c1"], ("(A) Image 1", "(B) Image 2", "(C) Image 3")),
    ],
    ids=["images", "captions", "odd one out"],
)
def test_a_question_is_asked_as_printed(data, printed, images, offered):
    first, second = questions(data)
    assert (first.item, second.item) == data.names
    assert (text(second.parts), shown(second.parts), second.choices) == (printed, images, offered)


def test_quality_and_attributes_have_prompts_of_their_own():
    """The published Qwen2-VL and InternVL runs asked for quality throughout (FACTS, Known faults)."""
    asked = {
        question: text(questions(choices(pictures("a"), pictures("b"), question=question))[0].parts)
        for question in ("quality", *ATTRIBUTES)
    }
    assert asked["quality"] == TABLE_7["quality"]
    assert "which image is more bright?" in asked["brightness"]
    assert len(set(asked.values())) == 5
    assert not any("quality" in asked[attribute] for attribute in ATTRIBUTES)


@pytest.mark.parametrize("k", range(3, 9))
def test_more_alternatives_are_all_shown_and_offered(k):
    many = [pictures(f"m{place}-") for place in range(k)]
    for data, first, noun in (
        (choices(*many, reference=pictures("r")), 2, "Image"),
        (choices(*many, reference=words("r")), 1, "Image"),
        (choices(*many, question="quality"), 1, "Image"),
        (choices(*many, question="contrast"), 1, "Image"),
        (choices(*map(words, "abcdefgh"[:k]), reference=pictures("r")), 1, "Caption"),
    ):
        question = questions(data)[1]
        assert question.choices == tuple(
            f"({letter}) {noun} {place + first}" for place, letter in enumerate("ABCDEFGH"[:k])
        )
        asked = text(question.parts)
        assert "{" not in asked
        assert NUMBERS[k] in asked
        assert asked.endswith("\n".join(question.choices))
        assert all(read(choice, question.choices) == place for place, choice in enumerate(question.choices))
    assert len(shown(questions(choices(*many, reference=pictures("r")))[0].parts)) == k + 1


def test_a_caption_is_never_taken_for_part_of_the_prompt():
    tricky = "an <image> of {caption2} and (A) Image 7"
    asked = questions(choices(items.texts([tricky, tricky], of="a"), words("b"), reference=pictures("r")))[0]
    assert f"caption 1: {tricky}," in text(asked.parts)
    assert len(shown(asked.parts)) == 1
    assert asked.choices == ("(A) Caption 1", "(B) Caption 2")


def test_what_no_prompt_is_made_for_is_refused():
    for data in (
        choices(words("a"), words("b"), reference=words("r")),
        choices(words("a"), words("b"), question="quality"),
        choices(pictures("a"), pictures("b"), question="beauty"),
        choices(pictures("a"), words("b"), reference=pictures("r")),
    ):
        with pytest.raises(CannotDo):
            questions(data)
    with pytest.raises(CannotDo, match="9"):
        template("quality", options=9)
