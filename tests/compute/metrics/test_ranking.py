"""Perfect, worst and degenerate; procedures/test_retrieval.py has trec_eval as its reference."""

import numpy as np
import pytest

from compute.metrics import ranking


def test_best_worst_and_nothing_to_find():
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
