"""Whether a metric of generators sees a known fault: does it get worse with the fault's strength, and from where on.

The truth is the order of strengths, 0 for the generator without the fault. All generators draw the same prompts, so
their values rise and fall together when other prompts are drawn; differences between them are therefore taken within
each replicate of a delete-a-group jackknife, which leaves out the same prompts of every generator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from compute.analysis.variance import LEVEL
from compute.arrays import Floats, ranks
from compute.types import BadInput

SEES, REWARDS, BLIND, MIXED = "sees", "rewards", "blind", "mixed"
VERDICTS = (SEES, REWARDS, BLIND, MIXED)
DRAWS = 4000  # of the values, for the interval of the rank correlation
UNCHANGED = 1e-9  # of the largest value, within which values are equal: rounding differs with the order of the images


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
    *, strengths: ArrayLike, values: ArrayLike, replicates: ArrayLike, higher_is_better: bool, seed: int = 0
) -> Sensitivity:
    """How a metric's `values` (k,) follow `strengths` (k,), which rise from 0.

    `replicates` (groups, k) are the values with one group of the prompts left out. A value's interval is Student's of
    the jackknife's variance; those of the changes share the level of 95% between them (Bonferroni), and the verdict
    rests on them: SEES where the strongest, and perhaps weaker ones next to it, are worse than strength 0; REWARDS
    where they are better; BLIND where no strength differs; MIXED for any other. The interval of the rank correlation
    is of values drawn at random with the jackknife's covariance. Raises BadInput for unlike shapes, fewer than three
    strengths or groups, strengths that do not rise from 0, and values that are not finite.
    """
    strength, value, left_out = (np.asarray(part, float) for part in (strengths, values, replicates))
    _check(strength, value, left_out)
    groups, count = left_out.shape
    scale = max(np.abs(value).max(), np.abs(left_out).max(), np.finfo(float).tiny)
    value, left_out = (np.round(part / scale / UNCHANGED) * UNCHANGED * scale for part in (value, left_out))
    covariance = jackknife_covariance(left_out)
    half = float(stdtrit(groups - 1, (1 + LEVEL) / 2)) * np.sqrt(np.diag(covariance))
    sign = -1.0 if higher_is_better else 1.0
    change = sign * (value - value[0])
    contrast = np.eye(count) - np.eye(count)[0]
    error = np.sqrt(np.clip(np.einsum("ij,jk,ik->i", contrast, covariance, contrast), 0, None))
    margin = float(stdtrit(groups - 1, 1 - (1 - LEVEL) / 2 / (count - 1))) * error
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

    `values` by (metric, subset); `found[subset][metric]` holds the `replicates` of the jackknife.
    """

    fault: str
    strength: float  # 0: no fault, whatever `fault` says
    values: Mapping[tuple[str, str], float]
    found: Mapping[str, Mapping[str, Any]]


def by_fault(runs: Iterable[FaultRun], *, higher: Mapping[str, bool]) -> dict[tuple[str, str, str], Sensitivity]:
    """By metric, subset and fault, from strength 0 on; `higher` says of each metric whether more is better.

    A fault counts from two strengths on. Without a generator of strength 0 there is nothing.
    """
    runs = sorted(runs, key=lambda run: run.strength)
    clean = next((run for run in runs if run.strength == 0), None)
    if clean is None:
        return {}
    out = {}
    for fault in dict.fromkeys(run.fault for run in runs if run.strength):
        chain = [clean, *(run for run in runs if run.strength and run.fault == fault)]
        for metric, subset in clean.values:
            found = [run.found.get(subset, {}).get(metric) for run in chain]
            if len(chain) < 3 or None in found:
                continue
            out[metric, subset, fault] = sensitivity(
                strengths=[run.strength for run in chain],
                values=[run.values[metric, subset] for run in chain],
                replicates=np.transpose([part["replicates"] for part in found]),
                higher_is_better=higher[metric],
            )
    return out


def jackknife_covariance(replicates: Floats) -> Floats:
    """(k, k) covariance of k statistics from their values (groups, k) with one group of equal size left out.

    Source: Shao and Tu (1995), The Jackknife and Bootstrap, section 2.3.
    """
    groups = len(replicates)
    off = replicates - replicates.mean(axis=0)
    return (groups - 1) / groups * off.T @ off


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


def _check(strengths: Floats, values: Floats, replicates: Floats) -> None:
    if strengths.ndim != 1 or values.shape != strengths.shape or replicates.shape[1:] != strengths.shape:
        raise BadInput(
            f"{strengths.shape} strengths, {values.shape} values and {replicates.shape} replicates do not fit: give "
            "(k,), (k,) and (groups, k)"
        )
    if len(strengths) < 3 or len(replicates) < 3:
        raise BadInput(f"{len(strengths)} strengths and {len(replicates)} groups: give three of each or more")
    if strengths[0] != 0 or (np.diff(strengths) <= 0).any():
        raise BadInput("The strengths do not rise from 0: sort them, with the generator that has no fault first")
    if not (np.isfinite(values).all() and np.isfinite(replicates).all()):
        raise BadInput("A value is not a finite number: leave that metric out")
