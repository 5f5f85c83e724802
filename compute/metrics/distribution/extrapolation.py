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

from compute.arrays import Floats, Ints
from compute.metrics.distribution.features import check_paired, feature_array
from compute.metrics.distribution.frechet import CUTOFF, cfred, frechet
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.moments import Moments
from compute.types import BadInput, Undefined

PARTS = (1, 2, 3, 4)  # what all images are split into
REPEATS = 4  # random splits of each kind
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Extrapolated:
    """`value` at infinite N with its 95% interval from `low` to `high`, and `plain`, the value of all N.

    `counts` are the images of the generator in a part, `values` the mean distance at each; `slope` is the change per
    1 / N: the bias of the plain value is about slope / N. Of sets that are alike `value` falls around 0, and may be
    negative.
    """

    value: float
    low: float
    high: float
    plain: float
    slope: float
    counts: tuple[int, ...]
    values: tuple[float, ...]
    warnings: tuple[str, ...] = ()


def extrapolate(
    distance: Callable[[Sequence[Ints]], float],
    *,
    counts: Sequence[int],
    smallest: int = 2,
    parts: Sequence[int] = PARTS,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Extrapolated:
    """The value at infinite N of any distance whose bias falls as 1 / N.

    distance: takes the rows of each set (one array of row numbers a count in `counts`) and returns a number; it is
    called with all rows, and with each part of `repeats` random splits into each number of `parts`. All sets are split
    at once, so that with unlike counts the bias still is in proportion to the number of parts. smallest: the images
    that a part needs at least; finer splits are left out. Raises BadInput for bad arguments, Undefined where no split
    is left.
    """
    rows = splits(counts, smallest=smallest, parts=parts, repeats=repeats, seed=seed)
    plain = float(distance([np.arange(count) for count in counts]))
    values = {
        part: np.array([[distance(each) for each in split] for split in repeated]) for part, repeated in rows.items()
    }
    return fit(plain, values, count=counts[-1])


def splits(
    counts: Sequence[int],
    *,
    smallest: int = 2,
    parts: Sequence[int] = PARTS,
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[int, list[list[list[Ints]]]]:
    """By number of parts: `repeats` random splits, each a list of the parts, each the rows of every set.

    The parts of a split share no row; up to parts - 1 rows of a set are in none. More numbers of parts, if they are
    larger, leave the splits of the others as they are. Arguments and errors as `extrapolate`.
    """
    if not counts or min(counts) < 1 or repeats < 1 or any(part < 1 for part in parts) or smallest < 2:
        raise BadInput(
            "extrapolate needs counts and parts of at least 1, repeats of at least 1, smallest of at least 2"
        )
    usable = [part for part in sorted({*parts} - {1}) if min(counts) // part >= smallest]
    if not usable:
        raise Undefined(
            f"{min(counts)} images cannot be split into parts of at least {smallest}, so the value at infinite N is "
            "undefined. Add images"
        )
    rng = np.random.default_rng(seed)
    return {part: [_split(counts, part=part, rng=rng) for _ in range(repeats)] for part in usable}


def _split(counts: Sequence[int], *, part: int, rng: np.random.Generator) -> list[list[Ints]]:
    orders = [rng.permutation(count)[: count // part * part].reshape(part, -1) for count in counts]
    orders = [np.sort(order, axis=1) for order in orders]  # as they lie on disk
    return [[order[index] for order in orders] for index in range(part)]


def fit(plain: float, values: Mapping[int, Floats], *, count: int) -> Extrapolated:
    """The line through `plain`, the value of all `count` images, and `values` (repeats, parts) by number of parts."""
    usable = sorted(values)
    repeats = len(values[usable[0]])
    widths = np.array([1.0, *usable])
    means = np.array([plain, *(values[part].mean() for part in usable)])
    # The line's intercept and slope as weighted sums of the values.
    line = np.linalg.pinv(np.stack([np.ones(len(widths)), widths], axis=1))
    value, slope = (line @ means).tolist()
    # All images share the linear part of the error of every mean over a split: the variance between m parts, over m.
    # What differs from split to split is added with the weight that it has in the intercept.
    freedom = [repeats * (part - 1) for part in usable]
    shared = np.average([values[part].var(axis=1, ddof=1).mean() / part for part in usable], weights=freedom)
    drawn = [values[part].mean(axis=1).var(ddof=1) / repeats if repeats > 1 else 0.0 for part in usable]
    half = _student(sum(freedom)) * float(np.sqrt(shared + line[0, 1:] ** 2 @ drawn))
    return Extrapolated(
        value=value,
        low=value - half,
        high=value + half,
        plain=plain,
        slope=slope * count,
        counts=tuple(count // int(width) for width in widths),
        values=tuple(means.tolist()),
    )


def frechet_at_infinity(
    *,
    real: Any,
    generated: Any,
    paired: bool = False,
    ddof: int = 1,
    parts: Sequence[int] = PARTS,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Extrapolated:
    """`frechet` at infinite N. real, generated: features (n, d).

    `paired`: row i of both is of one prompt, so prompts are split, and a part has both images of each. With real as
    Moments or a Gaussian only the generator is split, and the reference's own bias stays: use a large one.
    """
    others = feature_array(generated, argument="generated")
    if isinstance(real, Moments | Gaussian):
        reference = Gaussian.of(real, ddof=ddof)
        dimension = reference.dimension
        extrapolated = extrapolate(
            lambda rows: frechet(real=reference, generated=Gaussian.of(others, rows=rows[0], ddof=ddof)).value,
            counts=(len(others),),
            parts=parts,
            repeats=repeats,
            seed=seed,
        )
    else:
        images = feature_array(real, argument="real")
        dimension = images.shape[1]
        if paired:
            check_paired(images, others, names=("real", "generated"))

        def distance(rows: Sequence[Ints]) -> float:
            first = Gaussian.of(images, rows=rows[0], ddof=ddof, argument="real")
            second = Gaussian.of(others, rows=rows[-1], ddof=ddof, argument="generated")
            return frechet(real=first, generated=second).value

        extrapolated = extrapolate(
            distance,
            counts=(len(images),) if paired else (len(images), len(others)),
            parts=parts,
            repeats=repeats,
            seed=seed,
        )
    return _with_warnings(extrapolated, needed=2 * dimension, what=f"twice the {dimension} dimensions of the features")


def cfred_at_infinity(
    *,
    real: Any,
    generated: Any,
    condition: Any,
    cutoff: float = CUTOFF,
    parts: Sequence[int] = PARTS,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Extrapolated:
    """`cfred` at infinite N. real, generated (n, d) and condition (n, p), row by row paired; prompts are split."""
    images, others = feature_array(real, argument="real"), feature_array(generated, argument="generated")
    texts = feature_array(condition, argument="condition")
    check_paired(images, others, names=("real", "generated"))
    check_paired(images, texts, names=("real", "condition"))

    def distance(rows: Sequence[Ints]) -> float:
        return cfred(real=images, generated=others, condition=texts, rows=rows[0], cutoff=cutoff).value

    extrapolated = extrapolate(distance, counts=(len(images),), parts=parts, repeats=repeats, seed=seed)
    needed = 2 * (images.shape[1] + texts.shape[1])
    what = f"twice the {images.shape[1]} + {texts.shape[1]} dimensions of the image and text features"
    return _with_warnings(extrapolated, needed=needed, what=what)


def uneven_generators(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The warning where generators of unlike numbers of images are compared; none where all are alike."""
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


def _student(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + LEVEL / 2))
