"""References: pytrec_eval (trec_eval's own code), scikit-learn's average_precision_score, definitions written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import average_precision_score

from compute.metrics import ranking

MEASURES = {"ndcg_cut.5,10", "map", "map_cut.5", "success.1,3,10", "recip_rank"}


@pytest.fixture(scope="module")
def judged() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Scores of few values, so with many ties, and grades 0..3 of 40 queries and 60 documents."""
    rng = np.random.default_rng(3)
    names = [f"d{number}" for number in rng.permutation(200)[:60]]  # of several lengths: names sort as text
    grades = np.where(rng.random((40, 60)) < 0.15, rng.integers(1, 4, (40, 60)), 0)
    grades[:, 0] = np.maximum(grades[:, 0], 1)
    return (rng.integers(0, 6, (40, 60)) / 4).astype(np.float32), grades, names


def gains_of(scores: np.ndarray, grades: np.ndarray, names: list[str]) -> np.ndarray:
    """Grades in the order of falling scores, equal ones by falling name."""
    by_name = np.argsort(names)[::-1]
    order = by_name[np.argsort(-scores[:, by_name], axis=1, kind="stable")]
    return np.take_along_axis(grades, order, axis=1).astype(np.float32)


def test_trec_eval_gives_the_same_figures_ties_included(judged) -> None:
    scores, grades, names = judged
    truth = {
        f"q{query}": {name: int(grade) for name, grade in zip(names, row, strict=True)}
        for query, row in enumerate(grades)
    }
    run = {
        f"q{query}": {name: float(score) for name, score in zip(names, row, strict=True)}
        for query, row in enumerate(scores)
    }
    wanted = pytrec_eval.RelevanceEvaluator(truth, MEASURES).evaluate(run)
    gains, relevant = gains_of(scores, grades, names), (grades > 0).sum(axis=1)
    query, document = np.nonzero(grades)
    found = {
        **{
            f"ndcg_cut_{at}": ranking.ndcg(
                gains, at=at, ideal=ranking.ideal_dcg(query=query, grade=grades[query, document], queries=40, at=at)
            )
            for at in (5, 10)
        },
        "map": ranking.average_precision(gains, relevant=relevant),
        "map_cut_5": ranking.average_precision(gains, relevant=relevant, at=5),
        **{f"success_{at}": ranking.hit_rate(gains, relevant=relevant, at=at) for at in (1, 3, 10)},
        "recip_rank": ranking.reciprocal_rank(gains, relevant=relevant),
    }
    for measure, values in found.items():
        expected = [wanted[f"q{query}"][measure] for query in range(40)]
        np.testing.assert_allclose(values, expected, atol=1e-9, rtol=0, err_msg=measure)
        assert np.std(values) > 0, measure


def test_another_order_of_ties_would_be_noticed(judged) -> None:
    scores, grades, names = judged
    gains, relevant = gains_of(scores, grades, names), (grades > 0).sum(axis=1)
    forward = gains_of(scores, grades, [name[::-1] for name in names])
    assert (
        np.abs(
            ranking.average_precision(gains, relevant=relevant) - ranking.average_precision(forward, relevant=relevant)
        ).max()
        > 0.01
    )


def test_definitions_written_out() -> None:
    gains, relevant = np.array([[0, 2, 0, 1, 0, 0]], dtype=float), np.array([3])
    ideal = ranking.ideal_dcg(query=np.zeros(3, dtype=int), grade=np.array([1.0, 3, 2]), queries=1, at=5)
    assert ideal[0] == pytest.approx(3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4))
    assert ranking.ndcg(gains, ideal=ideal, at=5)[0] == pytest.approx((2 / math.log2(3) + 1 / math.log2(5)) / ideal[0])
    assert ranking.average_precision(gains, relevant=relevant)[0] == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert ranking.average_precision(gains, relevant=relevant, at=2)[0] == pytest.approx(1 / 2 / 3)
    assert ranking.hit_rate(gains, relevant=relevant, at=1)[0] == 0
    assert ranking.hit_rate(gains, relevant=relevant, at=2)[0] == 1
    assert ranking.reciprocal_rank(gains, relevant=relevant)[0] == pytest.approx(1 / 2)
    assert ranking.reciprocal_rank(gains, relevant=relevant, at=1)[0] == 0


def test_scikit_learn_gives_the_same_average_precision_without_ties() -> None:
    rng = np.random.default_rng(1)
    relevant = rng.random((20, 50)) < 0.2
    relevant[:, 7] = True
    scores = rng.permuted(np.tile(np.arange(50.0), (20, 1)), axis=1)
    gains = np.take_along_axis(relevant, np.argsort(-scores, axis=1), axis=1).astype(float)
    wanted = [average_precision_score(truth, values) for truth, values in zip(relevant, scores, strict=True)]
    np.testing.assert_allclose(ranking.average_precision(gains, relevant=relevant.sum(axis=1)), wanted, atol=1e-12)


def trapezoids(places: list[int], count: int) -> float:
    """The revisited protocol as it is published: steps of recall times the mean precision before and after each hit."""
    total = 0.0
    for found, place in enumerate(places):
        before = 1.0 if place == 0 else found / place
        after = (found + 1) / (place + 1)
        total += (before + after) / 2 / count
    return total


def test_the_revisited_average_precision_is_the_published_definition() -> None:
    rng = np.random.default_rng(2)
    gains = (rng.random((30, 80)) < 0.1).astype(float)
    gains[0], gains[1] = 0, 0
    gains[1, :3] = 1
    relevant = gains.sum(axis=1).astype(int) + rng.integers(0, 3, 30)
    relevant[1] = 3
    found = ranking.trapezoid_average_precision(gains, relevant=relevant)
    for row, count, value in zip(gains, relevant, found, strict=True):
        if count:
            assert value == pytest.approx(trapezoids(np.flatnonzero(row).tolist(), int(count)), abs=1e-12)
        else:
            assert np.isnan(value)
    assert found[1] == 1
    # Between scikit-learn's rectangles and the same with each hit's precision before it: their mean.
    order = np.arange(80, 0, -1.0)
    whole = gains[2:12]
    rectangles = np.array([average_precision_score(row, order) for row in whole])
    before = np.array(
        [np.mean([found / place if place else 1.0 for found, place in enumerate(np.flatnonzero(row))]) for row in whole]
    )
    np.testing.assert_allclose(
        ranking.trapezoid_average_precision(whole, relevant=whole.sum(axis=1).astype(int)), (rectangles + before) / 2
    )


def test_best_worst_and_nothing_to_find() -> None:
    best, worst = np.array([[1.0, 1, 0, 0]]), np.array([[0.0, 0, 0, 0]])
    two, none = np.array([2]), np.array([0])
    ideal = ranking.ideal_dcg(query=np.array([0, 0]), grade=np.array([1, 1]), queries=1, at=10)
    for function in (ranking.average_precision, ranking.trapezoid_average_precision, ranking.reciprocal_rank):
        assert function(best, relevant=two)[0] == 1
        assert function(worst, relevant=two)[0] == 0
        assert np.isnan(function(worst, relevant=none)[0])
        assert function(np.zeros((1, 0)), relevant=two)[0] == 0
    assert ranking.ndcg(best, ideal=ideal, at=10)[0] == pytest.approx(1)
    assert ranking.ndcg(worst, ideal=ideal, at=10)[0] == 0
    assert np.isnan(ranking.ndcg(worst, ideal=np.zeros(1), at=10)[0])
    assert np.isnan(ranking.hit_rate(worst, relevant=none, at=3)[0])
