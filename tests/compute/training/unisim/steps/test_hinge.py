"""Equation 1: closed forms, its margin, and a loop in numpy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from compute.training.unisim.steps.hinge import hinge


def unit(*degrees: float) -> torch.Tensor:
    """(n, 2) vectors of length 1 at these angles."""
    radians = torch.tensor(degrees).deg2rad()
    return torch.stack([radians.cos(), radians.sin()], dim=1)


def test_it_is_zero_beyond_the_margin_and_the_margin_for_equal_alternatives() -> None:
    reference, near, far = unit(0.0, 0.0, 0.0), unit(0.0, 0.0, 60.0), unit(90.0, 0.0, 0.0)
    preferred = torch.tensor([0, 0, 1])
    losses = hinge(reference, near, far, preferred=preferred, margin=0.05)
    # cos 0 - cos 90 = 1 wins by more; equal; and cos 0 - cos 60 = 0.5 wins for the second
    assert losses.tolist() == pytest.approx([0.0, 0.05, 0.0])
    assert hinge(reference, near, far, preferred=1 - preferred, margin=0.05).tolist() == pytest.approx(
        [1.05, 0.05, 0.55], abs=1e-6
    )


def test_it_is_equation_1_written_out() -> None:
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


def test_a_step_against_its_gradient_brings_the_preferred_one_nearer() -> None:
    reference, first, second = (unit(angle).requires_grad_(angle == 0.0) for angle in (0.0, 50.0, -50.0))
    loss = hinge(reference, first, second, preferred=torch.tensor([1]), margin=0.05)
    loss.sum().backward()
    moved = torch.nn.functional.normalize(reference.detach() - 0.1 * reference.grad, dim=-1)
    assert float((moved * second).sum()) > float((moved * first).sum())
