"""Agreement with people: perfect, worst, closed form, ties, degenerate, and scipy's own quantities."""

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, somersd

from compute.metrics.agreement import correlation, rank_accuracy, squared_correlation
from compute.types import BadInput, LikenessError, Undefined


def test_closed_forms():
    """Perfect, worst, and deviations (-1, 0, 1) and (-1, 1, 0): covariance 1, both variances 2, so r = 1/2."""
    for human, r in (([10, 20, 30], 1), ([30, 20, 10], -1), ([0, 2, 1], 0.5)):
        assert correlation(scores=[1, 2, 3], human=human) == pytest.approx(r)
        assert squared_correlation(scores=[1, 2, 3], human=human) == pytest.approx(r**2)
    assert squared_correlation(scores=[1, -1, -1, 1], human=[1, 2, 3, 4]) == pytest.approx(0, abs=1e-12)
    for ranks, share in (([1, 2, 3], 1), ([3, 2, 1], 0), ([2, 1, 3], 2 / 3)):
        assert rank_accuracy(ranks=ranks, human_ranks=[1, 2, 3]) == pytest.approx(share)


@pytest.mark.parametrize("seed", range(2))
def test_references(seed):
    rng = np.random.default_rng(seed)
    scores, human = rng.normal(size=(2, 12))
    assert correlation(scores=scores, human=human) == pytest.approx(pearsonr(scores, human).statistic)
    assert correlation(scores=scores, human=human) == pytest.approx(np.corrcoef(scores, human)[0, 1])
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
    assert issubclass(BadInput, LikenessError)
    with pytest.raises(BadInput):
        correlation(scores=first, human=second)
    with pytest.raises(BadInput):
        rank_accuracy(ranks=first, human_ranks=second)
