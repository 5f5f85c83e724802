"""The Fréchet distance beside scipy's root and torch-fidelity: python -m tests.bench.bench_frechet

Made-up features (synthetic) of 2048 dimensions. Covariances: of more images than dimensions (positive definite), with
eigenvalues over ten orders of magnitude (near-singular), and of fewer images than dimensions (singular). Times are
seconds of processor time in this one process, the best of the repeats. Exits with 1 where a ratio is below its bound
or a value is off. With --quick 512 dimensions and no bound on ratios.

The grid of backbones: python -m tests.bench.bench_frechet --grid 46 43 [--pairs 7]. It times every cell of so many
image and text backbones on 1,600 prompts of mixed dimensions, and beside it some pairs one by one by the definition
(numpy's pseudo-inverse, scipy's root) and by `cfred`; both are carried forward to the whole grid in proportion.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from scipy import linalg

from compute.metrics.distribution.cfred import CUTOFF, cfred, cfred_grid
from compute.metrics.distribution.frechet import Gaussian, frechet

ANY, DEFINITE, FURTHER = 4.0, 9.0, 9.0  # times as fast as sqrtm
GRID, GRID_MEMORY = 10.0, 2.0  # times as fast as pair by pair; GB
PROMPTS = 1600
IMAGE_WIDTHS, TEXT_WIDTHS = (768, 1024, 384, 1280, 1536, 2048, 512), (640, 768, 512, 1024, 384)
AGREE = 1e-6  # relative, of distances; sqrtm itself is less exact on singular products


def timed(call: Callable[[], float], *, repeats: int = 1) -> tuple[float, float]:
    """The value of a call, and the least processor time it took."""
    least = np.inf
    for _ in range(repeats):
        began = time.process_time()
        value = call()
        least = min(least, time.process_time() - began)
    return value, least


def features(n: int, scales: np.ndarray, *, seed: int) -> np.ndarray:
    """(n, d) correlated features whose covariance has about the squares of `scales` as eigenvalues."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((len(scales), len(scales))))[0]
    return (rng.standard_normal((n, len(scales))) * scales) @ axes + 0.01 * rng.standard_normal(len(scales))


def by_sqrtm(first: Gaussian, second: Gaussian) -> float:
    """The definition, with the root as scipy takes it."""
    step = first.mean - second.mean
    root = linalg.sqrtm(first.matrix @ second.matrix)
    return float(step @ step + first.trace + second.trace - 2 * np.trace(root).real)


def by_torch_fidelity(first: Gaussian, second: Gaussian) -> float:
    from torch_fidelity.metric_fid import KEY_METRIC_FID, fid_statistics_to_metric

    sides = ({"mu": one.mean, "sigma": one.matrix} for one in (first, second))
    return fid_statistics_to_metric(*sides, verbose=False)[KEY_METRIC_FID]


def fresh(one: Gaussian) -> Gaussian:
    """The same Gaussian from its covariance, without the factor that it keeps."""
    return Gaussian(n=one.n, mean=one.mean, covariance=one.matrix)


def compare(name: str, first: Gaussian, second: Gaussian, *, bound: float, further: bool) -> bool:
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


def cfred_by_definition(real: np.ndarray, generated: np.ndarray, condition: np.ndarray) -> float:
    """Section 3.1 of the cFreD paper written down: all moments of one pair anew, numpy's inverse, scipy's root."""
    real, generated, condition = (one.astype(np.float64) for one in (real, generated, condition))
    d = real.shape[1]
    inverse = np.linalg.pinv(np.cov(condition, rowvar=False, ddof=0), rcond=CUTOFF, hermitian=True)
    crosses, conditionals = [], []
    for images in (real, generated):
        joint = np.cov(images, condition, rowvar=False, ddof=0)
        crosses.append(joint[:d, d:])
        conditionals.append(joint[:d, :d] - joint[:d, d:] @ inverse @ joint[d:, :d])
    root = linalg.sqrtm(conditionals[0] @ conditionals[1])
    moved, step = real.mean(axis=0) - generated.mean(axis=0), crosses[0] - crosses[1]
    return float(
        moved @ moved + np.trace(step @ inverse @ step.T) + np.trace(sum(conditionals)) - 2 * np.trace(root).real
    )


