"""How similar a judge says two inputs are: a number from 1 to 10, in both orders as PairBench does.

The wording is ours: PairBench's templates (section 3.1) also state what counts as similar, which a visitor's pair
leaves open. PairBench, section 3.2: a judge whose two answers differ is not symmetric, so both are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compute.content.items import Column
from compute.content.messages import Picture, Question
from compute.live.models.subject import LiveSubject
from compute.types import BadInput

PROMPTS = {
    "image-image": (
        "Here are two images: ",
        " and ",
        ". How similar are they, from 1 (nothing in common) to 10 (the same)? Answer with one number only.",
    ),
    "image-text": (
        "Here are an image and a text. The image: ",
        " The text: ",
        " How well does the text describe the "
        "image, from 1 (not at all) to 10 (completely)? Answer with one number only.",
    ),
    "text-image": (
        "Here are a text and an image. The text: ",
        " The image: ",
        " How well does the text describe the "
        "image, from 1 (not at all) to 10 (completely)? Answer with one number only.",
    ),
}
NUMBER = re.compile(r"(?<![\d.,-])(10|[1-9])(?:\s*(?:/|out of)\s*10)?(?![\d,]|\.\d)")
RANGE = re.compile(r"\d\s*[-–—]\s*\d")  # an answer that does not settle on a number


def rated(subject: LiveSubject, first: Column, second: Column) -> tuple[tuple[int | None, ...], tuple[str, ...]]:
    """Of both orders: the number read from each, 1 to 10 or None, and the replies. Raises BadInput where it fails."""
    questions = [question(first, second), question(second, first)]
    replies = subject.choose(questions)
    for reply in replies:
        if reply.error:
            raise BadInput(reply.error)
    return tuple(read(reply.text) for reply in replies), tuple(reply.text for reply in replies)


def question(first: Column, second: Column) -> Question:
    """The question about two columns of one row, in this order. Raises BadInput for two texts."""
    kind = f"{first.modality}-{second.modality}"
    if kind not in PROMPTS:
        raise BadInput("Judges compare an image and another image or a text, not two texts")
    before, between, after = PROMPTS[kind]
    return Question(item="pair", parts=tuple(_joined((before, _part(first), between, _part(second), after))))


def read(text: str) -> int | None:
    """The number from 1 to 10 that a reply gives; None for none, or for several that differ."""
    reply = text.rpartition("</think>")[2]
    numbers = {int(number) for number in NUMBER.findall(reply)}
    return numbers.pop() if len(numbers) == 1 and not RANGE.search(reply) else None


def _part(column: Column) -> str | Picture:
    if column.modality == "text":
        return str(column.read(0))
    return Picture(key=bytes(column.keys[0]), name=column.name(0), read=lambda: column.read(0))


def _joined(parts: tuple[str | Picture, ...]) -> Iterator[str | Picture]:
    """The parts, with neighbouring texts joined."""
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        yield text
        yield part
        text = ""
    if text:
        yield text
