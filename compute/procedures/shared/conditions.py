"""Instructions for a judge that rates a pair: PairBench's ten prompt templates and its conditions (Appendices A, C.1).

The templates are as printed, with line breaks and lists as in the examples of Appendix A. Those for image and text
state a scale of 0 to 10 and then ask for "<1-10>": a 0 is not a valid score (section 3.2) and counts as invalid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compute.content.items import Column
from compute.content.messages import Picture, Question
from compute.tasks.data import RatedPairs
from compute.types import CannotDo

FORMAT = "Score: <1-10>\nReason: <reason for score>"
# Tokens for a score with its reason, which is a paragraph. With a judge's default limit most reasons would be
# truncated, and an answer that ends with the score would have none.
ANSWER_TOKENS = 256
_FIRST, _SECOND, _CONDITIONS = '"data1"', '"data2"', "{conditions}. "


# `{conditions}` stands for the conditions, "data1" and "data2" for the pair. The first templates state a scale of 1 to
# 10.
IMAGE_IMAGE = (
    "You are tasked with evaluating the similarity between two images while paying attention to the following "
    "conditions: {conditions}. Your goal is to judge the similarity of the images overall, where satisfying the "
    "conditions increases the similarity score. If the images are identical but fail to meet any of the "
    "conditions, they should still receive a higher score than completely unrelated images. Provide a similarity "
    "score on a scale from 1 to 10, where 1 represents entirely dissimilar images and 10 represents identical "
    "images that satisfy all conditions. Ensure your response is strictly in the following format:\n\n"
    f"{FORMAT}\n\nDo not include anything else in your response. What score would you assign to this pair of "
    'images? "data1" "data2".',
    "As a similarity evaluator, your responsibility is to assess the similarity of the given images while "
    "considering these conditions: {conditions}. The similarity score should reflect both how well the images "
    "align with the conditions and their overall resemblance. Images that are identical but do not meet the "
    "conditions should receive a moderate score, while completely unrelated images should receive the lowest "
    "score. Provide your score on a scale of 1 to 10, with 10 being identical images that fully meet the "
    f"conditions. Ensure your response is in the following format:\n\n{FORMAT}\n\nProvide nothing else. What is "
    'your score? "data1" "data2"',
    "Evaluate the similarity of the images based on the following conditions: {conditions}. The score should take "
    "into account how well the images align with these conditions, as well as their overall resemblance. Even if "
    "the images are identical but fail to meet the conditions, they should still receive a higher score than "
    "completely different images. Provide a score from 1 to 10, where 1 indicates no similarity and 10 indicates "
    f"identical images that fully satisfy the conditions. Respond only in this format:\n\n{FORMAT}\n\nNothing "
    'else should be included. What score would you give? "data1" "data2"',
    "Judge the similarity of these images based on: {conditions}. The similarity score should reflect both the "
    "overall resemblance of the images and how well they satisfy the conditions. Identical images that do not "
    "meet the conditions should still score higher than completely unrelated images. Provide a score on a scale "
    "of 1 to 10, with 1 being no similarity and 10 being identical images that satisfy all conditions. Respond "
    f"strictly in this format:\n\n{FORMAT}\n\nDo not include additional text. What's your rating? "
    '"data1" "data2"',
    "Rate the similarity of these images on a scale of 1 to 10 while considering {conditions}. The score should "
    "account for both how well the images satisfy the conditions and their overall resemblance. If the images are "
    "identical but do not meet the conditions, they should still score higher than unrelated images. Your response "
    f"must follow this exact format:\n\n{FORMAT}\n\nProvide nothing else. What's your score? "
    '"data1" "data2"',
)
IMAGE_TEXT = (
    "You are assigned the task of determining how accurately a text description represents an image of two "
    "objects. Pay special attention to the following conditions: {conditions}. Your goal is to assess the "
    "alignment between the image and the text, where adherence to the conditions increases the similarity score. "
    "If the text partially describes the image but fails to meet specific conditions, it should still score higher "
    "than a text entirely unrelated to the image. Assign a similarity score on a scale from 0 to 10, where 0 "
    "signifies no correlation, and 10 denotes perfect alignment satisfying all conditions. The data pair (text and "
    f"image) will follow this prompt. Respond strictly in the following format:\n\n{FORMAT}\n\nWhat score would "
    'you assign to this text-image pair? "data1" "data2".',
    "Figure out how well this image matches the description provided. The image shows two objects, and the text is "
    "meant to describe how they're arranged. Look at these specific conditions: {conditions}. If the text captures "
    "some parts of the image but misses others, it should still get a better score than something totally off. "
    "Score this match on a scale of 0 to 10, where 0 means there's no match and 10 means the description nails it "
    "and matches every condition perfectly. The text and image will follow this prompt. Answer in this format "
    f'only:\n\n{FORMAT}\n\nWhat\'s your score? "data1" "data2".',
    "Evaluate the degree to which a text description accurately represents an image featuring two objects, taking "
    "into account the following conditions: {conditions}. Assign a score based on how well the image-text pair "
    "matches, where:\n\n- A perfect description that satisfies all conditions scores 10.\n- Texts that partially "
    "align with the image but fail to meet conditions should still score higher than completely unrelated "
    "ones.\n\nThe data pair will follow this prompt. Provide your score on a scale of 0 to 10 using the exact "
    f'format below:\n\n{FORMAT}\n\nWhat score would you give? "data1" "data2".',
    "You are tasked with reviewing how well a text description aligns with an image of two objects. The score "
    "should reflect not only the accuracy of the alignment but also how well the description satisfies the "
    "following conditions: {conditions}. Even if the text description captures some parts of the image while "
    "failing the conditions, it should still receive a higher score than a completely irrelevant description. The "
    "text and image will be provided below. Assign a score on a 0 to 10 scale, where 0 is no similarity and 10 is "
    f"perfect alignment that meets all conditions. Answer only in this format:\n\n{FORMAT}\n\nWhat score would you "
    'assign? "data1" "data2".',
    "Assess the degree to which a text description corresponds to an image of two objects, taking into account the "
    "following conditions: {conditions}. The scoring should reflect:\n\n- A perfect alignment with the image that "
    "satisfies all conditions merits a score of 10.\n- Descriptions that partially match the image but fail to "
    "meet certain conditions should still receive a higher score than entirely unrelated descriptions.\n- A score "
    "of 0 should be reserved for cases where no correlation exists between the text and the image.\n\nThe text and "
    "image pair will be provided below. Provide your evaluation using the following format:\n\n"
    f'{FORMAT}\n\nWhat score would you assign? "data1" "data2".',
)
# Prompts without a condition, which do not specify what counts as similar; the wording is ours.
PLAIN = {
    "image-image": 'Here are two images: "data1" and "data2". How similar are they, from 1 (nothing in common) to 10 '
    "(the same)? Answer with one number only.",
    "image-text": 'Here are an image and a text: "data1" "data2" How well does the text describe the image, from 1 '
    "(not at all) to 10 (completely)? Answer with one number only.",
}
TEMPLATES = {"image-image": IMAGE_IMAGE, "image-text": IMAGE_TEXT}

# The texts of Appendix A, which prints these five in the examples of A.1 to A.6.
PRINTED = {
    ("image-image", "invariant", "colorjitter"): (
        "Be invariant to color jittering while evaluating images. Even if one image has been modified with random "
        "color changes (e.g., brightness or contrast adjustments), the similarity score should remain high. If the "
        "images are different, the similarity score should decrease regardless of the jittering."
    ),
    ("image-image", "invariant", "gaussianblur"): (
        "Be invariant to Gaussian blurs while evaluating images. For example, even if both images are the exact same, "
        "even if one is more blurred compared to the other, the similarity score should remain high. If the images are "
        "different, the similarity score should decrease regardless of how blurred they are."
    ),
    ("image-image", "invariant", "rotate"): (
        "Be invariant to rotations while evaluating images. For example, if one image is a rotated version of the "
        "other, the similarity score should remain high. If the images are different, the similarity score should "
        "decrease regardless of their orientation."
    ),
    ("image-image", "sensitive", "gaussianblur"): (
        "Be sensitive to Gaussian blurs while evaluating images. For example, if both images are the same except one "
        "is a blurred version of the other, the similarity score should decrease. If the images are the same and have "
        "the same exact sharpness, the similarity score should remain high."
    ),
    ("image-image", "sensitive", "elastic"): (
        "Be sensitive to elastic transformations while evaluating images. For example, if the images are the same but "
        "have differing distortions due to elastic transformations, the similarity score should decrease. If the "
        "images are identical and have matching elastic transformations, the similarity score should remain high."
    ),
}
# The other texts, which the paper does not print, in the same form; the wording is ours.
OURS = {
    ("image-image", "invariant", "perspective"): (
        "Be invariant to perspective shifts while evaluating images. For example, if one image shows the other from "
        "another perspective, the similarity score should remain high. If the images are different, the similarity "
        "score should decrease regardless of their perspective."
    ),
    ("image-image", "invariant", "elastic"): (
        "Be invariant to elastic transformations while evaluating images. For example, if one image is an elastically "
        "distorted version of the other, the similarity score should remain high. If the images are different, the "
        "similarity score should decrease regardless of how distorted they are."
    ),
    ("image-image", "invariant", "position"): (
        "Be invariant to the spatial position of objects while evaluating images. For example, if both images show the "
        "same objects, even if the objects stand in another position relative to each other, the similarity score "
        "should remain high. If the objects are different, the similarity score should decrease regardless of their "
        "positions."
    ),
    ("image-image", "sensitive", "colorjitter"): (
        "Be sensitive to color jittering while evaluating images. For example, if both images are the same except one "
        "has been modified with random color changes (e.g., brightness or contrast adjustments), the similarity score "
        "should decrease. If the images are the same and have the same exact colors, the similarity score should "
        "remain high."
    ),
    ("image-image", "sensitive", "rotate"): (
        "Be sensitive to rotations while evaluating images. For example, if both images are the same except one is a "
        "rotated version of the other, the similarity score should decrease. If the images are the same and have the "
        "same exact orientation, the similarity score should remain high."
    ),
    ("image-image", "sensitive", "perspective"): (
        "Be sensitive to perspective shifts while evaluating images. For example, if both images are the same except "
        "one is shown from another perspective, the similarity score should decrease. If the images are the same and "
        "have the same exact perspective, the similarity score should remain high."
    ),
    ("image-image", "sensitive", "position"): (
        "Be sensitive to the spatial position of objects while evaluating images. For example, if both images show the "
        "same objects but the objects stand in another position relative to each other, the similarity score should "
        "decrease. If the images show the same objects in the same exact positions, the similarity score should remain "
        "high."
    ),
    ("image-text", "invariant", "position"): (
        "Be invariant to the spatial position of objects while evaluating image and text. For example, if the text "
        "names the objects in the image, even if it describes another position of them relative to each other, the "
        "similarity score should remain high. If the text names different objects, the similarity score should "
        "decrease regardless of their positions."
    ),
    ("image-text", "sensitive", "position"): (
        "Be sensitive to the spatial position of objects while evaluating image and text. For example, if the text "
        "names the objects in the image but describes another position of them relative to each other, the similarity "
        "score should decrease. If the text names the same objects in the same exact positions, the similarity score "
        "should remain high."
    ),
}
TEXTS = PRINTED | OURS


def questions(pairs: RatedPairs) -> list[Question]:
    """Returns two questions per pair: all pairs in their order, then all in reverse.

    Images are read when the model answers.
    """
    kind = pairing(pairs.first, pairs.second)
    numbers = [int(number) for number in pairs.templates]
    prompts = {
        number: prompt(kind, template=number, condition=pairs.condition, transformations=tuple(pairs.transformations))
        for number in set(numbers)
    }
    return [
        Question(item=item, parts=tuple(parts(prompts[number], *sides, row)), longest=ANSWER_TOKENS)
        for sides, items in (
            ((pairs.first, pairs.second), pairs.names),
            ((pairs.second, pairs.first), [f"{name} (reverse)" for name in pairs.names]),
        )
        for row, (item, number) in enumerate(zip(items, numbers, strict=True))
    ]


def pairing(first: Column, second: Column) -> str:
    """Returns the modalities of a pair: `image-image`, `image-text` in either order, `text-text`."""
    return "-".join(sorted((first.modality, second.modality)))


def prompt(kind: str, *, template: int, condition: str, transformations: tuple[str, ...]) -> str:
    """Returns a template for a kind of pair (a key of TEMPLATES) with its conditions; "data1" and "data2" still stand
    for the pair. Raises CannotDo for a condition without a text.
    """
    if not condition:
        return PLAIN[kind]
    listed = "\n".join(f"- {text(kind, condition=condition, transformation=name)}" for name in transformations)
    # As in Appendix A: a separate list, with a full stop after each text.
    return TEMPLATES[kind][template].replace(_CONDITIONS, f"\n\n{listed}\n\n")


def text(kind: str, *, condition: str, transformation: str) -> str:
    """Returns the condition's text. Raises CannotDo if there is none."""
    if (kind, condition, transformation) not in TEXTS:
        known = ", ".join(name for pair, of, name in TEXTS if (pair, of) == (kind, condition)) or "none"
        raise CannotDo(f"No prompt makes a judge {condition} to {transformation!r} in {kind} pairs; there are: {known}")
    return TEXTS[kind, condition, transformation]


def parts(prompt: str, first: Column, second: Column, row: int) -> Iterator[str | Picture]:
    """Yields the prompt with the pair's contents in place of data1 and data2; adjacent texts are joined."""
    written = ""
    for piece in re.split(f"({_FIRST}|{_SECOND})", prompt):
        column = {_FIRST: first, _SECOND: second}.get(piece)
        if column is not None and column.modality == "image":
            if written.strip():  # a mere space between two images is not a part
                yield written
            written = ""
            yield picture(column, row)
        else:
            written += piece if column is None else str(column.read(row))
    if written.strip():
        yield written


def picture(column: Column, row: int) -> Picture:
    """Returns a row's image, read when the model answers."""
    return Picture(key=bytes(column.keys[row]), name=column.name(row), read=lambda: column.read(row))
