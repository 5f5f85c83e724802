"""Fréchet distance: closed forms, an exact reference of the root's trace; and the streaming moments under it."""

import numpy as np
import pytest
from scipy import linalg

from compute.metrics.distribution.frechet import frechet
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined


def spectrum(kind, d):
    """Eigenvalues of a covariance, the largest 1."""
    index = np.arange(d)
    return {
        "power": (1.0 + index) ** -1.5,
        "steep": 10.0 ** (-10 * index / d),  # a condition number of 1e10
        "singular": np.where(index < 2 * d // 3, (1.0 + index) ** -1.0, 0.0),
        "rank 3": np.where(index < 3, 1.0, 0.0),
    }[kind]


def rotation(d, *, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def test_over_n_or_n_minus_one():
    real, generated = features(50, 4, seed=0), features(50, 4, seed=1)
    biased, unbiased = (frechet(real=real, generated=generated, ddof=ddof) for ddof in (0, 1))
    assert biased.covariances == pytest.approx(unbiased.covariances * 49 / 50, rel=1e-9)


def test_bad_input():
    rows = features(10, 4, seed=0)
    with pytest.raises(BadInput, match="real 4, generated 3"):
        frechet(real=rows, generated=rows[:, :3])
    with pytest.raises(Undefined, match="generated: 1 row has no covariance over N - 1"):
        frechet(real=rows, generated=rows[:1])
    assert frechet(real=rows, generated=rows[:1], ddof=0).value > 0


@pytest.mark.parametrize("n", [1000, 100])
def test_equal_to_torch_fidelity(n):
    """torch-fidelity's own functions on the same features, more images than dimensions and fewer."""
    fid = pytest.importorskip("torch_fidelity.metric_fid")
    torch = pytest.importorskip("torch")
    real, generated = features(n, 128, seed=0), features(n, 128, seed=1)
    statistics = [fid.fid_features_to_statistics(torch.from_numpy(one)) for one in (real, generated)]
    expected = fid.fid_statistics_to_metric(*statistics, verbose=False)[fid.KEY_METRIC_FID]
    assert frechet(real=real, generated=generated).value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ["power", "steep", "singular", "rank 3"])
@pytest.mark.parametrize("n", [200, 1200])
def test_the_distance_of_near_singular_features_is_exact(kind, n):
    """Triangular factors of the features themselves, which square nothing; scipy's root is off by 1e-7 on these."""
    scales = np.sqrt(spectrum(kind, 300))
    sets = [
        (np.random.default_rng(seed).standard_normal((rows, 300)) * scales * scale) @ rotation(300)
        for seed, rows, scale in ((0, n, 1.0), (1, 1200, 1.2))
    ]
    factors = [np.linalg.qr((one - one.mean(axis=0)) / np.sqrt(len(one) - 1), mode="r") for one in sets]
    step = sets[0].mean(axis=0) - sets[1].mean(axis=0)
    exact = step @ step + sum((one**2).sum() for one in factors) - 2 * linalg.svdvals(factors[0] @ factors[1].T).sum()
    assert frechet(real=sets[0], generated=sets[1]).value == pytest.approx(exact, rel=1e-9)
    assert frechet(real=sets[1], generated=sets[0]).value == pytest.approx(exact, rel=1e-9)


# ---- moments: batches and shards in any order give those of the whole


def features(n, d, *, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return offset + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def exact(values):
    """Mean and scatter in extended precision."""
    long = values.astype(np.longdouble)
    rest = long - long.mean(axis=0)
    return long.mean(axis=0), rest.T @ rest


@pytest.mark.parametrize("offset, dtype", [(0.0, float), (1e6, float), (1e4, np.float32)])
@pytest.mark.parametrize("sizes", [(1000,), (3, 1, 496, 250, 250)])
def test_merged_shards_are_the_whole(offset, dtype, sizes):
    rows = features(1000, 12, offset=offset).astype(dtype)  # float32 is summed in float64
    mean, scatter = exact(rows)
    shards = [Moments.of(part) for part in np.split(rows, np.cumsum(sizes)[:-1])]
    for order in (shards, shards[::-1]):
        total = Moments.empty(12)
        for shard in order:
            total.merge(shard)
        assert total.n == 1000
        np.testing.assert_allclose(total.mean, mean.astype(float), rtol=1e-10)
        assert np.abs(total.scatter - scatter).max() <= 1e-10 * np.abs(scatter).max()
    assert sum(shard.n for shard in shards) == 1000  # shards stay as they are


def test_cross_moments_are_those_of_both_sides():
    images, texts = features(700, 9, offset=100.0), features(700, 5, seed=1, offset=-3.0)
    found, (mean, scatter) = CrossMoments.of(images=images, condition=texts), exact(np.hstack([images, texts]))
    sides = np.block([[found.images.scatter, found.cross], [found.cross.T, found.condition.scatter]])
    np.testing.assert_allclose(sides, scatter.astype(float), rtol=1e-10, atol=1e-10 * float(abs(scatter).max()))
    np.testing.assert_allclose([*found.images.mean, *found.condition.mean], mean.astype(float), rtol=1e-10)


@pytest.mark.parametrize(
    "rows, message",
    [
        (np.ones(3), r"array \(n, d\)"),
        (np.ones((3, 0)), "at least one row and one column"),
        (np.ones((2, 2), complex), "real numbers"),
    ],
)
def test_what_is_no_features(rows, message):
    with pytest.raises(BadInput, match=message):
        Moments.of(rows)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_named_by_its_number_in_the_stream(bad):
    rows = features(10, 3)
    moments = Moments.of(rows)
    before = moments.scatter.copy()
    rows[4, 1] = bad
    with pytest.raises(BadInput, match="generated: row 14 "):
        moments.add(rows, argument="generated")
    assert moments.n == 10
    np.testing.assert_array_equal(moments.scatter, before)
