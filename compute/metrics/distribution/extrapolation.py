"""The value of a Fréchet distance at infinite N.

A distance of few images is biased upwards by about c / N. Random subsets without repeats give the value at smaller N; a
line in 1 / N through them has the value at infinite N as its intercept.

Source: Chong and Forsyth 2020 (FID at infinity). Here each split of all images into m parts gives m values at N / m:
the parts of one split share no image, so that their spread also tells the standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compute.arrays import Ints
from compute.metrics.distribution.frechet import cfred, frechet
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.moments import Moments
from compute.types import Undefined

PARTS = (1, 2, 3, 4)  # what all images are split into
REPEATS = 4  # random splits of each kind
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Extrapolated:
    """`value` at infinite N with its 95% interval from `low` to `high`, and `plain`, the value of all N.

    `counts` are the images of the generator in a part, `values` the mean distance at each. Of sets that are alike
    `value` falls around 0, and may be negative.
    """

    value: float
    low: float
    high: float
    plain: float
    counts: tuple[int, ...]
    values: tuple[float, ...]
    warnings: tuple[str, ...] = ()


def extrapolate(distance: Callable[[Sequence[Ints]], float], *, counts: Sequence[int]) -> Extrapolated:
    """The value at infinite N of any distance whose bias falls as 1 / N.

    distance: takes the rows of each set (one array of row numbers a count in `counts`) and returns a number; it is
    called with all rows, and with each part of REPEATS random splits into each number of `parts`. All sets are split at
    once, so that with different counts the bias still is in proportion to the number of parts. Raises Undefined for
    fewer than four images.
    """
    usable = [part for part in PARTS[1:] if min(counts) // part >= 2]
    if not usable:
        raise Undefined(f"{min(counts)} images cannot be split for a value at infinite N. Add images")
    rng = np.random.default_rng(0)
    plain = float(distance([np.arange(count) for count in counts]))
    values = {
        part: np.array([[distance(each) for each in _split(counts, part=part, rng=rng)] for _ in range(REPEATS)])
        for part in usable
    }
    widths = np.array([1.0, *usable])
    means = np.array([plain, *(values[part].mean() for part in usable)])
    # The line's intercept and slope as weighted sums of the values.
    line = np.linalg.pinv(np.stack([np.ones(len(widths)), widths], axis=1))
    value = float(line[0] @ means)
    # All images share the linear part of the error of every mean over a split: the variance between m parts, over m.
    # What differs from split to split is added with the weight that it has in the intercept.
    freedom = [REPEATS * (part - 1) for part in usable]
    shared = np.average([values[part].var(axis=1, ddof=1).mean() / part for part in usable], weights=freedom)
    drawn = [values[part].mean(axis=1).var(ddof=1) / REPEATS for part in usable]
    from scipy.special import stdtrit

    half = float(stdtrit(sum(freedom), 0.5 + LEVEL / 2)) * float(np.sqrt(shared + line[0, 1:] ** 2 @ drawn))
    return Extrapolated(
        value=value,
        low=value - half,
        high=value + half,
        plain=plain,
        counts=tuple(counts[-1] // int(width) for width in widths),
        values=tuple(means.tolist()),
    )


def _split(counts: Sequence[int], *, part: int, rng: np.random.Generator) -> list[list[Ints]]:
    """A random split into parts, each the rows of every set; up to part - 1 rows of a set are in none."""
    orders = [rng.permutation(count)[: count // part * part].reshape(part, -1) for count in counts]
    orders = [np.sort(order, axis=1) for order in orders]  # as they lie on disk
    return [[order[index] for order in orders] for index in range(part)]


def frechet_at_infinity(*, real: Any, generated: Any, paired: bool = False) -> Extrapolated:
    """`frechet` at infinite N. real, generated: features (n, d).

    `paired`: row i of both is of one prompt, so prompts are split, and a part has both images of each. With real as
    Moments only the generator is split, and the reference's own bias stays: use a large one.
    """
    fixed = Gaussian.of(real) if isinstance(real, Moments) else None

    def distance(rows: Sequence[Ints]) -> float:
        first = Gaussian.of(real, rows=rows[0], argument="real") if fixed is None else fixed
        return frechet(real=first, generated=Gaussian.of(generated, rows=rows[-1], argument="generated")).value

    both = fixed is None and not paired
    extrapolated = extrapolate(distance, counts=(len(real), len(generated)) if both else (len(generated),))
    d = generated.shape[1]
    return _with_warnings(extrapolated, needed=2 * d, what=f"twice the {d} dimensions of the features")


def cfred_at_infinity(*, real: Any, generated: Any, condition: Any) -> Extrapolated:
    """`cfred` at infinite N. real, generated (n, d) and condition (n, p), row by row paired; prompts are split."""

    def distance(rows: Sequence[Ints]) -> float:
        return cfred(real=real, generated=generated, condition=condition, rows=rows[0]).value

    extrapolated = extrapolate(distance, counts=(len(condition),))
    d, p = generated.shape[1], condition.shape[1]
    what = f"twice the {d} + {p} dimensions of the image and text features"
    return _with_warnings(extrapolated, needed=2 * (d + p), what=what)


def uneven_generators(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The warning where generators of different numbers of images are compared."""
    if len(set(counts.values())) < 2:
        return ()
    fewest, most = (choose(counts, key=lambda name: counts[name]) for choose in (min, max))
    return (
        f"{fewest} has {counts[fewest]:,} images and {most} {counts[most]:,}: Fréchet distances fall as N grows, so "
        "the plain values favour the larger set. Compare the values extrapolated to infinite N, or equal "
        "numbers of images",
    )


def _with_warnings(extrapolated: Extrapolated, *, needed: int, what: str) -> Extrapolated:
    if extrapolated.counts[-1] >= needed:
        return extrapolated
    warning = (
        f"The smallest parts have {extrapolated.counts[-1]} images, fewer than {what}: the value does not fall as "
        "1 / N there, and the extrapolated value is rough"
    )
    return replace(extrapolated, warnings=(*extrapolated.warnings, warning))
