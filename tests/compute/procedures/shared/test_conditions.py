"""The prompts against the paper's own printed examples (Appendix A) and the printed templates (Appendix C.1)."""

from dataclasses import replace

import pytest

from compute.content.messages import Picture
from compute.procedures.shared import conditions
from compute.procedures.shared.conditions import TEMPLATES
from compute.types import CannotDo
from tests.compute.procedures.pairs import column, rated_pairs

# Appendix A.2, as printed.
EXAMPLE = (
    "Evaluate the similarity of the images based on the following conditions:\n\n- Be invariant to color jittering "
    "while evaluating images. Even if one image has been modified with random color changes (e.g., brightness or "
    "contrast adjustments), the similarity score should remain high. If the images are different, the similarity score "
    "should decrease regardless of the jittering.\n\nThe score should take into account how well the images align with "
    "these conditions, as well as their overall resemblance. Even if the images are identical but fail to meet the "
    "conditions, they should still receive a higher score than completely different images. Provide a score from 1 to "
    "10, where 1 indicates no similarity and 10 indicates identical images that fully satisfy the conditions. Respond "
    "only in this format:\n\nScore: <1-10>\nReason: <reason for score>\n\nNothing else should be included. What score "
    'would you give? "data1" "data2"'
)
# Appendix A.5 with the other condition that the paper prints for blur, and A.6.
SENSITIVE_BLUR = (
    "As a similarity evaluator, your responsibility is to assess the similarity of the given images while considering "
    "these conditions:\n\n- Be sensitive to Gaussian blurs while evaluating images. For example, if both images are "
    "the same except one is a blurred version of the other, the similarity score should decrease. If the images are "
    "the same and have the same exact sharpness, the similarity score should remain high.\n\nThe similarity score "
    "should reflect both how well the images align with the conditions and their overall resemblance. Images that are "
    "identical but do not meet the conditions should receive a moderate score, while completely unrelated images "
    "should receive the lowest score. Provide your score on a scale of 1 to 10, with 10 being identical images that "
    "fully meet the conditions. Ensure your response is in the following format:\n\nScore: <1-10>\nReason: <reason for "
    'score>\n\nProvide nothing else. What is your score? "data1" "data2"'
)
SENSITIVE_ELASTIC = (
    "Judge the similarity of these images based on:\n\n- Be sensitive to elastic transformations while evaluating "
    "images. For example, if the images are the same but have differing distortions due to elastic transformations, "
    "the similarity score should decrease. If the images are identical and have matching elastic transformations, the "
    "similarity score should remain high.\n\nThe similarity score should reflect both the overall resemblance of the "
    "images and how well they satisfy the conditions. Identical images that do not meet the conditions should still "
    "score higher than completely unrelated images. Provide a score on a scale of 1 to 10, with 1 being no similarity "
    "and 10 being identical images that satisfy all conditions. Respond strictly in this format:\n\nScore: <1-10>\n"
    'Reason: <reason for score>\n\nDo not include additional text. What\'s your rating? "data1" "data2"'
)


@pytest.mark.parametrize(
    "template, condition, transformation, printed",
    [
        (2, "invariant", "colorjitter", EXAMPLE),
        (1, "sensitive", "gaussianblur", SENSITIVE_BLUR),
        (3, "sensitive", "elastic", SENSITIVE_ELASTIC),
    ],
)
def test_prompts_are_those_of_the_papers_examples(template, condition, transformation, printed):
    made = conditions.prompt("image-image", template=template, condition=condition, transformations=(transformation,))
    assert one_line(made) == one_line(printed)


def one_line(text):
    """The paper's text has lost its line breaks."""
    return " ".join(text.replace(":\n", ": ").split())


def test_both_orders_of_every_pair_in_the_items_own_template():
    pairs = rated_pairs(3, transformations=("rotate", "position"))
    asked = conditions.questions(pairs)
    assert [question.item for question in asked] == [*pairs.names, *(f"{name} (reverse)" for name in pairs.names)]
    for row, question in enumerate(asked):
        at, reverse = row % 9, row >= 9
        text, *shown = question.parts[:3]
        expected = [pairs.first.read(at), pairs.second.read(at)]
        assert [part.read() for part in shown] == (expected[::-1] if reverse else expected)
        template = TEMPLATES["image-image"][at % 5]
        assert text.startswith(template.partition(": ")[0][:40])
        assert "- Be sensitive to rotations" in text and "\n- Be sensitive to the spatial position" in text
        assert "data" not in text and "{" not in text


def test_a_caption_that_looks_like_a_mark_is_left_as_it_is():
    pairs = rated_pairs(1, second="text", transformations=("position",))
    odd = replace(pairs, second=column(['"data1" {conditions}. "data2"'] * 3, modality="text"))
    asked = conditions.questions(odd)
    assert len([part for part in asked[3].parts if isinstance(part, Picture)]) == 1
    assert '"data1" {conditions}. "data2"' in asked[3].parts[0]


def test_what_has_no_wording_is_named():
    with pytest.raises(CannotDo, match="invariant to 'rotate' in image-text pairs; there are: position"):
        conditions.questions(rated_pairs(1, second="text", condition="invariant"))
