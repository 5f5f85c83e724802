"""References: plain arithmetic on every pair."""

import math
from dataclasses import replace

import numpy as np
import pytest

from compute.content.messages import LENGTH, REFUSAL
from compute.procedures import judging
from compute.procedures.judging import PROCEDURE
from compute.types import CannotDo, Undefined
from tests.compute.procedures.known import BOTH, Known
from tests.compute.procedures.pairs import rated_pairs

USUAL = {name: values[0] for name, values in PROCEDURE.options.items()}
READERS = PROCEDURE.options["reader"]


def vector(content):
    """Of a source east; what is transformed lies between, what is irrelevant north, but its first two variants east."""
    name, _, number = (content if isinstance(content, str) else content.decode()).partition("#")
    if number:
        return [0, 1] if name.endswith("irrelevant") and int(number) > 1 else [1, 0]
    return {"transformed": [0.6, 0.8], "irrelevant": [0, 1]}.get(name.partition("/")[2], [1, 0])


def encoder(pairs, *, abilities=BOTH):
    columns = (pairs.first, pairs.second, *pairs.first_variants, *pairs.second_variants)
    contents = [column.read(row) for column in columns for row in range(len(column))]
    return Known({content: vector(content) for content in contents}, abilities=abilities)


def rounded(share):
    """A share 0..1 of the way from 1 to 10."""
    return math.floor(1 + 9 * min(max(share, 0), 1) + 0.5)


@pytest.mark.parametrize("cosine, low, expected", [("-1..1", -1, [10, 8, 6]), ("0..1", 0, [10, 6, 1])])
@pytest.mark.parametrize("second", ["image", "text"])
def test_an_encoders_cosines_become_scores(cosine, low, expected, second):
    """Of 1, 0.6 and 0."""
    pairs = rated_pairs(1, second=second, transformations=("position",))
    found = judging.run(encoder(pairs), pairs, USUAL | {"cosine": cosine})
    assert found.items["forward"].tolist() == found.items["reverse"].tolist() == expected
    assert found.settings["scale"]["from"] == [low, 1] and found.settings["unequal"] == 0


@pytest.mark.parametrize("k, expected", [(2, [10, 10, 10]), (5, [10, 10, 8])])
def test_the_invariant_condition_averages_representations(k, expected):
    """Two of five are east and three north: a cosine of 0.55."""
    pairs = rated_pairs(1, condition="invariant")
    found = judging.run(encoder(pairs), pairs, USUAL | {"k": k})
    assert found.items["forward"].tolist() == found.items["reverse"].tolist() == expected
    assert found.settings["applications"] == k


def test_no_prompt_and_nothing_to_apply():
    """Position cannot be applied to an image: an encoder answers as under the other condition, and the run says so."""
    sensitive, invariant = (
        rated_pairs(3, condition=condition, transformations=("position",), k=0)
        for condition in ("sensitive", "invariant")
    )
    model = encoder(sensitive)
    one, other = (judging.run(model, pairs, USUAL) for pairs in (sensitive, invariant))
    assert one.items["forward"].tolist() == other.items["forward"].tolist()
    assert other.settings["applications"] == 0 and other.settings["not applied"] == ["position"]
    both = rated_pairs(3, condition="invariant", transformations=("position", "rotate"))
    assert judging.run(encoder(both), both, USUAL).settings["not applied"] == ["position"]


@pytest.mark.parametrize("abilities", [("embed_image",), ("compare",)])
def test_missing_applications_are_named(abilities):
    pairs = rated_pairs(2, condition="invariant", k=3)
    model = encoder(pairs, abilities=abilities)
    with pytest.raises(CannotDo, match="5 random applications of rotate .* have 3"):
        judging.run(model, pairs, USUAL)
    if "embed_image" in abilities:
        assert judging.run(model, pairs, USUAL | {"k": 3}).settings["applications"] == 3


def lengths(first, second):
    """Not symmetric: how much longer the second content is."""
    return float(len(second) - 2 * len(first))


def test_a_metric_compares_both_orders():
    pairs = rated_pairs(4)
    found = judging.run(Known(abilities=["compare"], compare=lengths), pairs, USUAL)
    read = [[side.read(row) for row in range(12)] for side in (pairs.first, pairs.second)]
    numbers = np.array([list(map(lengths, *sides)) for sides in (read, read[::-1])])
    low, high = np.percentile(numbers, [5, 95])
    expected = [[rounded((number - low) / (high - low)) for number in row] for row in numbers]
    assert found.items[["forward", "reverse"]].to_numpy().T.tolist() == expected
    assert found.settings["unequal"] == 12 and found.settings["scale"]["from"] == [low, high]
    assert "quantiles" in found.settings["scale"]["ends"]
    assert [detail["numbers"] for detail in found.items["detail"]] == numbers.T.tolist()


