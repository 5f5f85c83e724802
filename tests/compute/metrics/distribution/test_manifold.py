"""Precision, recall, density and coverage: by scikit-learn's neighbours, closed cases, properties, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from compute.metrics.distribution import features
from compute.metrics.distribution.manifold import QUANTITIES, manifold, manifold_of_subsets
from compute.types import BadInput, Undefined


def draw(n: int, d: int, *, seed: int = 0, shift: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


def values(real: np.ndarray, generated: np.ndarray, *, k: int) -> list[float]:
    record = manifold(real=real, generated=generated, k=k)
    return [getattr(record, name).value for name in QUANTITIES]


def reference(real: np.ndarray, generated: np.ndarray, *, k: int) -> list[float]:
    """By trees and loops over images."""
    trees = [NearestNeighbors(algorithm="kd_tree").fit(side) for side in (real, generated)]
    radii = [
        tree.kneighbors(side, k + 1)[0][:, -1] for tree, side in zip(trees, (real, generated), strict=True)
    ]  # the first neighbour is the image itself
    precision = np.mean([any(np.linalg.norm(real - image, axis=1) <= radii[0]) for image in generated])
    recall = np.mean([any(np.linalg.norm(generated - image, axis=1) <= radii[1]) for image in real])
    density = np.mean([(np.linalg.norm(real - image, axis=1) < radii[0]).sum() / k for image in generated])
    nearest = trees[1].kneighbors(real, 1)[0][:, 0]
    return [float(precision), float(recall), float(density), float(np.mean(nearest < radii[0]))]


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize(("n", "m", "d"), [(60, 90, 16), (7, 6, 50)])
def test_equal_to_neighbours_by_trees(n: int, m: int, d: int, k: int) -> None:
    real, generated = 50 + draw(n, d), 50 + 0.8 * draw(m, d, seed=1, shift=0.3)
    assert values(real, generated, k=k) == pytest.approx(reference(real, generated, k=k))


def test_equal_to_torch_fidelity() -> None:
    reference = pytest.importorskip("torch_fidelity.metric_prc")
    torch = pytest.importorskip("torch")
    real, generated = draw(200, 8), draw(200, 8, seed=1, shift=0.5)
    sides = [torch.from_numpy(side) for side in (generated, real)]
    expected = reference.calculate_precision_recall_full(*sides, neighborhood=3)
    record = manifold(real=real, generated=generated, k=3)
    assert (record.precision.value, record.recall.value) == pytest.approx(expected)


def test_equal_to_prdc() -> None:
    prdc = pytest.importorskip("prdc")
    real, generated = draw(120, 8), draw(120, 8, seed=1, shift=0.5)
    expected = prdc.compute_prdc(real, generated, nearest_k=5)
    assert values(real, generated, k=5) == pytest.approx([expected[name] for name in QUANTITIES])


def test_four_points_on_a_line() -> None:
    """Real 0, 1, 3, 10 with k = 1 have balls of 1, 1, 2, 7; generated 0.5, 20, 21, 22 of 19.5, 1, 1, 1."""
    real, generated = np.array([[0.0], [1], [3], [10]]), np.array([[0.5], [20], [21], [22]])
    # 0.5 lies in the balls of 0 and 1; of 3 the distance is 2.5; 20 is 10 from 10. All real images are in 0.5's ball.
    assert values(real, generated, k=1) == [0.25, 1.0, 0.5, 0.5]


def test_a_set_beside_itself_and_beside_a_far_set() -> None:
    real = draw(70, 6)
    assert values(real, real, k=5) == [1.0, 1.0, 1.0, 1.0]
    assert values(real, real + 1000, k=5) == [0.0, 0.0, 0.0, 0.0]


def test_precision_and_recall_swap_with_their_sides_and_density_does_not() -> None:
    real, generated = draw(60, 5), draw(60, 5, seed=1) * 0.5
    forth, back = manifold(real=real, generated=generated, k=3), manifold(real=generated, generated=real, k=3)
    assert (forth.precision.value, forth.recall.value) == (back.recall.value, back.precision.value)
    assert forth.precision.value > forth.recall.value
    assert forth.density.value > 2 * back.density.value


def test_equal_distributions_have_a_density_of_1_and_the_expected_coverage() -> None:
    """Naeem et al. 2020, section 3.3: with n = m coverage is 1 - (n - 1)...(n - k) / (2n - 1)...(2n - k)."""
    n, k = 100, 5
    found = np.array([values(draw(n, 4, seed=s), draw(n, 4, seed=500 + s), k=k) for s in range(100)])
    expected = 1 - np.prod([(n - i) / (2 * n - i) for i in range(1, k + 1)])
    error = found.std(axis=0) / np.sqrt(100)
    assert abs(found[:, 2].mean() - 1) < 4 * error[2]
    assert abs(found[:, 3].mean() - expected) < 4 * error[3]


def test_dropped_modes_lower_recall_and_coverage_alone() -> None:
    modes = np.repeat(np.eye(4) * 50, 30, axis=0)
    real, generated = modes + draw(120, 4), modes + draw(120, 4, seed=1)
    dropped = np.repeat(np.eye(4)[:2] * 50, 60, axis=0) + draw(120, 4, seed=2)
    whole, half = manifold(real=real, generated=generated, k=3), manifold(real=real, generated=dropped, k=3)
    assert half.precision.value > 0.8
    assert half.recall.value <= 0.5 < whole.recall.value
    assert half.coverage.value <= 0.5 < whole.coverage.value


def test_blocks_do_not_change_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    real, generated = draw(43, 5), draw(37, 5, seed=1, shift=0.4)
    whole = values(real, generated, k=3)
    monkeypatch.setattr(features, "BLOCK", 90)
    assert values(real, generated, k=3) == whole


@pytest.mark.parametrize("share", [0.95, 0.3])
def test_subsets_in_one_pass_are_those_by_themselves(share: float) -> None:
    """A small share leaves fewer than k of the held neighbours, so that a row's distances are read anew."""
    rng = np.random.default_rng(0)
    real, generated = draw(120, 5), draw(100, 5, seed=1, shift=0.3)
    kept = {"real_kept": rng.random((6, 120)) < share, "generated_kept": rng.random((6, 100)) < share}
    found = manifold_of_subsets(real=real, generated=generated, k=5, **kept)
    expected = [values(real[a], generated[b], k=5) for a, b in zip(*kept.values(), strict=True)]
    assert np.stack(list(found.values()), axis=1) == pytest.approx(np.array(expected))


