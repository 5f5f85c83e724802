"""Fréchet distance: closed forms, an exact reference of the root's trace, properties, bad input."""

import numpy as np
import pytest
from scipy import linalg

from compute.metrics.distribution.frechet import frechet
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


def correlated(n, d, *, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) / np.sqrt(d) + rng.standard_normal(d)


def test_over_n_or_n_minus_one():
    real, generated = correlated(50, 4, seed=0), correlated(50, 4, seed=1)
    biased, unbiased = (frechet(real=real, generated=generated, ddof=ddof) for ddof in (0, 1))
    assert biased.covariances == pytest.approx(unbiased.covariances * 49 / 50, rel=1e-9)


def test_bad_input():
    rows = correlated(10, 4, seed=0)
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
    real, generated = correlated(n, 128, seed=0), correlated(n, 128, seed=1)
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
