"""Which pairs are said to be the most and the least alike."""

import numpy as np

from compute.analysis.correlation import extreme_pairs


def test_no_pair_is_extreme_by_its_correlation_alone():
    """A correlation of 0.99 over ten models is less sure than one of 0.95 over a thousand."""
    from compute.analysis.correlation import Correlation, interval

    r = np.array([[1.0, 0.99, 0.95], [0.99, 1.0, -0.2], [0.95, -0.2, 1.0]])
    n = np.array([[1000, 10, 1000], [10, 1000, 1000], [1000, 1000, 1000]])
    low, high = interval(r=r, n=n, method="spearman")
    extremes = extreme_pairs(correlation=Correlation(r=r, n=n, low=low, high=high), method="spearman")
    assert (extremes.most, extremes.least, extremes.pairs) == ((0, 2), (1, 2), 3)
    assert extreme_pairs(correlation=Correlation(r=r, n=n // 1000, low=low, high=high), method="spearman") is None