def test_constant_features_have_values_and_a_warning() -> None:
    rows = np.full((8, 3), 4.0)
    record = manifold(real=rows, generated=rows, k=3)
    assert [record.precision.value, record.recall.value, record.coverage.value] == [1.0, 1.0, 1.0]
    assert record.density.value == pytest.approx(8 / 3)
    assert "real: 8 images coincide with 3 others" in record.density.warnings[0]


def test_too_few_images() -> None:
    with pytest.raises(Undefined, match="3 real"):
        manifold(real=draw(3, 2), generated=draw(9, 2), k=3)
    with pytest.raises(Undefined, match="1 real"):
        manifold(real=draw(1, 2), generated=draw(1, 2), k=1)
    marks = np.ones((1, 9), bool)
    marks[0, 2:] = False
    with pytest.raises(Undefined, match="2 images"):
        manifold_of_subsets(
            real=draw(9, 2), generated=draw(9, 2), k=3, real_kept=marks, generated_kept=np.ones((1, 9), bool)
        )


def test_bad_input_is_named() -> None:
    rows, spoilt = draw(9, 2), draw(9, 2)
    spoilt[4, 0] = np.nan
    with pytest.raises(BadInput, match="real: row 4 "):
        manifold(real=spoilt, generated=rows, k=3)
    with pytest.raises(BadInput, match="real has 2 features an image and generated 3"):
        manifold(real=rows, generated=draw(9, 3), k=3)
    assert "9 real and 12 generated" in manifold(real=rows, generated=draw(12, 2), k=3).recall.warnings[0]
