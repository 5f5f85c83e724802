"""How often the intervals of the metrics of sets hold the metric's mean at that N, by simulation.

Run: python -m tests.bench.bench_intervals. The target of 95% is estimated from other samples than the intervals'.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from compute.arrays import Floats, Ints
from compute.metrics.distribution import cfred, frechet, intervals, pairwise, reference_free
from compute.types import Undefined


class Sample(NamedTuple):
    """One draw of prompts: features (n, d) of their real and generated images, (n, p) of their texts."""

    real: Floats
    generated: Floats
    condition: Floats

    def rows(self, kept: Ints) -> Sample:
        """The sample of these prompts alone."""
        return Sample(*(side[kept] for side in self))


def draw(rng: np.random.Generator, *, n: int, d: int, alike: bool = False) -> Sample:
    """Images that answer their texts, skewed; generated ones are blurred, shifted and answer less, unless `alike`."""
    p = max(2, d // 4)
    slopes = np.random.default_rng(d).normal(size=(p, d)) / np.sqrt(p)
    condition = rng.normal(size=(n, p))
    scale = np.linspace(1.5, 0.5, d)

    def images(answer: float, width: float, shift: float) -> Floats:
        noise = rng.gamma(2.0, size=(n, d)) / np.sqrt(2) - np.sqrt(2)  # mean 0, variance 1, skewed
        return answer * condition @ slopes + width * scale * noise + shift

    return Sample(
        real=images(1.0, 1.0, 0.0),
        generated=images(1.0, 1.0, 0.0) if alike else images(0.7, 0.8, 0.15),
        condition=condition,
    )


def manifold(name: str, k: int) -> Callable[[Sample], float]:
    return lambda s: getattr(pairwise.manifold(real=s.real, generated=s.generated, k=k), name).value


METRICS: dict[str, Callable[[Sample], float]] = {
    "fd": lambda s: frechet.frechet(real=s.real, generated=s.generated).value,
    "cfred": lambda s: cfred.cfred(real=s.real, generated=s.generated, condition=s.condition).value,
    "cmmd": lambda s: pairwise.cmmd(real=s.real, generated=s.generated).value,
    "kid": lambda s: pairwise.kid(real=s.real, generated=s.generated).value,
    **{name: manifold(name, k) for name, k in (("precision", 3), ("recall", 3), ("density", 5), ("coverage", 5))},
    "inception_score": lambda s: reference_free.inception_score(logits=2 * s.generated, splits=1).value,
    "vendi": lambda s: reference_free.vendi(features=s.generated).value,
    "clipscore": lambda s: (
        reference_free.clipscore(image=s.generated[:, : s.condition.shape[1]], text=s.condition).value
    ),
}


class Coverage(NamedTuple):
    """Of the intervals of one metric: the share that holds the target, and their width over four true deviations."""

    share: float
    width: float
    missing: int


def coverage(
    metric: str, *, n: int, d: int, samples: int, targets: int, alike: bool = False, seed: int = 0
) -> Coverage:
    """Simulated coverage at N = n of features (n, d), from `samples` intervals and a target of `targets` values."""
    rng = np.random.default_rng([seed, n, d])
    statistic = METRICS[metric]
    values = np.array([statistic(draw(rng, n=n, d=d, alike=alike)) for _ in range(targets)])
    made = []
    for _ in range(samples):
        sample = draw(rng, n=n, d=d, alike=alike)
        blocks = intervals.share_out(n)
        left_out = intervals.leave_out(lambda rows, s=sample: statistic(s.rows(rows)), blocks)
        with suppress(Undefined):
            made.append(intervals.interval(statistic(sample), left_out, blocks))
    ends = np.array([(each.low, each.high) for each in made]).reshape(-1, 2)
    held = (ends[:, 0] <= values.mean()) & (values.mean() <= ends[:, 1])
    width = np.median(ends[:, 1] - ends[:, 0]) / (2 * 1.96 * values.std()) if made else np.nan
    return Coverage(held.mean() if made else np.nan, width, missing=samples - len(made))


def main() -> None:
    """Prints a line for each N, d and metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--metrics", nargs="*", default=list(METRICS))
    options = parser.parse_args()
    print("coverage of 95% intervals / median width over the true one; alike: of equal distributions")
    for alike, d, n, metric in itertools.product((False, True), (8, 64), (20, 50, 200), options.metrics):
        made = coverage(metric, n=n, d=d, samples=options.samples, targets=4 * options.samples, alike=alike)
        print(f"{metric:16} N {n:4} d {d:4} {'alike' * alike:6} {made.share:6.1%} / {made.width:.2f}", flush=True)


if __name__ == "__main__":
    main()
