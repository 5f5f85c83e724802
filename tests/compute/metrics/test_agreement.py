"""Agreement with people: scipy's own quantities, ties, degenerate."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, somersd

from compute.metrics.agreement import correlation, rank_accuracy, squared_correlation
from compute.types import BadInput, Undefined


@pytest.mark.parametrize("seed", range(2))
def test_references(seed):
    rng = np.random.default_rng(seed)
    scores, human = rng.normal(size=(2, 12))
    assert correlation(scores=scores, human=human) == pytest.approx(pearsonr(scores, human).statistic)
    assert correlation(scores=[1, 2, 3], human=[0, 2, 1]) == pytest.approx(0.5)  # three are enough
    assert squared_correlation(scores=scores, human=human) == pytest.approx(pearsonr(scores, human).statistic ** 2)
    ranks, human_ranks = rng.permutation(12) + 1, rng.permutation(12) + 1
    tau = kendalltau(ranks, human_ranks).statistic
    assert rank_accuracy(ranks=ranks, human_ranks=human_ranks) == pytest.approx((tau + 1) / 2)
    tied, human_tied = rng.integers(1, 5, size=(2, 12))
    asymmetric = somersd(human_tied, tied).statistic  # leaves out pairs tied on its first argument
    assert rank_accuracy(ranks=tied, human_ranks=human_tied) == pytest.approx((asymmetric + 1) / 2)


@pytest.mark.parametrize("scores, human", [([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [5, 5, 5]), ([1, 2], [3, 4]), ([], [])])
def test_degenerate_correlation(scores, human):
    with pytest.raises(Undefined):
        squared_correlation(scores=scores, human=human)


@pytest.mark.parametrize("ranks", [[], [1], [1, 1, 1]])
def test_degenerate_ranks(ranks):
    with pytest.raises(Undefined):
        rank_accuracy(ranks=list(range(len(ranks))), human_ranks=ranks)


@pytest.mark.parametrize("first, second", [([1, 2, 3], [1, 2]), ([[1, 2]], [[1, 2]]), ([1, 2, np.nan], [1, 2, 3])])
def test_inputs_that_do_not_pair(first, second):
    with pytest.raises(BadInput):
        squared_correlation(scores=first, human=second)
    with pytest.raises(BadInput):
        rank_accuracy(ranks=first, human_ranks=second)
