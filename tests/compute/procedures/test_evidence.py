"""References: averages over drawn ties, and rows counted by hand."""

import numpy as np

from compute.procedures import evidence


def test_margins():
    scores = np.array([[3.0, 1, 2], [1, 3, 2], [2, 2, 0], [np.inf, 1, 1], [np.inf, np.inf, 0], [1, np.inf, 0]])
    right = evidence.one_hot(np.zeros(6, dtype=int), 3)
    assert evidence.margin(scores, right).tolist() == [1, -2, 0, np.inf, 0, -np.inf]
