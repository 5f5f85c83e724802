"""Sampling error of any metric of sets over prompts: its interval, and a distance's value at infinite N.

A bootstrap draws prompts with repeats. A repeated image adds nothing to a covariance's rank, has itself as its nearest
neighbour and counts twice in a kernel's mean: distances of such draws exceed the value itself, and neighbourhoods
shrink to points. Therefore no row is repeated here. Prompts are randomly divided into blocks, each block is excluded in
turn, and the spread of the values without it gives the standard error (the grouped jackknife; Shao and Tu 1995, section
2.2; Busing, Meijer and van der Leeden 1999 for blocks of different sizes). Deviations are taken from the mean of those
values, so that a bias in 1 / N cancels.

The interval covers the metric's average over samples with the same number of prompts. That is the number to compare
between generators at equal N. It does not cover the value at infinite N, which `extrapolate` estimates: a distance of
few images is biased upwards by about c / N, and random subsets without repeats give its value at smaller N; a line in 1
/ N through them has the value at infinite N as its intercept. Source: Chong and Forsyth 2020 (FID at infinity). Here
each split of all images into m parts gives m values at N / m: the parts of one split share no image, so their spread
also yields the standard error. `tests/bench/bench_intervals.py` simulates its coverage: it covers the mean in 87 to
100% of samples of 30 prompts (lowest for KID of equal distributions), and in 93 to 100% of samples of 100. It is up to
twice as wide as necessary for shares of neighbours, which change in steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats, Ints
from compute.metrics.distribution.moments import Moments, SetScore, taken
from compute.types import Undefined

BLOCKS = 20
FEWEST_BLOCKS = 3  # for the standard error of a difference
PARTS = (1, 2, 3, 4)  # numbers of parts that all images are split into for the value at infinite N
REPEATS = 4  # random splits of each kind
FEWEST_PROMPTS = 30  # with fewer, KID's intervals cover 77 to 83% of simulated samples of equal distributions


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Rows divided into `count` blocks; `block` (n,) is the block of each row. All rows of a prompt are in one
    block.
    """

    block: Ints
    count: int
    prompts: int

    @cached_property
    def remaining(self) -> Bools:
        """Returns (count, n): the rows that remain when each block is excluded."""
        return self.block != np.arange(self.count)[:, None]

    @property
    def sizes(self) -> Ints:
        """Returns the number of rows per block (count,)."""
        return np.bincount(self.block, minlength=self.count)


def share_out(prompts: Sequence[Any] | Ints | int, *, blocks: int = BLOCKS, seed: int = 0) -> Blocks:
    """Divides prompts at random into `blocks` blocks of almost equal size, or into one block per prompt if there are
    fewer prompts.

    `prompts`: the prompt of each row (n,), or the number of rows if each row has a different prompt.
    """
    names = np.arange(prompts) if isinstance(prompts, int) else np.asarray(prompts)
    _, code = np.unique(names, return_inverse=True)
    count = int(code.max()) + 1
    held = min(blocks, count)
    return Blocks(block=(np.random.default_rng(seed).permutation(count) % held)[code], count=held, prompts=count)


def leave_out(statistic: Callable[[Ints], float], blocks: Blocks) -> Floats:
    """Returns (count,) the statistic of the remaining rows with each block excluded in turn."""
    return np.array([statistic(np.flatnonzero(rows)) for rows in blocks.remaining])


def leave_moments_out(
    statistic: Callable[..., float], blocks: Blocks, *, of: Callable[..., Moments], **sides: Mapping[str, Any]
) -> Floats:
    """Returns (count,) the statistic of moments without each block, computed from the moments of every block.

    `of` gives moments of features; `sides` maps the statistic's arguments, such as "real" and "generated", to the
    arguments of `of`. `of` is called twice per block, so that only one block's moments are in memory at a time.
    """
    rows = [np.flatnonzero(blocks.block == index) for index in range(blocks.count)]

    def part(side: str, at: Ints) -> Moments:
        return of(**{name: taken(features, at) for name, features in sides[side].items()})

    whole = {side: part(side, rows[0]) for side in sides}
    for side, at in product(sides, rows[1:]):
        whole[side].merge(part(side, at))
    return np.array([statistic(**{side: whole[side].without(part(side, at)) for side in sides}) for at in rows])


