"""Questions for generative judges: UniSim-Bench Table 7 as data, and our own wording for more options.

Two faults of the published evaluation are corrected (FACTS, UniSim-Bench): every item has its own caption, and a
perceptual attribute has its own prompt, never the one for quality.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compute.content.items import Column
from compute.content.messages import Picture, Question
from compute.procedures.shared.conditions import picture
from compute.tasks.data import Choices, OddOneOut
from compute.types import LETTERS, CannotDo

MOST_OPTIONS = 8  # in one question
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}

# As printed, with line breaks for \n and without the stray quotation mark at the end of the last. `<image>` stands for
# the item's next image, {name} for a text of the item.
TABLE_7 = {
    "image": (
        "Answer the following multiple-choice question:\nHere are three images: <image><image><image>. \n"
        " If image 1 is the reference image, which image of the other two is more similar to the reference image?"
        " \n Options: \n(A) Image 2 \n(B) Image 3"
    ),
    "image-text": (
        "Answer the following question:\nHere are two images: <image><image>, and here is the reference "
        "caption: {prompt}. which of the two images is more aligned to the reference caption?\n"
        " Options:\n(A) Image 1 \n(B) Image 2"
    ),
    "text": (
        "Answer the following multiple-choice question:\nGiven the reference image: <image> and two captions, "
        "caption 1: {caption1}, caption 2: {caption2} \n which caption has a better alignment with the reference "
        "image? \nOptions:\n(A) Caption 1\n(B) Caption 2"
    ),
    "quality": (
        "Answer the following multiple-choice question:\nGiven two images: <image><image> which image has a "
        "better quality? \nOptions:\n(A) Image 1\n(B) Image 2"
    ),
    "attribute": (
        "Answer the following multiple-choice question:\nGiven two images: <image><image> which image is "
        "more {attribute}? \nOptions:\n(A) Image 1 \n(B) Image 2"
    ),
    "odd-one-out": (
        "Answer the following multiple-choice question:\nHere are three images: <image><image><image>, "
        "Which one (A, B, C) is the odd-one-out of the group?\n"
        " Options:\n(A) Image 1\n(B) Image 2\n(C) Image 3"
    ),
}

# Other numbers of options: the printed wording with the number and the superlative filled in. {many} is the number of
# options, {all} of images, {images} their numbers, {captions} the numbered captions, {options} the list.
MORE = {
    "image": (
        "Answer the following multiple-choice question:\nHere are {all} images: {images}. \n If image 1 is the "
        "reference image, which image of the other {many} is most similar to the reference image? \n"
        " Options:\n{options}"
    ),
    "image-text": (
        "Answer the following question:\nHere are {many} images: {images}, and here is the reference "
        "caption: {prompt}. which of the {many} images is most aligned to the reference caption?\n"
        " Options:\n{options}"
    ),
    "text": (
        "Answer the following multiple-choice question:\nGiven the reference image: <image> and {many} captions, "
        "{captions} \n which caption has the best alignment with the reference image? \nOptions:\n{options}"
    ),
    "quality": (
        "Answer the following multiple-choice question:\nGiven {many} images: {images} which image has the "
        "best quality? \nOptions:\n{options}"
    ),
    "attribute": (
        "Answer the following multiple-choice question:\nGiven {many} images: {images} which image is the "
        "most {attribute}? \nOptions:\n{options}"
    ),
    "odd-one-out": (
        "Answer the following multiple-choice question:\nHere are {many} images: {images}, Which one "
        "({letters}) is the odd-one-out of the group?\n Options:\n{options}"
    ),
}

# Table 7 does not give the word; the public code asks for brighter, more colorful, more contrast and sharper in color.
ATTRIBUTES = {"brightness": "bright", "colorfulness": "colorful", "contrast": "contrasted", "sharpness": "sharp"}

_PRINTED = {"odd-one-out": 3}  # number of options in the printed prompt; two for all others
_PLACEHOLDER = re.compile(r"<image>|\{(\w+)\}")
OPTION = re.compile(r"\([A-H]\) (?:Image|Caption) \d+")


def template(kind: str, *, options: int) -> str:
    """Returns the prompt of a kind of question (a key of TABLE_7) for a number of options: the paper's, if it prints
    one.

    Raises CannotDo for more than 8 options.
    """
    if options == _PRINTED.get(kind, 2):
        return TABLE_7[kind]
    if not 2 <= options <= MOST_OPTIONS:
        raise CannotDo(f"A question has 2 to {MOST_OPTIONS} options, not {options}. Use fewer.")
    first, noun = (2 if kind == "image" else 1), ("Caption" if kind == "text" else "Image")
    shown = options + first - 1
    words = {
        "many": NUMBERS[options],
        "all": NUMBERS[shown],
        "images": "<image>" * shown,
        "letters": ", ".join(LETTERS[:options]),
        "captions": ", ".join(f"caption {number}: {{caption{number}}}" for number in range(1, options + 1)),
        "options": "\n".join(f"({LETTERS[index]}) {noun} {index + first}" for index in range(options)),
    }
    return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), MORE[kind])


def questions(data: Choices | OddOneOut) -> list[Question]:
    """Returns one question per item, in order; an option's index in `choices` is the index of its alternative.

    Images are read when the model answers, not here. Raises CannotDo for items without a prompt.
    """
    if isinstance(data, OddOneOut):
        _must_be(data.members, "image")
        kind, images, words, options = "odd-one-out", data.members, {}, len(data.members)
    else:
        (kind, images, words), options = _kind(data), len(data.alternatives)
    prompt = template(kind, options=options)
    choices = tuple(OPTION.findall(prompt))
    return [
        Question(item=name, choices=choices, parts=tuple(_parts(prompt, row, images=images, words=words)))
        for row, name in enumerate(data.names)
    ]


def _kind(data: Choices) -> tuple[str, tuple[Column, ...], dict[str, Column | str]]:
    """Returns the kind of prompt for an item, its images in order, and its texts by name, or a word shared by all
    items.
    """
    alternatives, reference = data.alternatives, data.reference
    modality = alternatives[0].modality
    if reference is None:
        _must_be(alternatives, "image")
        if data.question != "quality" and data.question not in ATTRIBUTES:
            raise CannotDo(
                f"No prompt asks for {data.question!r}; there are prompts for quality and {', '.join(ATTRIBUTES)}."
            )
        if data.question == "quality":
            return "quality", alternatives, {}
        return "attribute", alternatives, {"attribute": ATTRIBUTES[data.question]}
    _must_be(alternatives, modality)
    if (reference.modality, modality) == ("image", "image"):
        return "image", (reference, *alternatives), {}
    if (reference.modality, modality) == ("text", "image"):
        return "image-text", alternatives, {"prompt": reference}
    if (reference.modality, modality) == ("image", "text"):
        return "text", (reference,), {f"caption{index + 1}": text for index, text in enumerate(alternatives)}
    raise CannotDo(f"No prompt compares a {reference.modality} reference with {modality} alternatives.")


def _must_be(columns: Sequence[Column], modality: str) -> None:
    wrong = {column.modality for column in columns} - {modality}
    if wrong:
        raise CannotDo(f"No prompt shows {modality} with {wrong.pop()} alternatives.")


def _parts(
    prompt: str, row: int, *, images: Sequence[Column], words: dict[str, Column | str]
) -> Iterator[str | Picture]:
    """Yields the prompt split at its images. Only the prompt's placeholders count: one that appears in a caption is
    unchanged.
    """
    following, text, done = iter(images), "", 0
    for match in _PLACEHOLDER.finditer(prompt):
        text, done = text + prompt[done : match.start()], match.end()
        if match[1]:
            word = words[match[1]]
            text += word if isinstance(word, str) else str(word.read(row))
            continue
        if text:
            yield text
        text = ""
        yield picture(next(following), row)
    yield text + prompt[done:]
