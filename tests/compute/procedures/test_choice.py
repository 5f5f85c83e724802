"""Choices, and the odd one out, by hand. Reference: scipy's log_softmax."""

import numpy as np
import pytest
from scipy.special import log_softmax

from compute.content.items import images, texts
from compute.procedures import choice, evidence, odd_one_out
from compute.procedures.choice import OPPOSITES, PROCEDURE, PROMPTS
from compute.tasks.data import Choices, OddOneOut
from compute.types import CannotDo
from tests.compute.procedures.known import BOTH, Known

USUAL = {name: values[0] for name, values in PROCEDURE.options.items()}
PLACES = {"east": [1, 0], "north": [0, 1], "between": [0.6, 0.8]}
KNOWN = {word: vector for name, vector in PLACES.items() for word in (name, name.encode())}


def sides(*rows):
    """Columns of images, by the words of rows."""
    columns = zip(*map(str.split, rows), strict=True)
    return tuple(images([word.encode() for word in column], of="tests") for column in columns)


@pytest.mark.parametrize("reference, other", [(images, images), (texts, images), (images, texts)])
def test_the_nearest_by_cosine(reference, other):
    """Of eight by hand; equal ones share the pick."""
    rows = ["north " * 7 + "between", "between" + " north" * 7, "east east" + " north" * 6]
    columns = ["east"] * 3, *zip(*map(str.split, rows), strict=True)
    kinds = reference, *[other] * 8
    first, *others = (
        kind([word if kind is texts else word.encode() for word in side], of="tests")
        for kind, side in zip(kinds, columns, strict=True)
    )
    data = Choices(names=("i", "j", "k"), alternatives=tuple(others), answer=np.array([7, 1, 0]), reference=first)
    found = choice.run(Known(KNOWN, abilities=BOTH), data, USUAL)
    items, detail = found.items, found.items["detail"][0]
    assert items["answer"].tolist()[:2] == ["H", "A"] and found.settings["tied"] == 1
    assert items["accuracy"].tolist() == [1, 0, 0.5] and items["correct"].tolist() == [True, False, None]
    np.testing.assert_allclose(items["value"], [0.6, -0.6, 0], atol=1e-6)
    np.testing.assert_allclose(detail["scores"], [0] * 7 + [0.6], atol=1e-6)
    assert (len(detail["images"]), len(detail["texts"])) == (kinds.count(images), kinds.count(texts))


def test_margins():
    scores = np.array([[3.0, 1, 2], [1, 3, 2], [2, 2, 0], [np.inf, 1, 1], [np.inf, np.inf, 0], [1, np.inf, 0]])
    right = evidence.one_hot(np.zeros(6, dtype=int), 3)
    assert evidence.margin(scores, right).tolist() == [1, -2, 0, np.inf, 0, -np.inf]


@pytest.mark.parametrize("question", PROMPTS["paper"])
def test_a_quality_by_one_prompt_or_by_two(question):
    """Of two images by hand: the first is nearer to the paper's prompt, and to the good one of two."""
    near, far, (good, bad) = [0.8, 0.6], [0.6, 0.8], OPPOSITES[question]
    paper, code = (PROMPTS[wording][question] for wording in ("paper", "code"))
    known = {b"a": near, b"b": far, code: [0, 1], paper: [1, 0], good: [1, 0], bad: [0, 1]}
    model, columns = Known(known, abilities=BOTH), sides("a b")
    data = Choices(names=("i",), alternatives=columns, answer=np.array([0]), question=question)
    wanted = {
        ("prompt", "paper"): near,
        ("prompt", "code"): near if code == paper else far,
        ("clip-iqa", "paper"): log_softmax([near, far], axis=0)[0],
        ("clip-iqa-tempered", "paper"): log_softmax(100 * np.array([near, far]), axis=0)[0],
    }
    for (quality, wording), scores in wanted.items():
        how = {"quality": quality, "wording": wording}
        (item,) = choice.run(model, data, how).items.to_dict("records")
        alone = [choice.judged(model, side, question=question, **how)[0] for side in columns]
        np.testing.assert_allclose([item["detail"]["scores"], alone], [scores] * 2, atol=1e-4)
        assert item["accuracy"] == (scores[0] > scores[1])