def interval(
    value: float, left_out: Floats, blocks: Blocks, *, lower: float | None = None, upper: float | None = None
) -> SetScore:
    """Returns the interval of `value` from its values (count,) without each block, clipped to the metric's bounds.
    Raises Undefined.
    """
    if blocks.prompts < FEWEST_PROMPTS:
        raise Undefined(f"{blocks.prompts} prompts or images are too few for an interval: it needs {FEWEST_PROMPTS}")
    if not np.isfinite(left_out).all():
        raise Undefined("The metric is undefined without some of its prompts or images")
    error = float(jackknife_covariance(np.array([value]), left_out[:, None], sizes=blocks.sizes)[0, 0]) ** 0.5
    if error <= np.finfo(float).eps * abs(value):
        raise Undefined("No prompt or image changes the value, so there is no spread to measure")
    half = half_width(error, freedom=blocks.count - 1)
    low, high = (float(np.clip(end, lower, upper)) for end in (value - half, value + half))
    return SetScore(value=value, low=low, high=high, stderr=error)


def half_width(error: float, *, freedom: int) -> float:
    """Returns half the width of a 95% interval for this standard error, by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975)) * error


def jackknife_covariance(values: Floats, left_out: Floats, *, sizes: Ints) -> Floats:
    """Returns the (k, k) covariance of k statistics of the same rows. `values` (k,) are the statistics; `left_out`
    (blocks, k) are their values without each block; `sizes` (blocks,) is the number of rows per block.

    Pseudo-values are h * value - (h - 1) * (value without the block), where the block holds 1 / h of the rows. Source:
    Busing, Meijer and van der Leeden 1999.
    """
    share = (sizes.sum() / sizes)[:, None]
    pseudo = share * values - (share - 1) * left_out
    weight = 1 / (share - 1)
    off = pseudo - (pseudo * weight).sum(axis=0) / weight.sum()
    steps = np.sqrt(weight / len(sizes)) * off
    return steps.T @ steps


def extrapolate(
    distance: Callable[[Sequence[Ints]], float], *, counts: Sequence[int], needed: int = 0, what: str = ""
) -> SetScore:
    """Returns the value at infinite N of any distance whose bias falls as 1 / N. For sets with the same distribution it
    scatters around 0 and may be negative. The upper end of its interval is at least 0, because no distance is negative.

    distance: takes the rows of each set (one array of row numbers per count in `counts`) and returns a number. It is
    called with all rows, and with each part of REPEATS random splits into each number of PARTS. All sets are split
    together, so that the bias is proportional to the number of parts even if counts differ. Parts of fewer than
    `needed` images (`what` in words) cause a warning. Raises Undefined for fewer than four images.
    """
    usable = [part for part in PARTS[1:] if min(counts) // part >= 2]
    if not usable:
        raise Undefined(f"{min(counts)} images cannot be split for a value at infinite N. Add images")
    rng = np.random.default_rng(0)
    plain = distance([np.arange(count) for count in counts])
    values = {
        part: np.array([[distance(each) for each in _split(counts, part=part, rng=rng)] for _ in range(REPEATS)])
        for part in usable
    }
    means = np.array([plain, *(values[part].mean() for part in usable)])
    # The line's intercept and slope as weighted sums of the values.
    line = np.linalg.pinv([[1, width] for width in (1, *usable)])
    value = float(line[0] @ means)
    # All images share the linear part of the error of a split's mean: the variance between its m parts, divided by m.
    # The variation between splits is added with its weight in the intercept.
    freedom = [REPEATS * (part - 1) for part in usable]
    shared = np.average([values[part].var(axis=1, ddof=1).mean() / part for part in usable], weights=freedom)
    drawn = [values[part].mean(axis=1).var(ddof=1) / REPEATS for part in usable]
    half = half_width(float(np.sqrt(shared + line[0, 1:] ** 2 @ drawn)), freedom=sum(freedom))
    least = counts[-1] // usable[-1]
    rough = (
        f"The smallest parts have {least} images, fewer than {what}: the value does not fall as 1 / N there, and "
        "the extrapolated value is rough"
    )
    below = (
        "The value at infinite N is below 0 by more than its noise, which no distance is: take it as 0. So it is where "
        "the two sets share images"
    )
    said = ((rough, least < needed), (below, value + half < 0))
    return SetScore(
        value=value,
        low=value - half,
        high=max(value + half, 0.0),
        warnings=tuple(words for words, holds in said if holds),
    )


def _split(counts: Sequence[int], *, part: int, rng: np.random.Generator) -> list[list[Ints]]:
    """Returns a random split into parts, each with rows of every set; up to part - 1 rows of a set are in no part."""
    orders = [rng.permutation(count)[: count // part * part].reshape(part, -1) for count in counts]
    orders = [np.sort(order, axis=1) for order in orders]  # as they are on disk
    return [[order[index] for order in orders] for index in range(part)]