def grid_features(images: int, texts: int) -> dict[str, dict]:
    """Made-up features of 1,600 prompts in float32, of one generator, under so many backbones."""
    rng = np.random.default_rng(0)
    meaning = rng.standard_normal((PROMPTS, 64), dtype=np.float32)

    def of(width: int, noise: float) -> np.ndarray:
        slope = rng.standard_normal((64, width), dtype=np.float32) / 8
        return meaning @ slope + noise * rng.standard_normal((PROMPTS, width), dtype=np.float32)

    widths = {f"image {index}": IMAGE_WIDTHS[index % len(IMAGE_WIDTHS)] for index in range(images)}
    return {
        "real": {key: of(width, 1.0) for key, width in widths.items()},
        "generated": {"a": {key: of(width, 1.2) for key, width in widths.items()}},
        "condition": {f"text {index}": of(TEXT_WIDTHS[index % len(TEXT_WIDTHS)], 0.5) for index in range(texts)},
    }


def grid(images: int, texts: int, pairs: int) -> int:
    sets = grid_features(images, texts)
    print(f"{images} image and {texts} text backbones, {PROMPTS} prompts; processor seconds a cell", flush=True)
    began = time.process_time()
    values = {(image, text): record.value for (_, image, text), record in cfred_grid(**sets)}
    each = (time.process_time() - began) / len(values)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  grid{'':28}{each:>9.3f} s, {each * len(values):.0f} s in all; peak memory {peak:.2f} GB", flush=True)
    cells = [(f"image {index % images}", f"text {index % texts}") for index in range(pairs)]  # every width in turn
    spent = {"by definition": 0.0, "cfred": 0.0}
    off = 0.0
    for image, text in cells:
        arrays = {
            "real": sets["real"][image],
            "generated": sets["generated"]["a"][image],
            "condition": sets["condition"][text],
        }
        for title, call in (("by definition", cfred_by_definition), ("cfred", lambda **sides: cfred(**sides).value)):
            value, seconds = timed(lambda call=call, arrays=arrays: call(**arrays))
            spent[title] += seconds / len(cells)
            off = max(off, abs(value / values[image, text] - 1))
    for title, seconds in spent.items():
        print(f"  pair by pair, {title:18}{seconds:>9.3f} s, of {len(cells)} pairs  x {seconds / each:.1f}", flush=True)
    good = spent["by definition"] / each >= GRID and peak < GRID_MEMORY and off <= AGREE
    print(f"  largest relative difference {off:.1e}\n{'ok' if good else 'OVER'}")
    return 0 if good else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--grid", nargs=2, type=int, metavar=("IMAGES", "TEXTS"))
    parser.add_argument("--pairs", type=int, default=len(IMAGE_WIDTHS))
    arguments = parser.parse_args()
    if arguments.grid:
        return grid(*arguments.grid, arguments.pairs)
    return distances(quick=arguments.quick)


def distances(*, quick: bool) -> int:
    d = 512 if quick else 2048
    index = np.arange(d)
    gentle, steep = (1.0 + index / 16) ** -0.5, 10.0 ** (-5 * index / d)
    n = 4 * d
    print(f"{d} dimensions, processor seconds, value and times sqrtm's speed")
    good = [
        compare(
            f"positive definite: {n} images a side",
            *(Gaussian.of(features(n, gentle * scale, seed=seed)) for seed, scale in ((0, 1), (1, 1.2))),
            bound=DEFINITE * (not quick),
            further=True,
        ),
        compare(
            f"near-singular, a condition of 1e10: {n} images a side",
            *(Gaussian.of(features(n, steep * scale, seed=seed)) for seed, scale in ((0, 1), (1, 1.2))),
            bound=ANY * (not quick),
            further=False,
        ),
        compare(
            f"singular: {d // 2} and {n} images",
            Gaussian.of(features(d // 2, gentle, seed=0)),
            Gaussian.of(features(n, gentle * 1.2, seed=1)),
            bound=ANY * (not quick),
            further=False,
        ),
    ]
    print("\nok" if all(good) else "\nOVER")
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
