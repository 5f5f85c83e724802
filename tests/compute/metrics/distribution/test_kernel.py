"""CMMD and KID: scikit-learn's kernels by their definition, torch-fidelity, properties, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from compute.metrics.distribution import features
from compute.metrics.distribution.kernel import cmmd, cmmd_of_subsets, kid, kid_of_subsets
from compute.types import BadInput, Undefined


def draw(n: int, d: int, *, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mmd(within: np.ndarray, also_within: np.ndarray, across: np.ndarray, *, unbiased: bool) -> float:
    """By definition: the means of the three kernel matrices."""
    means = []
    for matrix in (within, also_within):
        n = len(matrix)
        means.append((matrix.sum() - np.trace(matrix)) / (n * (n - 1)) if unbiased else matrix.mean())
    return float(sum(means) - 2 * across.mean())


@pytest.mark.parametrize(("n", "m", "d"), [(40, 40, 16), (30, 50, 8), (5, 4, 300)])
def test_equal_to_the_definition_by_scikit_learn(n: int, m: int, d: int) -> None:
    real, generated = draw(n, d), draw(m, d, seed=1, shift=0.2)
    pairs = [(real, real), (generated, generated), (real, generated)]
    expected = mmd(*(polynomial_kernel(a, b, degree=3, gamma=1 / d, coef0=1) for a, b in pairs), unbiased=True)
    assert kid(real=real, generated=generated).value == pytest.approx(expected, rel=1e-10)
    kernels = [rbf_kernel(unit(a), unit(b), gamma=1 / (2 * 10**2)) for a, b in pairs]
    record = cmmd(real=real, generated=3 * generated)
    assert record.value == pytest.approx(1000 * mmd(*kernels, unbiased=False), rel=1e-8)
    assert record.unbiased == pytest.approx(1000 * mmd(*kernels, unbiased=True), rel=1e-8, abs=1e-9)


def test_equal_to_torch_fidelity() -> None:
    reference = pytest.importorskip("torch_fidelity.metric_kid")
    real, generated = draw(200, 32), draw(200, 32, seed=1, shift=0.1)
    expected = reference.kernel_mmd(real, generated)
    assert kid(real=real, generated=generated).value == pytest.approx(expected, rel=1e-9)


def test_blocks_do_not_change_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    real, generated = draw(37, 6), draw(23, 6, seed=1)
    whole = kid(real=real, generated=generated).value, cmmd(real=real, generated=generated).value
    monkeypatch.setattr(features, "BLOCK", 100)
    assert (kid(real=real, generated=generated).value, cmmd(real=real, generated=generated).value) == pytest.approx(
        whole, rel=1e-10
    )


def test_a_set_beside_itself() -> None:
    """CMMD is 0. KID is below 0: the same image on both sides counts across, never within."""
    rows = draw(50, 12)
    assert cmmd(real=rows, generated=rows).value == pytest.approx(0, abs=1e-10)
    kernel = polynomial_kernel(rows, degree=3, gamma=1 / 12, coef0=1)
    expected = -2 / 50 * (np.trace(kernel) / 50 - (kernel.sum() - np.trace(kernel)) / (50 * 49))
    assert kid(real=rows, generated=rows).value == pytest.approx(expected, rel=1e-9)
    assert expected < 0


def test_kid_of_two_samples_of_one_distribution_is_zero_on_average() -> None:
    values = [kid(real=draw(30, 5, seed=s), generated=draw(30, 5, seed=1000 + s)).value for s in range(300)]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(300)
    biased = [cmmd(real=draw(30, 5, seed=s), generated=draw(30, 5, seed=1000 + s)) for s in range(300)]
    without = [record.unbiased for record in biased]
    assert abs(np.mean(without)) < 4 * np.std(without) / np.sqrt(300)
    assert np.mean([record.value for record in biased]) > 10 * abs(np.mean(without))
    assert any("bias of few images" in warning for warning in biased[0].warnings)


def test_cmmd_of_two_directions_is_its_closed_form() -> None:
    """Sets of one direction each, an angle apart: 2 - 2 exp(-|x - y|² / 2σ²)."""
    real, generated = np.tile([1.0, 0.0], (7, 1)), np.tile([0.0, 2.0], (7, 1))
    record = cmmd(real=real, generated=generated)
    assert record.value == pytest.approx(1000 * (2 - 2 * np.exp(-2 / 200)), rel=1e-12)
    assert record.unbiased == pytest.approx(record.value)


def test_subsets_in_one_pass_are_those_by_themselves() -> None:
    rng = np.random.default_rng(0)
    real, generated = draw(40, 6), draw(30, 6, seed=1)
    kept = {"real_kept": rng.random((5, 40)) < 0.8, "generated_kept": rng.random((5, 30)) < 0.8}
    for metric, together in ((kid, kid_of_subsets), (cmmd, cmmd_of_subsets)):
        expected = [metric(real=real[a], generated=generated[b]).value for a, b in zip(*kept.values(), strict=True)]
        assert together(real=real, generated=generated, **kept) == pytest.approx(expected, rel=1e-8)
    with pytest.raises(Undefined, match="0 images"):
        kid_of_subsets(
            real=real, generated=generated, real_kept=np.zeros((1, 40), bool), generated_kept=np.ones((1, 30), bool)
        )


def test_one_image_a_side() -> None:
    with pytest.raises(Undefined, match="two images"):
        kid(real=draw(1, 3), generated=draw(5, 3))
    record = cmmd(real=draw(1, 3), generated=draw(1, 3, seed=1))
    assert record.unbiased is None
    assert record.value > 0
    assert "A set of one image" in record.warnings[0]


def test_unlike_counts_warn_where_the_value_depends_on_them() -> None:
    assert any("10 real and 12 generated" in w for w in cmmd(real=draw(10, 4), generated=draw(12, 4)).warnings)
    assert kid(real=draw(10, 4), generated=draw(12, 4)).warnings == ()


def test_a_row_without_direction() -> None:
    rows = draw(5, 3)
    with pytest.raises(BadInput, match="real: row 1 is all zeros"):
        cmmd(real=rows * [[1], [0], [1], [1], [1]], generated=rows)
