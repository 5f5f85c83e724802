"""Choices, and the odd one out. References: scikit-learn's cosine_similarity with an arg max, scipy's log_softmax."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics.pairwise import cosine_similarity

from compute.content.items import images, texts
from compute.procedures import choice, evidence, odd_one_out
from compute.procedures.choice import OPPOSITES, PROCEDURE, PROMPTS
from compute.tasks.data import Choices, OddOneOut
from compute.types import CannotDo
from tests.compute.procedures.known import BOTH, Known, shown

USUAL = {name: values[0] for name, values in PROCEDURE.options.items()}
N = 40
PLACES = {"east": [1, 0], "north": [0, 1], "between": [0.6, 0.8]}
KNOWN = {word: vector for name, vector in PLACES.items() for word in (name, name.encode())}


def made(k, *, question="reference"):
    rng = np.random.default_rng(k)
    vectors = rng.standard_normal((k + 1, N, 8)).astype(np.float32)
    known = {}
    columns = [shown(*one, known=known) for one in zip(vectors, "rabcdefgh", strict=False)]
    data = Choices(
        names=tuple(f"i{row}" for row in range(N)),
        alternatives=tuple(columns[1:]),
        answer=rng.integers(0, k, N),
        question=question,
        reference=columns[0] if question == "reference" else None,
    )
    return data, known, vectors[1:]


@pytest.mark.parametrize("reference, other", [(images, images), (texts, images), (images, texts)])
def test_the_nearest_by_cosine(reference, other):
    """Of eight by hand; equal ones share the pick."""
    rows = ["north " * 7 + "between", "between" + " north" * 7, "east east" + " north" * 6]
    sides = ["east"] * 3, *zip(*map(str.split, rows), strict=True)
    kinds = reference, *[other] * 8
    first, *others = (
        kind([word if kind is texts else word.encode() for word in side], of="tests")
        for kind, side in zip(kinds, sides, strict=True)
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
    model, sides = Known(known, abilities=BOTH), tuple(images([each], of="tests") for each in (b"a", b"b"))
    data = Choices(names=("i",), alternatives=sides, answer=np.array([0]), question=question)
    wanted = {
        ("prompt", "paper"): near,
        ("prompt", "code"): near if code == paper else far,
        ("clip-iqa", "paper"): log_softmax([near, far], axis=0)[0],
        ("clip-iqa-tempered", "paper"): log_softmax(100 * np.array([near, far]), axis=0)[0],
    }
    for (quality, wording), scores in wanted.items():
        how = {"quality": quality, "wording": wording}
        (item,) = choice.run(model, data, how).items.to_dict("records")
        alone = [choice.judged(model, side, question=question, **how)[0] for side in sides]
        np.testing.assert_allclose([item["detail"]["scores"], alone], [scores] * 2, atol=1e-4)
        assert item["accuracy"] == (scores[0] > scores[1])


def test_metrics_compare_reference_and_alternative_in_that_order():
    data, *_ = made(3)
    seen = []

    def compare(first, second):
        seen.append((first[:1], second[:1]))
        return {b"a": 1, b"b": 3, b"c": 2}[second[:1]]

    items = choice.run(Known(abilities=("compare",), compare=compare), data, USUAL).items
    assert set(seen) == {(b"r", letter) for letter in (b"a", b"b", b"c")}
    assert items["accuracy"].mean() == np.mean(data.answer == 1)


def test_a_quality_needs_a_model_that_takes_prompts():
    data, *_ = made(2, question="quality")
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


def odd_of(k):
    data, known, others = made(k)
    odd = OddOneOut(names=data.names, members=data.alternatives, odd=data.answer)
    return odd, known, np.stack(others, axis=1)


@pytest.mark.parametrize("k", [3, 5])
def test_the_odd_one_is_the_one_least_like_the_others(k):
    """Of three, that is the one outside the most similar pair."""
    data, known, vectors = odd_of(k)
    items = odd_one_out.run(Known(known, abilities=("embed_image",)), data, {}).items
    for row in range(N):
        odd = cosine_similarity(vectors[row]).sum(axis=1).argmin()
        assert items["answer"][row] == "ABCDE"[odd] and items["accuracy"][row] == float(odd == data.odd[row])


def test_a_comparison_that_depends_on_the_order_counts_both_ways():
    scores = {b"ab": 5, b"ba": 0, b"ac": 2, b"ca": 2, b"bc": 3, b"cb": 3}
    model = Known(abilities=("compare",), compare=lambda first, second: scores[first[:1] + second[:1]])
    items = odd_one_out.run(model, odd_of(3)[0], {}).items
    assert set(items["answer"]) == {"A"}  # b with c gives 3, a with b gives 2.5, a with c gives 2
    assert items["detail"][0]["scores"] == [3, 2, 2.5]


def test_a_judge_is_asked_for_the_odd_one():
    data, _, _ = odd_of(3)
    found = odd_one_out.run(Known(abilities=("choose",), reply=lambda question: "(C) Image 3"), data, {})
    assert found.items["accuracy"].mean() == np.mean(data.odd == 2)
    assert found.settings["unread"] == 0 and found.settings["asked"] == N
