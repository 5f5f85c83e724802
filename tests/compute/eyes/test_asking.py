"""The order of a rater's questions, and the probability of each to be asked, against many seeds."""

from itertools import islice

import numpy as np
import pytest

from compute.eyes import asking
from compute.eyes.asking import DISAGREEMENT, EARLY, REPEAT, UNIFORM
from tests.compute.eyes.studies import judgments, study


def pool(count, *, of_chance=None):
    chance = np.random.default_rng(0).random(count) if of_chance is None else np.full(count, of_chance)
    return study({"a": [0] * count}, chance)


@pytest.mark.parametrize("early", [0, 5, 300])
@pytest.mark.parametrize("of_chance", [None, 0.0, 1.0])
@pytest.mark.parametrize("count", [1, 7, 200])
def test_every_question_is_asked_once_and_a_tenth_again_with_its_sides_swapped(count, of_chance, early):
    of = pool(count, of_chance=of_chance)
    order = list(asking.order(of, seed=5, early=early))
    assert order == list(asking.order(of, seed=5, early=early))
    new = [each for each in order if each.draw != REPEAT]
    assert sorted(each.question for each in new) == list(range(count)) and len(order) - len(new) == count // 9
    assert [each.draw == EARLY for each in new] == [at < early for at in range(count)]
    assert of_chance != 0 or DISAGREEMENT not in {each.draw for each in new}
    for at, again in enumerate(order):
        if again.draw == REPEAT:
            (first,) = (each for each in order[:at] if each.question == again.question)
            assert first.draw != DISAGREEMENT and first.left == 1 - again.left and 5 <= at - order.index(first) <= 9
    assert asking.early(of, judgments(of, [0] * count, count=len(order), early=early)) == min(early, count)
    assert asking.early(of.model_copy(update={"chance": []})) == count  # no model has picked yet


def test_the_two_draws_take_turns_and_seeds_differ():
    orders = [list(islice(asking.order(pool(400), seed=seed), 40)) for seed in range(50)]
    for order in orders:
        draws = [each.draw for each in order if each.draw != REPEAT]
        assert all({*pair} == {UNIFORM, DISAGREEMENT} for pair in zip(draws[::2], draws[1::2], strict=True))
    assert len({tuple(each.question for each in order) for order in orders}) == 50
    assert np.mean([each.left for order in orders for each in order]) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("asked, early", [(20, 0), (60, 0), (40, 15)])
def test_the_probability_of_a_question_is_the_share_of_raters_who_are_asked_it(asked, early):
    """Of 2,000 seeds; and the uniform questions are a uniform draw."""
    of, seeds = pool(80), 2000
    was_asked, uniform, probability = np.zeros((3, seeds, 80))
    for seed in range(seeds):
        order = list(islice(asking.order(of, seed=seed, early=early), asked))
        answered = {each.question for each in order}
        uniform[seed], probability[seed] = asking.drawn(of, order, seed=seed, answered=answered)
        was_asked[seed, list(answered)] = 1
        assert set(np.flatnonzero(uniform[seed])) <= answered
    share, expected = was_asked.mean(axis=0), probability.mean(axis=0)
    assert share == pytest.approx(expected, abs=0.05)
    for values in (share - expected, uniform.mean(axis=0)):
        assert np.polyfit(of.chance, values, 1)[0] == pytest.approx(0, abs=0.015)


def test_the_chance_of_a_question_is_the_share_of_pairs_of_models_that_differ():
    """Four models, so at most 4 of 6 pairs differ; one without a pick differs from none."""
    picks = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, -1], [0, 1, 1, 1]])
    assert asking.chances(picks) == pytest.approx([0, 1, 0.75, 0.5])
    assert asking.chances(np.array([[0, 1], [0, 1]])).tolist() == [0, 0]
