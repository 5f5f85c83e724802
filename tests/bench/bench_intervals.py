"""How often the intervals of the metrics of sets hold the metric's mean at that N, by simulation.

The target of 95% is estimated from other samples than the intervals'.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from compute.arrays import Floats
from compute.metrics.distribution import cfred, frechet, intervals, pairwise, reference_free
from compute.types import Undefined

Sample = tuple[Floats, Floats, Floats]  # features (n, d) of prompts' real and generated images, (n, p) of their texts
Metric = Callable[[Floats, Floats, Floats], float]


def draw(rng, *, n, d):
    """Images that answer their texts, skewed; generated ones are blurred, shifted and answer less."""
    p = max(2, d // 4)
    slopes = np.random.default_rng(d).normal(size=(p, d)) / np.sqrt(p)
    condition = rng.normal(size=(n, p))
    scale = np.linspace(1.5, 0.5, d)

    def images(answer, width, shift):
        noise = rng.gamma(2.0, size=(n, d)) / np.sqrt(2) - np.sqrt(2)  # mean 0, variance 1, skewed
        return answer * condition @ slopes + width * scale * noise + shift

    real, generated = images(1.0, 1.0, 0.0), images(0.7, 0.8, 0.15)
    return real, generated, condition


def taken(sample, rows):
    """The sample of these prompts alone."""
    real, generated, condition = (side[rows] for side in sample)
    return real, generated, condition


def manifold(name, k):
    return lambda r, g, c: pairwise.manifold(real=r, generated=g, k=k)[name].value


DISTANCES = {
    "fd": lambda r, g, c: frechet.frechet(real=r, generated=g).value,
    "cfred": lambda r, g, c: cfred.cfred(real=r, generated=g, condition=c).value,
    "cmmd": lambda r, g, c: pairwise.cmmd(real=r, generated=g).value,
    "kid": lambda r, g, c: pairwise.kid(real=r, generated=g).value,
}
SHARES = {name: manifold(name, k) for name, k in (("precision", 3), ("recall", 3), ("density", 5), ("coverage", 5))}
OF_ONE_SET = {
    "inception_score": lambda r, g, c: reference_free.inception_score(logits=2 * g, splits=1).value,
    "vendi": lambda r, g, c: pairwise.vendi(features=g).value,
    "clipscore": lambda r, g, c: reference_free.clipscore(image=g[:, : c.shape[1]], text=c).value,
}
METRICS = DISTANCES | SHARES | OF_ONE_SET


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Of the intervals of one metric: the share that holds the target, and their width over four true deviations."""

    share: float
    width: float
    missing: int


def coverage(metric, *, n, d, samples, targets):
    """Simulated coverage at N = n of features (n, d), from `samples` intervals and a target of `targets` values."""
    rng = np.random.default_rng([0, n, d])
    statistic = METRICS[metric]
    values = np.array([statistic(*draw(rng, n=n, d=d)) for _ in range(targets)])
    made = []
    for _ in range(samples):
        sample = draw(rng, n=n, d=d)
        blocks = intervals.share_out(n)
        left_out = intervals.leave_out(lambda rows, s=sample: statistic(*taken(s, rows)), blocks)
        with suppress(Undefined):
            made.append(intervals.interval(statistic(*sample), left_out, blocks))
    known = [(each.low, each.high) for each in made]
    held = [low <= values.mean() <= high for low, high in known]
    width = float(np.median([high - low for low, high in known]) / (2 * 1.96 * values.std())) if known else np.nan
    return Coverage(share=float(np.mean(held)) if held else np.nan, width=width, missing=samples - len(known))
