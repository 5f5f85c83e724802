"""Choices, and the odd one out. References: scikit-learn's cosine_similarity with an arg max, scipy's log_softmax."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics.pairwise import cosine_similarity

from compute.content.items import images, texts
from compute.procedures import choice, evidence, odd_one_out
from compute.procedures.choice import OPPOSITES, PROCEDURE, PROMPTS
from compute.tasks.data import QUESTIONS, Choices, OddOneOut
from compute.types import CannotDo
from tests.compute.procedures.known import BOTH, Known, shown

USUAL = {name: values[0] for name, values in PROCEDURE.options.items()}
N = 40
PLACES = {"east": [1, 0], "north": [0, 1], "between": [0.6, 0.8]}
KNOWN = {word: vector for name, vector in PLACES.items() for word in (name, name.encode())}


def made(k, *, reference="image", question="reference"):
    rng = np.random.default_rng(k)
    first, *others = vectors = rng.standard_normal((k + 1, N, 8)).astype(np.float32)
    known = {}
    kinds = [reference, *["image"] * k]
    columns = [shown(*one, kind=kind, known=known) for *one, kind in zip(vectors, "rabcdefgh", kinds, strict=False)]
    data = Choices(
        names=tuple(f"i{row}" for row in range(N)),
        alternatives=tuple(columns[1:]),
        answer=rng.integers(0, k, N),
        question=question,
        reference=columns[0] if question == "reference" else None,
    )
    return data, known, first, others


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


def with_prompts(known):
    rng = np.random.default_rng(99)
    words = [*PROMPTS["paper"].values(), *PROMPTS["code"].values()]
    words += [word for two in OPPOSITES.values() for word in two]
    return known | {word: rng.standard_normal(8).astype(np.float32) for word in words}


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one != "reference"])
def test_a_quality_by_one_prompt_or_by_two(question):
    data, known, _, others = made(2, question=question)
    known = with_prompts(known)
    model = Known(known, abilities=BOTH)

    def cosines(prompt):
        return np.stack([cosine_similarity(one, known[prompt][None])[:, 0] for one in others], axis=1)

    good, bad = (cosines(prompt) for prompt in OPPOSITES[question])
    wanted = {
        ("prompt", "paper"): cosines(PROMPTS["paper"][question]),
        ("prompt", "code"): cosines(PROMPTS["code"][question]),
        ("clip-iqa", "paper"): log_softmax(np.stack([good, bad]), axis=0)[0],
        ("clip-iqa-tempered", "paper"): log_softmax(100 * np.stack([good, bad]), axis=0)[0],
    }
    for (quality, wording), scores in wanted.items():
        items = choice.run(model, data, {"quality": quality, "wording": wording}).items
        np.testing.assert_allclose(np.array([detail["scores"] for detail in items["detail"]]), scores, atol=1e-4)
        order = scores if quality == "prompt" else good - bad  # as the softmax does, without its rounding
        assert items["accuracy"].mean() == np.mean(order.argmax(axis=1) == data.answer)
        alone = [
            choice.judged(model, column, question=question, quality=quality, wording=wording)
            for column in data.alternatives
        ]
        np.testing.assert_allclose(np.stack(alone, axis=1), scores, atol=1e-4)


def test_metrics_compare_reference_and_alternative_in_that_order():
    data, _, _, _ = made(3)
    seen = []

    def compare(first, second):
        seen.append((first[:1], second[:1]))
        return {b"a": 1, b"b": 3, b"c": 2}[second[:1]]

    items = choice.run(Known(abilities=("compare",), compare=compare), data, USUAL).items
    assert set(seen) == {(b"r", letter) for letter in (b"a", b"b", b"c")}
    assert items["accuracy"].mean() == np.mean(data.answer == 1)


def test_a_quality_needs_a_model_that_takes_prompts():
    data, _, _, _ = made(2, question="quality")
    with pytest.raises(CannotDo, match="quality"):
        choice.run(Known(abilities=("compare",), compare=lambda first, second: 1), data, USUAL)


def test_a_judge_is_asked_and_only_what_can_be_read_counts():
    data, _, _, _ = made(2, reference="text")
    told = ["(A) Image 1", "(B) Image 2", "I would rather not say", {"error": "cut off"}] * (N // 4)
    model = Known(abilities=("choose",), reply=lambda question: told[int(question.item[1:])])
    found = choice.run(model, data, USUAL)
    items = found.items
    tokens = {"input_tokens": 7 * 30, "output_tokens": 2 * 30}
    assert found.settings == tokens | {"asked": N, "unread": N // 4, "errors": N // 4}
    answered = np.arange(N) % 4 < 2
    assert items["accuracy"].notna().tolist() == answered.tolist()
    assert items["accuracy"][answered].mean() == np.mean(np.arange(N)[answered] % 4 == data.answer[answered])
    assert items["correct"].iloc[2] is None and items["value"].isna().iloc[2]
    assert set(items["value"].dropna()) == {1, -1}
    assert items["answer"].iloc[:4].tolist() == ["A", "B", "I would rather not say", "cut off"]
    assert items["detail"][1]["reply"] == "(B) Image 2" and items["detail"][1]["texts"] == ["r1"]
    assert [question.item for question in model.asked] == list(data.names)


# ---- the odd one out


def odd_of(k):
    data, known, _, others = made(k)
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
