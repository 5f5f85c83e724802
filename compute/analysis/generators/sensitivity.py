"""Whether a metric of generators sees a known fault: does it get worse with the fault's strength, and from where on.

The truth is the order of strengths, 0 for the generator without the fault. All generators draw the same prompts, so
their values rise and fall together when other prompts are drawn; differences between them are therefore taken within
each replicate of a jackknife, which leaves out the same block of prompts of every generator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks.variance import LEVEL, UNCHANGED
from compute.arrays import Floats, ranks
from compute.metrics.distribution.intervals import jackknife_covariance
from compute.types import BadInput

SEES, REWARDS, BLIND, MIXED = "sees", "rewards", "blind", "mixed"
VERDICTS = (SEES, REWARDS, BLIND, MIXED)
DRAWS = 4000  # of the values, for the interval of the rank correlation


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """One metric on one fault, strengths in rising order, the first of them 0."""

    strengths: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]  # of each value by itself
    high: tuple[float, ...]
    change: tuple[float, ...]  # of each from the first, positive where worse; the first is 0
    change_low: tuple[float, ...]  # all of them hold at once at the level
    change_high: tuple[float, ...]
    spearman: float | None  # of strength and how bad the metric says it is, -1..1; None where nothing changes
    spearman_low: float | None
    spearman_high: float | None
    monotone: bool  # worse with every step
    verdict: str  # one of VERDICTS
    seen_from: float | None  # the smallest strength from which on every strength is worse beyond its interval


def sensitivity(
    *,
    strengths: ArrayLike,
    values: ArrayLike,
    left_out: ArrayLike,
    sizes: ArrayLike,
    higher_is_better: bool,
    comparisons: int | None = None,
    seed: int = 0,
) -> Sensitivity:
    """How a metric's `values` (k,) follow `strengths` (k,), which rise from 0.

    `left_out` (blocks, k) are the values without each block of prompts, of `sizes` (blocks,) prompts. A value's
    interval is Student's of the jackknife's variance; those of the changes share the level of 95% between as many
    `comparisons` (Bonferroni), by default those of this fault. The verdict rests on them: SEES where the strongest,
    and perhaps weaker ones next to it, are worse than strength 0; REWARDS where they are better; BLIND where no
    strength differs; MIXED for any other. The interval of the rank correlation is of values drawn at random with the
    jackknife's covariance. Raises BadInput for unlike shapes, fewer than three strengths or blocks, strengths that do
    not rise from 0, and values that are not finite.
    """
    from scipy.special import stdtrit  # slow to import: not at start

    strength, value, without, blocks = (np.asarray(part, float) for part in (strengths, values, left_out, sizes))
    _check(strength, value, without, blocks)
    freedom, count = len(blocks) - 1, len(strength)
    scale = max(np.abs(value).max(), np.abs(without).max(), np.finfo(float).tiny)
    value, without = (np.round(part / scale / UNCHANGED) * UNCHANGED * scale for part in (value, without))
    covariance = jackknife_covariance(value, without, sizes=blocks)
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * np.sqrt(np.diag(covariance))
    sign = -1.0 if higher_is_better else 1.0
    change, change_without = (sign * (part - part[..., :1]) for part in (value, without))
    error = np.sqrt(np.diag(jackknife_covariance(change, change_without, sizes=blocks)))
    shared = comparisons or count - 1
    margin = float(stdtrit(freedom, 1 - (1 - LEVEL) / 2 / shared)) * error
    verdict, first = _verdict(change[1:], margin[1:])
    rho = _spearman(strength, sign * value[None])[0]
    draws = np.random.default_rng(seed).multivariate_normal(value, covariance, size=DRAWS, method="eigh")
    drawn = _spearman(strength, sign * draws)
    drawn = drawn[np.isfinite(drawn)]
    known = np.isfinite(rho) and len(drawn)
    return Sensitivity(
        strengths=tuple(strength.tolist()),
        values=tuple(value.tolist()),
        low=tuple((value - half).tolist()),
        high=tuple((value + half).tolist()),
        change=tuple(change.tolist()),
        change_low=tuple((change - margin).tolist()),
        change_high=tuple((change + margin).tolist()),
        spearman=float(rho) if known else None,
        spearman_low=float(min(rho, np.quantile(drawn, (1 - LEVEL) / 2))) if known else None,
        spearman_high=float(max(rho, np.quantile(drawn, (1 + LEVEL) / 2))) if known else None,
        monotone=bool((np.diff(change) > 0).all()),
        verdict=verdict,
        seen_from=None if first is None else float(strength[1 + first]),
    )


@dataclass(frozen=True, kw_only=True)
class FaultRun:
    """What one generator of known fault scored.

    `values` by (metric, subset); `details[subset][metric]` holds the values that are `left_out` without each of the
    `blocks`, whose numbers of prompts these are.
    """

    fault: str
    strength: float  # 0: no fault, whatever `fault` says
    values: Mapping[tuple[str, str], float]
    details: Mapping[str, Mapping[str, Any]]
    blocks: tuple[int, ...]


def by_fault(runs: Iterable[FaultRun], *, higher: Mapping[str, bool]) -> dict[tuple[str, str, str], Sensitivity]:
    """By metric, subset and fault, from strength 0 on; `higher` says of each metric whether more is better.

    All changes of a metric on one backbone share the level, whichever fault they are of: in at most 5% of studies
    without any fault does it see one.
    """
    by_key = chains(runs)
    comparisons: Counter[tuple[str, str]] = Counter()
    for (metric, subset, _), chain in by_key.items():
        comparisons[metric, subset] += len(chain) - 1
    return {
        (metric, subset, fault): sensitivity(
            strengths=[run.strength for run in chain],
            values=[run.values[metric, subset] for run in chain],
            left_out=np.transpose([_left_out(run, metric, subset) for run in chain]),
            sizes=chain[0].blocks,
            higher_is_better=higher[metric],
            comparisons=comparisons[metric, subset],
        )
        for (metric, subset, fault), chain in by_key.items()
    }


def chains(runs: Iterable[FaultRun]) -> dict[tuple[str, str, str], list[FaultRun]]:
    """The runs of each metric, subset and fault from strength 0 on, those that `by_fault` has a reading of.

    A fault counts from two strengths on. Without a generator of strength 0 there is nothing.
    """
    runs = sorted(runs, key=lambda run: run.strength)
    clean = next((run for run in runs if run.strength == 0), None)
    if clean is None:
        return {}
    by_key: dict[tuple[str, str, str], list[FaultRun]] = {}
    for metric, subset in clean.values:
        for fault in dict.fromkeys(run.fault for run in runs if run.strength):
            chain = [clean, *(run for run in runs if run.strength and run.fault == fault)]
            if len(chain) >= 3 and all(_left_out(run, metric, subset) for run in chain):
                by_key[metric, subset, fault] = chain
    return by_key


def _left_out(run: FaultRun, metric: str, subset: str) -> Sequence[float]:
    return run.details.get(subset, {}).get(metric, {}).get("left_out", ())


def _verdict(change: Floats, margin: Floats) -> tuple[str, int | None]:
    """The verdict on the strengths above 0, and the first of those from which on all are worse."""
    worse, better = change > margin, change < -margin
    if not (worse | better).any():
        return BLIND, None
    if worse[-1] and not better.any():
        return SEES, len(worse) - int(np.argmin(np.append(worse[::-1], False)))
    if better[-1] and not worse.any():
        return REWARDS, None
    return MIXED, None


def _spearman(strengths: Floats, values: Floats) -> Floats:
    """(n,) rank correlation of strengths (k,) with each row of values (n, k); NaN where all of a row are equal."""
    x = ranks(strengths) - (len(strengths) + 1) / 2
    y = ranks(values.T) - (len(strengths) + 1) / 2
    lengths = np.linalg.norm(x) * np.linalg.norm(y, axis=0)
    return np.divide(x @ y, lengths, out=np.full(len(values), np.nan), where=lengths > 0)


def _check(strengths: Floats, values: Floats, left_out: Floats, sizes: Floats) -> None:
    if (
        strengths.ndim != 1
        or values.shape != strengths.shape
        or sizes.ndim != 1
        or left_out.shape != sizes.shape + strengths.shape
    ):
        raise BadInput(
            f"{strengths.shape} strengths, {values.shape} values, {left_out.shape} values left out and {sizes.shape} "
            "sizes do not fit: give (k,), (k,), (blocks, k) and (blocks,)"
        )
    if len(strengths) < 3 or len(sizes) < 3:
        raise BadInput(f"{len(strengths)} strengths and {len(sizes)} blocks: give three of each or more")
    if strengths[0] != 0 or (np.diff(strengths) <= 0).any():
        raise BadInput("The strengths do not rise from 0: sort them, with the generator that has no fault first")
    if not (np.isfinite(values).all() and np.isfinite(left_out).all()):
        raise BadInput("A value is not a finite number: leave that metric out")
