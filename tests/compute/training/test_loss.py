"""Equation 1 and the term that keeps the base's similarities: closed forms, an independent reference."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from compute.training.loop import COMPARED, distance, hinge, spread


def unit(*degrees: float) -> torch.Tensor:
    """(n, 2) vectors of length 1 at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


def test_hinge_is_equation_1_written_out():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 40, 8))
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    y = rng.integers(0, 2, 40)
    by_hand = [
        max(0.0, (2 * y[i] - 1) * (vectors[0, i] @ vectors[1, i] - vectors[0, i] @ vectors[2, i]) + 0.05)
        for i in range(40)
    ]
    losses = hinge(*map(torch.from_numpy, vectors), preferred=torch.from_numpy(y), margin=0.05)
    assert losses.numpy() == pytest.approx(by_hand, abs=1e-12)


def test_distance_of_images_alone_is_of_their_similarities():
    """Two orthogonal vectors that fall together: cosine 0 -> 1, off the diagonal. A rotation changes none."""
    base = torch.eye(2)
    assert float(distance(base, base)) == 0
    assert float(distance(torch.stack([base[0], base[0]]), base)) == 1
    assert float(distance(unit(30.0, 120.0), base)) == pytest.approx(0, abs=1e-12)
    assert float(distance(base[:1], base[1:])) == 0  # a single image


def test_distance_with_captions_leaves_free_what_none_of_them_sees():
    """An image that turns away from the only caption costs the square of what its cosine loses; across it, nothing."""
    caption, across, further = torch.eye(3)[:, None]
    assert float(distance(across, caption, (caption, caption))) == 1
    assert float(distance(further, across, (caption, caption))) == 0
    assert float(distance(across, caption, (across, caption))) == 0  # both turned alike


def test_a_bounded_number_of_images_is_compared_evenly():
    chosen = spread(150)
    assert len(set(chosen)) == COMPARED and (chosen[0], chosen[-1]) == (0, 149)
    assert {at % 3 for at in chosen} == {0, 1, 2}
    assert spread(5) == [0, 1, 2, 3, 4] and spread(1) == [0]
