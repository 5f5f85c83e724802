"""Ranks, against SciPy's."""

import numpy as np
import pytest
from scipy.stats import rankdata

from compute.arrays import ranks


@pytest.mark.parametrize("ties", ["average", "min"])
@pytest.mark.parametrize("shape", [(1,), (7,), (200,), (50, 3), (1, 4), (30, 1), (5, 4, 3)])
def test_ranks_are_scipys(shape, ties):
    """Reference: scipy.stats.rankdata, with many ties and with infinities."""
    rng = np.random.default_rng(3)
    for values in (rng.integers(0, 4, shape).astype(float), rng.normal(size=shape)):
        values.flat[0] = np.inf
        np.testing.assert_array_equal(ranks(values, ties=ties), rankdata(values, method=ties, axis=0))
