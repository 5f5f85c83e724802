"""Intervals over prompts for any metric of sets, by leaving out blocks of prompts.

A bootstrap draws prompts with repeats. A repeated image adds nothing to a covariance's rank, has itself as its nearest
neighbour and counts twice in a kernel's mean: distances of such draws lie above the value itself, and neighbourhoods
shrink to points. So no row is repeated here. Prompts are shared out at random into blocks, each block is left out in
turn, and the spread of the values without it gives the standard error (the grouped jackknife; Shao and Tu 1995, section
2.2; Busing, Meijer and van der Leeden 1999 for blocks of unlike size). Deviations are taken from the mean of those
values, so that a bias in 1 / N cancels.

The interval is for what the metric gives on average over samples of as many prompts. That is the number to compare
between generators at equal N. It is not for the value at infinite N, which `extrapolation.py` estimates.
`tests/bench/bench_intervals.py` simulates what it covers: the mean in 87 to 100% of samples of 30 prompts, least
for KID of equal distributions, and in 93 to 100% of 100. It is up to twice as wide as need be for shares of neighbours,
which change in steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats, Ints
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined

BLOCKS = 20
FEWEST_BLOCKS = 3  # for the standard error of a difference
FEWEST_PROMPTS = 30  # below, KID's intervals hold in 77 to 83% of simulated samples of equal distributions

Statistic = Callable[[Ints], float]  # the metric of these rows, in rising order


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """Rows shared out into `count` blocks; `block` (n,) is each row's. Rows of one prompt are in one block."""

    block: Ints
    count: int
    prompts: int

    @cached_property
    def remaining(self) -> Bools:
        """(count, n): the rows that remain when each block is left out."""
        return self.block != np.arange(self.count)[:, None]

    @property
    def sizes(self) -> Ints:
        """(count,) rows of each block."""
        return np.bincount(self.block, minlength=self.count)


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """A metric's `values` (count,) without each of the `blocks` in turn."""

    values: Floats
    blocks: Blocks


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A 95% interval; where there is none, `low`, `high` and `stderr` are None and `reason` says why."""

    low: float | None
    high: float | None
    stderr: float | None
    prompts: int
    blocks: int
    reason: str = ""


def share_out(prompts: Sequence[Any] | Ints | int, *, blocks: int = BLOCKS, seed: int = 0) -> Blocks:
    """Prompts at random into `blocks` blocks of almost equal size, or into as many as there are prompts if fewer.

    `prompts`: each row's prompt (n,), or how many rows there are where each has a prompt of its own. Raises BadInput
    for no rows and fewer than two blocks.
    """
    names = np.arange(prompts) if isinstance(prompts, int) else np.asarray(prompts)
    if names.ndim != 1 or len(names) == 0:
        raise BadInput(f"prompts: expected one a row, got the shape {names.shape}")
    if blocks < 2:
        raise BadInput(f"blocks {blocks}: take 2 or more")
    _, code = np.unique(names, return_inverse=True)
    count = int(code.max()) + 1
    held = min(blocks, count)
    return Blocks(block=(np.random.default_rng(seed).permutation(count) % held)[code], count=held, prompts=count)


def leave_out(statistic: Statistic, blocks: Blocks) -> LeftOut:
    """The statistic without each block. It may raise Undefined."""
    return LeftOut(values=np.array([statistic(np.flatnonzero(rows)) for rows in blocks.remaining]), blocks=blocks)


def leave_moments_out(
    statistic: Callable[..., float],
    blocks: Blocks,
    *,
    sides: Mapping[str, Sequence[Moments] | Sequence[CrossMoments]],
) -> LeftOut:
    """The statistic of moments without each block, from the moments of every block.

    `sides` maps the statistic's own arguments, as "real" and "generated", to the moments of block 0, 1, ..., which are
    read twice, each time one after the other. Raises BadInput where a side has another number of blocks.
    """
    for name, shards in sides.items():
        if len(shards) != blocks.count:
            raise BadInput(f"{name}: expected the moments of {blocks.count} blocks, got {len(shards)}")
    whole: dict[str, Any] = {name: _merged(shards) for name, shards in sides.items()}
    values = [
        statistic(**{name: whole[name].without(shards[index]) for name, shards in sides.items()})
        for index in range(blocks.count)
    ]
    return LeftOut(values=np.array(values), blocks=blocks)


def _merged(shards: Sequence[Moments] | Sequence[CrossMoments]) -> Moments | CrossMoments:
    each = iter(shards)
    first = next(each)
    return type(first).merged(chain((first,), each))


def over_prompts(
    statistic: Statistic,
    prompts: Sequence[Any] | Ints | int,
    *,
    blocks: int = BLOCKS,
    seed: int = 0,
    lower: float = -np.inf,
    upper: float = np.inf,
) -> Interval:
    """The interval of a metric whose sides are paired by prompt: `statistic(rows)` is its value on these rows of each.

    `prompts` as `share_out` takes them; `lower` and `upper` are the metric's bounds. It computes the statistic
    `blocks` + 1 times. No interval, with its reason, where the statistic is undefined without some block.
    """
    shared = share_out(prompts, blocks=blocks, seed=seed)
    if (reason := _too_few(shared)) is not None:
        return _none(reason, (shared,))
    try:
        value = statistic(np.arange(len(shared.block)))
        left_out = leave_out(statistic, shared)
    except Undefined as error:
        return _none(str(error), (shared,))
    return interval(value, left_out, lower=lower, upper=upper)


def interval(value: float, *left_out: LeftOut, lower: float = -np.inf, upper: float = np.inf) -> Interval:
    """The interval of `value` from its values without blocks, cut at the metric's bounds.

    Several `left_out` are of independent samples, as of a reference and a generator with prompts of their own: their
    variances add up (Welch 1947 for the degrees of freedom). A fixed reference has none.
    """
    shared = tuple(each.blocks for each in left_out)
    if not left_out:
        raise BadInput("An interval needs the values without blocks of at least one sample")
    for each in left_out:
        if (reason := _too_few(each.blocks)) is not None:
            return _none(reason, shared)
        if not np.isfinite(each.values).all():
            return _none("The metric is undefined without some of its prompts or images", shared)
    variances = np.array([_variance(value, each) for each in left_out])
    total = float(variances.sum())
    if total <= np.finfo(float).eps ** 2 * value**2:
        return _none("No prompt or image changes the value, so there is no spread to measure", shared)
    freedom = total**2 / float(sum(v**2 / (each.count - 1) for v, each in zip(variances, shared, strict=True)))
    from scipy.special import stdtrit

    error = float(np.sqrt(total))
    half = float(stdtrit(freedom, 0.975)) * error
    low, high = (float(np.clip(end, lower, upper)) for end in (value - half, value + half))
    return Interval(
        low=low, high=high, stderr=error, prompts=min(s.prompts for s in shared), blocks=min(s.count for s in shared)
    )


def jackknife_covariance(values: Floats, left_out: Floats, *, sizes: Ints) -> Floats:
    """(k, k) covariance of k statistics of the same rows; arguments as `jackknife_steps` takes them."""
    steps = jackknife_steps(values, left_out, sizes=sizes)
    return steps.T @ steps


def jackknife_steps(values: Floats, left_out: Floats, *, sizes: Ints) -> Floats:
    """(blocks, k): what each block adds to the error of k statistics of the same rows; the covariance is their product
    with themselves. `values` (k,), and `left_out` (blocks, k), the values without each of the blocks of `sizes`
    (blocks,) rows.

    By pseudo-values: h value - (h - 1) value without the block, where the block is 1 / h of the rows. Source: Busing,
    Meijer and van der Leeden 1999.
    """
    share = (sizes.sum() / sizes)[:, None]
    pseudo = share * values - (share - 1) * left_out
    weight = 1 / (share - 1)
    off = pseudo - (pseudo * weight).sum(axis=0) / weight.sum()
    return np.sqrt(weight / len(sizes)) * off


def _variance(value: float, left: LeftOut) -> float:
    return float(jackknife_covariance(np.array([value]), left.values[:, None], sizes=left.blocks.sizes)[0, 0])


def _too_few(blocks: Blocks) -> str | None:
    if blocks.prompts >= FEWEST_PROMPTS:
        return None
    return f"{blocks.prompts} prompts or images are too few for an interval that holds: it needs {FEWEST_PROMPTS}"


def _none(reason: str, blocks: Sequence[Blocks]) -> Interval:
    return Interval(
        low=None,
        high=None,
        stderr=None,
        prompts=min(each.prompts for each in blocks),
        blocks=min(each.count for each in blocks),
        reason=reason,
    )
