"""One judge from its stored pairs: closed forms, sentences, examples, and what it took."""

import json
from types import SimpleNamespace

import pytest

from leaderboard.pages.judges import diagnosis

PAIRS = 7 * 2 * 12 * 3  # splits, conditions, sources, types


def diagnosed(stand_in_suite_cache, model):
    found = diagnosis.diagnose(stand_in_suite_cache, "mini-pairs", model)
    return SimpleNamespace(**found)


def test_a_judge_that_leans_to_an_order(stand_in_suite_cache):
    """Two of three pairs lose two or four points when reversed; a twelfth is refused."""
    judge = diagnosed(stand_in_suite_cache, "example/leaning")
    assert (judge.scored, judge.flipped, judge.far) == (PAIRS * 11 // 12, PAIRS * 22 // 36, PAIRS * 22 // 36)
    assert not isinstance(judge.bias, str)
    # Of the 11 sources that are not refused 6 are even (two points) and 5 odd (four points).
    assert judge.bias.value == pytest.approx((6 * 2 + 5 * 4) / 11 * 2 / 3)
    assert judge.bias.low is not None and 0 < judge.bias.low < judge.bias.value
    assert judge.problems["invalid"].value == judge.problems["refused"].value == pytest.approx(1 / 12)
    assert judge.problems["truncated"].value == 0
    epsilon = [figure.value for figure in judge.curve]
    assert epsilon[1] == pytest.approx(11 / 36) and epsilon[2] == pytest.approx((11 + 12) / 36)
    assert epsilon[9] == pytest.approx(11 / 12)
    text = " ".join(diagnosis.reading(vars(judge)))
    assert "308 of 462 pairs get another score when the order is reversed, 308 of them by more than one point." in text
    assert "higher when the original comes first." in text and "8.3% of its answers have no score." in text


def test_the_largest_differences_come_first_with_pictures_and_replies(stand_in_suite_cache):
    judge = diagnosed(stand_in_suite_cache, "example/leaning")
    gaps = [abs(flip["forward"] - flip["reverse"]) for flip in judge.flips]
    assert len(gaps) == diagnosis.EXAMPLES and gaps[0] == 4 and gaps == sorted(gaps, reverse=True)
    for flip in judge.flips:
        assert len(flip["images"]) == 2 and all(flip["images"])
        told = [reply.partition("\n")[0] for reply in flip["replies"]]
        assert told == [f"Score: {flip[order]}" for order in ("forward", "reverse")]


def recorded(*, seconds=None, stored=10, **parts):
    """One run of 10 pairs as the query `judged_runs` gives it."""
    return [{"settings": json.dumps({"found": parts}), "seconds": seconds, "total": 10, "stored": stored}]


def test_effort_is_over_the_answers_that_state_it():
    whole = {"asked": 20, "errors": 0, "seconds": 10.0, "cost": 1.0}
    partly = {"asked": 20, "errors": 0, "in_part": {"cost": {"at_least": 1.0, "replies": 4, "of": 20}}}
    both = diagnosis.effort(recorded(sensitive=whole, invariant=partly))
    assert both == {"seconds": pytest.approx(1000), "cost": pytest.approx(2 / 12 * 1000)}
    silent = diagnosis.effort(recorded(seconds=100.0, default={"asked": 20, "errors": 0}))
    assert silent == {"seconds": None, "cost": None}  # a run resumed from stored answers takes no time
    no_prompt = diagnosis.effort(recorded(seconds=3.0, stored=6, default={"numbers": "cosine"}))
    assert no_prompt == {"seconds": 500, "cost": None}  # the run's time over its pairs
