"""Cosines between two grids of patches: closed forms, symmetry, and what has no answer."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from compute.analysis.maps.patches import contrast, reduced, similarities


def grid(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_cosines_in_closed_form():
    first = np.array([[[1, 0], [0, 2]]])  # one row, two columns
    second = np.array([[[3, 4]], [[-1, 0]], [[0, 0]]])
    np.testing.assert_allclose(similarities(first=first, second=second), [[0.6, -1, 0], [0.8, 0, 0]])


def test_cosines_are_symmetric_and_know_no_length():
    first, second = grid(3, 3, 7), grid(2, 5, 7, seed=1)
    found = similarities(first=first, second=second)
    np.testing.assert_allclose(found, similarities(first=second, second=first).T, atol=1e-12)
    np.testing.assert_allclose(found, similarities(first=first * 40, second=second / 3), atol=1e-12)
    assert abs(found).max() <= 1


def test_a_grid_is_reduced_to_means_of_unit_tokens():
    first = grid(4, 6, 3)
    unit = first / np.linalg.norm(first, axis=2, keepdims=True)
    expected = unit.reshape(2, 2, 2, 3, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(reduced(grid=first, most=2), expected, atol=1e-12)
    np.testing.assert_allclose(reduced(grid=first, most=1)[0, 0], unit.mean(axis=(0, 1)), atol=1e-12)


def test_a_patch_between_two_new_ones_counts_in_both_by_its_parts():
    """Three patches into two: the middle one by halves."""
    first = np.eye(3)[None]
    np.testing.assert_allclose(reduced(grid=first, most=2)[0], [[2 / 3, 1 / 3, 0], [0, 1 / 3, 2 / 3]], atol=1e-12)


def test_contrast_is_the_rank_among_all_pairs():
    """Reference: scipy's mean ranks, brought to 0..1."""
    values = np.round(grid(9, 12), 1)  # with ties
    expected = (rankdata(values).reshape(values.shape) - 1) / (values.size - 1)
    np.testing.assert_allclose(contrast(similarities=values), expected, atol=1e-12)
    assert contrast(similarities=values).min() >= 0
    np.testing.assert_array_equal(contrast(similarities=[[0.2, 0.9], [0.5, 0.3]]), np.array([[0, 3], [2, 1]]) / 3)


def test_where_all_are_alike_nothing_stands_out():
    np.testing.assert_array_equal(contrast(similarities=np.full((3, 4), 0.97)), np.full((3, 4), 0.5))
    np.testing.assert_array_equal(contrast(similarities=[[0.3]]), [[0.5]])