def test_a_metric_with_bounds_has_them_as_the_ends_of_the_scale():
    pairs = rated_pairs(1)
    model = Known(abilities=["compare"], compare=lambda first, second: {12: 1.0, 14: 0.25}.get(len(second), -0.5))
    model.row = replace(model.row, adapter="ssim")
    found = judging.run(model, pairs, USUAL)
    assert found.settings["scale"]["from"] == [-1, 1] and found.settings["scale"]["ends"] == "bounds of the score"
    assert found.items["forward"].tolist() == [10, 7, 3]  # 1 + 9 * (1, 0.625, 0.25), rounded
    by_quantiles = judging.run(model, pairs, USUAL | {"scale": "quantiles"})
    assert by_quantiles.settings["scale"]["from"] != [-1, 1]


# ---- in words


def judge(reply):
    return Known(abilities=["choose"], reply=reply)


def test_a_judge_is_asked_both_orders_at_once():
    pairs = rated_pairs(3)

    def reply(question):
        first, second = (part.read() for part in question.parts if not isinstance(part, str))
        return f"Score: {9 if len(first) < len(second) else 4}\nReason: x"

    found = judging.run(judge(reply), pairs, USUAL)
    assert found.items["forward"].tolist() == [9.0] * 9 and found.items["reverse"].tolist() == [4.0] * 9
    assert found.items["value"].tolist() == [5.0] * 9 and found.items["answer"].tolist() == ["9 | 4"] * 9
    assert (found.settings["asked"], found.settings["input_tokens"]) == (18, 126)
    detail = found.items["detail"][1]
    assert detail["replies"] == ["Score: 9\nReason: x", "Score: 4\nReason: x"] and len(detail["images"]) == 2


def test_answers_without_a_score_are_counted_by_reason_and_never_scored():
    """The lenient reader says what it adds."""
    replies = [
        "Score: 0\nReason: no correlation",
        "Score: 7.5",
        "I'm sorry, I can't help with that.",
        {"finish": REFUSAL},
        {"text": "Score: 1", "finish": LENGTH},
        "8",
        "Score: 8\nScore: 9",
        "They look alike.",
        "Score: 3",
    ]
    following = iter(replies * 4)  # both orders
    model = judge(lambda question: next(following))
    found, lenient = (judging.run(model, rated_pairs(3), USUAL | {"reader": reader}) for reader in READERS)
    assert found.items["forward"].notna().tolist() == [False] * 8 + [True]
    assert found.items["answer"].tolist() == ["no score | no score"] * 8 + ["3 | 3"]
    counted = {"asked": 18, "errors": 0, "refused": 4, "truncated": 2, "invalid": 10}
    reasons = {"missing": 4, "not an integer": 2, "out of range": 2, "several": 2}
    assert found.settings.items() >= {**counted, "reasons": reasons}.items()
    assert found.items["detail"][0]["problems"] == ["out of range", "out of range"]
    assert found.items["value"].isna().sum() == 8
    read = ["no score | no score"] * 9
    read[1], read[5], read[8] = "8 | 8", "8 | 8", "3 | 3"
    assert lenient.items["answer"].tolist() == read
    assert (lenient.settings["reader"], lenient.settings["added"], lenient.settings["invalid"]) == ("lenient", 4, 6)


def test_a_judge_that_never_scores_is_quoted_and_one_that_is_not_reached_has_no_score():
    said = iter(["I cannot compare.", "Alike.", "Score: 7.5", "Score: 0"] * 3)
    quoted = r"none of known's 12 replies states a score .*'I cannot compare.', 'Score: 7.5', 'Alike.'\."
    with pytest.raises(Undefined, match=quoted):
        judging.run(judge(lambda question: next(said)), rated_pairs(2), USUAL)
    with pytest.raises(Undefined, match="none of known's 12 replies came: status 503"):
        judging.run(judge(lambda question: {"error": "status 503"}), rated_pairs(2), USUAL)
    half = judge(lambda question: {"error" if "reverse" in question.item else "text": "Score: 7"})
    with pytest.raises(Undefined, match="no pair"):
        judging.run(half, rated_pairs(2), USUAL)
