"""The Fréchet distance beside scipy's root and torch-fidelity: python -m tests.bench.bench_frechet

Made-up features (synthetic) of 2048 dimensions. Covariances: of more images than dimensions (positive definite), with
eigenvalues over ten orders of magnitude (near-singular), and of fewer images than dimensions (singular). Times are
seconds of processor time in this one process, the best of the repeats. Exits with 1 where a ratio is below its bound
or a value is off. With --quick 512 dimensions and no bound on ratios.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import linalg

from compute.metrics.distribution.frechet import Gaussian, frechet

ANY, DEFINITE, FURTHER = 4.0, 9.0, 9.0  # times as fast as sqrtm
AGREE = 1e-6  # relative, of distances; sqrtm itself is less exact on singular products


def timed(call, *, repeats=1):
    """The value of a call, and the least processor time it took."""
    least = np.inf
    for _ in range(repeats):
        began = time.process_time()
        value = call()
        least = min(least, time.process_time() - began)
    return value, least


def features(n, scales, *, seed):
    """(n, d) correlated features whose covariance has about the squares of `scales` as eigenvalues."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((len(scales), len(scales))))[0]
    return (rng.standard_normal((n, len(scales))) * scales) @ axes + 0.01 * rng.standard_normal(len(scales))


def matrix(one):
    """The covariance (d, d)."""
    return one.covariance if one.rows is None else one.rows.T @ one.rows


def by_sqrtm(first, second):
    """The definition, with the root as scipy takes it."""
    step = first.mean - second.mean
    root = linalg.sqrtm(matrix(first) @ matrix(second))
    return float(step @ step + first.trace + second.trace - 2 * np.trace(root).real)


def by_torch_fidelity(first, second):
    from torch_fidelity.metric_fid import KEY_METRIC_FID, fid_statistics_to_metric

    sides = ({"mu": one.mean, "sigma": matrix(one)} for one in (first, second))
    return fid_statistics_to_metric(*sides, verbose=False)[KEY_METRIC_FID]


def fresh(one):
    """The same Gaussian from its covariance, without the factor that it keeps."""
    return Gaussian(n=one.n, mean=one.mean, covariance=matrix(one))


def compare(name, first, second, *, bound, further):
    """Prints times and values of one pair of covariances; False where a bound is missed."""
    first, second = fresh(first), fresh(second)
    print(f"\n{name}", flush=True)
    reference, least = timed(lambda: by_sqrtm(first, second))
    print(f"  {'scipy.linalg.sqrtm':32}{reference:>18.9g}{least:>9.2f} s", flush=True)
    value, own = timed(lambda: frechet(real=fresh(first), generated=second).value, repeats=3)
    good = least / own >= bound and abs(value / reference - 1) <= AGREE
    print(f"  {'frechet':32}{value:>18.9g}{own:>9.2f} s  x {least / own:.1f}, at least {bound:g}", flush=True)
    if further:
        kept = fresh(first)
        frechet(real=kept, generated=second)  # factors the reference
        _, again = timed(lambda: frechet(real=kept, generated=second).value, repeats=3)
        good &= least / again >= FURTHER * (bound > 0)
        print(f"  {'frechet, the reference again':32}{'':18}{again:>9.2f} s  x {least / again:.1f}", flush=True)
    theirs, least = timed(lambda: by_torch_fidelity(first, second))
    print(f"  {'torch-fidelity':32}{theirs:>18.9g}{least:>9.2f} s", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    d = 512 if quick else 2048
    index = np.arange(d)
    gentle, steep = (1.0 + index / 16) ** -0.5, 10.0 ** (-5 * index / d)
    n = 4 * d
    print(f"{d} dimensions, processor seconds, value and times sqrtm's speed")
    cases = {
        f"positive definite: {n} images a side": (gentle, n, DEFINITE),
        f"near-singular, a condition of 1e10: {n} images a side": (steep, n, ANY),
        f"singular: {d // 2} and {n} images": (gentle, d // 2, ANY),
    }
    good = [
        compare(
            name,
            Gaussian.of(features(count, scales, seed=0)),
            Gaussian.of(features(n, scales * 1.2, seed=1)),
            bound=bound * (not quick),
            further=bound == DEFINITE,
        )
        for name, (scales, count, bound) in cases.items()
    ]
    print("\nok" if all(good) else "\nOVER")
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