def test_metrics_compare_reference_and_alternative_in_that_order():
    reference, *others = sides("r a b c", "r a b c")
    data = Choices(names=("i", "j"), alternatives=tuple(others), answer=np.array([1, 0]), reference=reference)
    model = Known(abilities=("compare",), compare=lambda first, second: {b"ra": 1, b"rb": 3, b"rc": 2}[first + second])
    assert choice.run(model, data, USUAL).items["accuracy"].tolist() == [1, 0]


def test_a_quality_needs_a_model_that_takes_prompts():
    data = Choices(names=("i",), alternatives=sides("a b"), answer=np.array([0]), question="quality")
    with pytest.raises(CannotDo, match="quality"):
        choice.run(Known(abilities=("compare",), compare=lambda first, second: 1), data, USUAL)


def test_a_judge_is_asked_and_only_what_can_be_read_counts():
    said = {"i": "(A) Image 1", "j": "(B) Image 2", "k": "I would rather not say", "l": {"error": "cut off"}}
    first, *others = texts(["r"] * 4, of="tests"), images([b"a"] * 4, of="tests"), images([b"b"] * 4, of="tests")
    data = Choices(names=tuple(said), alternatives=tuple(others), answer=np.zeros(4, int), reference=first)
    model = Known(abilities=("choose",), reply=lambda question: said[question.item])
    found = choice.run(model, data, USUAL)
    items = found.items
    assert found.settings == {"input_tokens": 21, "output_tokens": 6, "asked": 4, "unread": 1, "errors": 1}
    np.testing.assert_array_equal(items[["accuracy", "value"]].T, [[1, 0, np.nan, np.nan], [1, -1, np.nan, np.nan]])
    assert items["correct"].tolist() == [True, False, None, None]
    assert items["answer"].tolist() == ["A", "B", "I would rather not say", "cut off"]
    assert items["detail"][1]["reply"] == "(B) Image 2" and items["detail"][1]["texts"] == ["r"]
    assert [question.item for question in model.asked] == list(said)


# ---- the odd one out


def odd(*rows):
    """Whose second members are the odd ones."""
    return OddOneOut(names=tuple(map(str, range(len(rows)))), members=sides(*rows), odd=np.ones(len(rows), int))


@pytest.mark.parametrize(
    "rows, answers, right",
    [
        (("north east between", "between north east"), ["B", "C"], [1, 0]),
        (("north east east east between", "east north between between east"), ["A", "B"], [0, 1]),
    ],
)
def test_the_odd_one_is_the_one_least_like_the_others(rows, answers, right):
    """By the sums of its cosines. Of three, that is the one outside the most similar pair."""
    items = odd_one_out.run(Known(KNOWN, abilities=("embed_image",)), odd(*rows), {}).items
    assert (items["answer"].tolist(), items["accuracy"].tolist()) == (answers, right)


def test_a_comparison_that_depends_on_the_order_counts_both_ways():
    scores = {b"ab": 5, b"ba": 0, b"ac": 2, b"ca": 2, b"bc": 3, b"cb": 3}
    model = Known(abilities=("compare",), compare=lambda first, second: scores[first + second])
    (item,) = odd_one_out.run(model, odd("a b c"), {}).items.to_dict("records")
    # b with c gives 3, a with b gives 2.5, a with c gives 2
    assert item["answer"] == "A" and item["detail"]["scores"] == [3, 2, 2.5]


def test_a_judge_is_asked_for_the_odd_one():
    found = odd_one_out.run(Known(abilities=("choose",), reply=lambda question: "(B) Image 2"), odd("a b c"), {})
    assert found.items["accuracy"].tolist() == [1] and (found.settings["asked"], found.settings["unread"]) == (1, 0)
