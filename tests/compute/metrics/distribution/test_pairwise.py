"""CMMD, KID, precision, recall, density, coverage, Vendi: scikit-learn by definition, torch-fidelity, closed cases."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.neighbors import NearestNeighbors

from compute.metrics.distribution import moments
from compute.metrics.distribution.pairwise import cmmd, kid, manifold, manifold_of_subsets, vendi
from compute.types import BadInput, Undefined


def draw(n, d, *, seed=0, shift=0.0):
    return np.random.default_rng(seed).standard_normal((n, d)) + shift


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mmd(within, also_within, across, *, unbiased):
    """By definition: the means of the three kernel matrices."""
    means = []
    for matrix in (within, also_within):
        n = len(matrix)
        means.append((matrix.sum() - np.trace(matrix)) / (n * (n - 1)) if unbiased else matrix.mean())
    return float(sum(means) - 2 * across.mean())


@pytest.mark.parametrize("n, m, d", [(40, 40, 16), (30, 50, 8), (5, 4, 300)])
def test_equal_to_the_definition_by_scikit_learn(n, m, d):
    real, generated = draw(n, d), draw(m, d, seed=1, shift=0.2)
    pairs = [(real, real), (generated, generated), (real, generated)]
    expected = mmd(*(polynomial_kernel(a, b, degree=3, gamma=1 / d, coef0=1) for a, b in pairs), unbiased=True)
    assert kid(real=real, generated=generated).value == pytest.approx(expected, rel=1e-10)
    kernels = [rbf_kernel(unit(a), unit(b), gamma=1 / (2 * 10**2)) for a, b in pairs]
    found = cmmd(real=real, generated=3 * generated).value
    assert found == pytest.approx(1000 * mmd(*kernels, unbiased=False), rel=1e-8)


def test_one_image_a_side():
    with pytest.raises(Undefined, match="2 images"):
        kid(real=draw(1, 3), generated=draw(5, 3))
    record = cmmd(real=draw(1, 3), generated=draw(1, 3, seed=1))
    assert record.value > 0
    assert "A set of one image" in record.warnings[0]


def test_unlike_counts_warn_where_the_value_depends_on_them():
    found = cmmd(real=draw(10, 4), generated=draw(12, 4)).warnings
    for words in ("10 real and 12 generated", "bias of few images"):
        assert any(words in warning for warning in found), found
    assert kid(real=draw(10, 4), generated=draw(12, 4)).warnings == ()
    assert "9 real and 12 generated" in manifold(real=draw(9, 2), generated=draw(12, 2), k=3)["recall"].warnings[0]


def test_rows_without_direction_and_of_another_width_are_refused():
    rows = draw(5, 3)
    zero = rows * [[1], [0], [1], [1], [1]]
    with pytest.raises(BadInput, match="real: row 1 is all zeros"):
        cmmd(real=zero, generated=rows)
    with pytest.raises(BadInput, match="features: row 1 is all zeros"):
        vendi(features=zero)
    with pytest.raises(BadInput, match="real has 3 features an image and generated 2"):
        manifold(real=rows, generated=rows[:, :2], k=3)


def values(real, generated, *, k):
    return [share.value for share in manifold(real=real, generated=generated, k=k).values()]


def reference(real, generated, *, k):
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
@pytest.mark.parametrize("n, m, d", [(60, 90, 16), (7, 6, 50)])
def test_equal_to_neighbours_by_trees(n, m, d, k):
    real, generated = 50 + draw(n, d), 50 + 0.8 * draw(m, d, seed=1, shift=0.3)
    assert values(real, generated, k=k) == pytest.approx(reference(real, generated, k=k))


def test_a_set_beside_itself_and_beside_a_far_set():
    real = draw(70, 6)
    assert values(real, real, k=5) == [1.0, 1.0, 1.0, 1.0]
    assert values(real, real + 1000, k=5) == [0.0, 0.0, 0.0, 0.0]


def test_blocks_do_not_change_the_value(monkeypatch):
    real, generated = draw(43, 5), draw(37, 5, seed=1, shift=0.4)

    def every():
        of_kernels = [metric(real=real, generated=generated).value for metric in (kid, cmmd)]
        return [*values(real, generated, k=3), *of_kernels]

    whole = every()
    monkeypatch.setattr(moments, "BLOCK", 90)
    assert every() == pytest.approx(whole, rel=1e-10)


@pytest.mark.parametrize("share", [0.95, 0.3])
def test_neighbours_of_subsets_in_one_pass_are_those_by_themselves(share):
    """A small share leaves fewer than k of the held neighbours, so that a row's distances are read anew."""
    rng = np.random.default_rng(0)
    real, generated = draw(120, 5), draw(100, 5, seed=1, shift=0.3)
    kept = {"real_kept": rng.random((6, 120)) < share, "generated_kept": rng.random((6, 100)) < share}
    found = manifold_of_subsets(real=real, generated=generated, k=5, **kept)
    expected = [values(real[a], generated[b], k=5) for a, b in zip(*kept.values(), strict=True)]
    assert np.stack(list(found.values()), axis=1) == pytest.approx(np.array(expected))


def test_constant_features_have_values_and_a_warning():
    rows = np.full((8, 3), 4.0)
    assert values(rows, rows, k=3) == pytest.approx([1, 1, 8 / 3, 1])
    density = manifold(real=rows, generated=rows, k=3)["density"]
    assert "real: 8 images coincide with 3 others" in density.warnings[0]


@pytest.mark.parametrize("n, d", [(12, 40), (40, 12), (1, 5)])
def test_vendi_by_the_whole_kernel(n, d):
    rows = draw(n, d)
    values = np.linalg.eigvalsh(unit(rows) @ unit(rows).T / n)
    values = values[values > 1e-12]
    assert vendi(features=rows).value == pytest.approx(np.exp(-(values * np.log(values)).sum()), rel=1e-8)


def test_vendi_counts_distinct_images():
    distinct = np.eye(6)
    assert vendi(features=distinct).value == pytest.approx(6)
    assert vendi(features=np.repeat(distinct, 3, axis=0)).value == pytest.approx(6)
    assert "at most the number of images, 6" in vendi(features=distinct).warnings[0]
