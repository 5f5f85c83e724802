"""References: averages over drawn ties, and rows counted by hand."""

from __future__ import annotations

import numpy as np

from compute.procedures import evidence


def test_a_tie_is_worth_what_drawing_among_the_best_is_on_average() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (50, 4)).astype(float)
    right = evidence.one_hot(rng.integers(0, 4, 50), 4)
    noisy = (scores + 0.1 * rng.random((4000, 50, 4))).argmax(axis=2)
    drawn = right[np.arange(50), noisy].mean(axis=0)
    np.testing.assert_allclose(evidence.credit(scores, right), drawn, atol=0.04)


def test_margins() -> None:
    scores = np.array([[3.0, 1, 2], [1, 3, 2], [2, 2, 0], [np.inf, 1, 1], [np.inf, np.inf, 0], [1, np.inf, 0]])
    right = evidence.one_hot(np.zeros(6, dtype=int), 3)
    assert evidence.margin(scores, right).tolist() == [1, -2, 0, np.inf, 0, -np.inf]
