import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from compute.analysis.correlation import METHODS, Correlation, correlate, extreme_pairs, interval, order
from compute.types import BadInput

NAN = np.nan
REFERENCE = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}


def table(*, models=31, tasks=14, missing=0.0, decimals=1, seed=0):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(models, 1)) + rng.normal(size=(models, tasks)), decimals)
    scores[rng.random(scores.shape) < missing] = NAN
    return scores


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("models, tasks, missing", [(31, 14, 0.25), (31, 14, 0.7), (211, 3, 0.1)])
def test_every_cell_against_scipy_with_ties_and_gaps(method, models, tasks, missing):
    """Of 211 models the pairs are cut into blocks."""
    scores = table(models=models, tasks=tasks, missing=missing)
    found = correlate(scores=scores, method=method)
    for a, b in itertools.combinations(range(scores.shape[1]), 2):
        both = ~np.isnan(scores[:, a] + scores[:, b])
        assert found.n[a, b] == both.sum()
        x, y = scores[both, a], scores[both, b]
        if both.sum() < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
            assert np.isnan(found.r[a, b])
        else:
            assert_allclose(found.r[a, b], REFERENCE[method](x, y)[0], atol=1e-12)
    assert_array_equal(found.r, found.r.T)


def test_intervals_have_their_closed_forms():
    z, half = np.arctanh(0.6), 1.959963984540054
    for method, variance in (("spearman", 1.18 / 27), ("kendall", 0.437 / 26), ("pearson", 1 / 27)):
        low, high = interval(r=0.6, n=30, method=method)
        assert_allclose([low, high], np.tanh(z + np.array([-1, 1]) * half * np.sqrt(variance)))
    assert np.isnan(interval(r=[1.0, -1.0], n=[9, 9], method="pearson")).all()  # no width is not no noise
    assert np.isnan(interval(r=0.6, n=4, method="kendall")).all()
    assert np.isnan(interval(r=NAN, n=30, method="spearman")).all()


def test_unknown_method_is_refused():
    with pytest.raises(BadInput, match="kendall"):
        correlate(scores=[[1.0, 2.0]], method="tau")


def test_order_with_undefined_cells_rows_and_small_tables():
    r = correlate(scores=table(missing=0.4, models=12), method="spearman").r
    r[3] = r[:, 3] = NAN
    found = order(matrix=r)
    assert_array_equal(np.sort(found), np.arange(len(r)))
    assert found[-1] == 3 and np.isnan(r).sum() > 2 * len(r)
    assert_array_equal(order(matrix=np.full((3, 3), NAN)), [0, 1, 2])
    assert_array_equal(order(matrix=[[1.0]]), [0])
    assert_array_equal(order(matrix=np.zeros((0, 0))), [])


def test_no_pair_is_extreme_by_its_correlation_alone():
    """A correlation of 0.99 over ten models is less sure than one of 0.95 over a thousand."""
    r = np.array([[1.0, 0.99, 0.95], [0.99, 1.0, -0.2], [0.95, -0.2, 1.0]])
    n = np.array([[1000, 10, 1000], [10, 1000, 1000], [1000, 1000, 1000]])
    low, high = interval(r=r, n=n, method="spearman")
    extremes = extreme_pairs(correlation=Correlation(r=r, n=n, low=low, high=high), method="spearman")
    assert (extremes.most, extremes.least, extremes.pairs) == ((0, 2), (1, 2), 3)
    assert extreme_pairs(correlation=Correlation(r=r, n=n // 1000, low=low, high=high), method="spearman") is None
