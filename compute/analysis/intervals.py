"""Intervals around single scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats
from compute.rounding import rounded
from compute.types import Metric, Score

Z95 = 1.959963984540054  # normal quantile of 97.5 percent
# A share of fewer items is too coarse for a normal test: one that compares two of them would see differences that
# Fisher's exact test does not.
FEWEST_ITEMS = 10


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value and its 95% interval; NaN: not known, and `reason` says why."""

    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether it has an interval."""
        return not math.isnan(self.low)

    def text(self, digits: int, *, scale: float = 1.0) -> str:
        """`0.85 (0.71 to 0.93)`; the value alone if it has no interval, - if there is none."""
        known = (each for each in (self.value, self.low, self.high) if not math.isnan(each))
        value, *ends = [rounded(each, digits, scale=scale) for each in known] or "-"
        return f"{value} ({ends[0]} to {ends[1]})" if ends else value


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """What is known of one difference by itself, a minus b."""

    p: float = math.nan  # two-sided
    n: int | None = None  # items


def bias_note(value: float, bias: float | None, *, digits: int, scale: float = 1.0) -> str:
    """Returns what is on the line of a value and its interval where the value has a bias: the interval need not hold
    it.

    `the interval is of 9.10: corrected for the bias of few items`; empty if the bias is not known or rounds to 0.
    """
    if bias is None or np.isnan(bias) or float(rounded(bias, digits, scale=scale)) == 0:
        return ""
    return f"the interval is of {rounded(value - bias, digits, scale=scale)}: corrected for the bias of few items"


def score_interval(
    *, value: float, stderr: float, lower: float | None = None, upper: float | None = None, share_of: int | None = None
) -> tuple[float, float]:
    """Returns the 95% interval value ± 1.96 stderr, cut at the metric's bounds; all in one unit.

    Source: the normal approximation that UniSim-Bench Table 6 prints. Where none or all of `share_of` items are right
    the width would be zero, and Wilson's interval (1927) is used.
    """
    if stderr == 0 and share_of and value in (0, 1):
        most = Z95 * float(_error_of_none(share_of))
        return (0.0, most) if value == 0 else (1 - most, 1.0)
    low, high = value - Z95 * stderr, value + Z95 * stderr
    return (low if lower is None else max(low, lower)), (high if upper is None else min(high, upper))


def sampling_errors(*, values: ArrayLike, stderr: ArrayLike, share_of: ArrayLike) -> Floats:
    """Returns the standard errors that ranks and tests take for those of scores, NaN if not known; shapes broadcast.

    An error of 0 is none. Where none or all of `share_of` items are right it is the error whose 1.96-fold ends where
    `score_interval` does; elsewhere it says only that nothing varied, and is not known. Nor is that of a share of fewer
    than FEWEST_ITEMS items, which no normal test is for. share_of: the number of items that a score is a share of, NaN
    if it is not such a share or the number is not known.
    """
    value, error, items = (np.asarray(each, float) for each in (values, stderr, share_of))
    none_varied = ((value == 0) | (value == 1)) & (items >= FEWEST_ITEMS)
    of_none = np.where(none_varied, _error_of_none(np.where(none_varied, items, 1.0)), np.nan)
    return np.where(items < FEWEST_ITEMS, np.nan, np.where(error == 0, of_none, error))


def _error_of_none(items: ArrayLike) -> Floats:
    """The standard error of a share of which no item, or every one, is right: Wilson's limit over Z95."""
    return Z95 / (np.asarray(items, float) + Z95**2)


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95% interval of a share of n items (Wilson 1927); 0 to 1 of none.

    Items may be worth anything from 0 to 1: of such a mean it is at least as wide as it should be.
    """
    if not n:
        return 0.0, 1.0
    z2 = Z95**2
    centre, half = share + z2 / (2 * n), Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def interval(score: Score, metric: Metric) -> tuple[float, float] | None:
    """Returns the 95% interval of a score in stored units: its own if it has one, else from its standard error.

    None if the error is not known. So it is where it is 0, unless the score is a share of a known number of items:
    elsewhere 0 says only that nothing varied.
    """
    if score.low is not None and score.high is not None:
        return score.low, score.high
    share_of = score.n if metric.proportion else None
    if score.stderr is None or (score.stderr == 0 and not share_of):
        return None
    return score_interval(
        value=score.value, stderr=score.stderr, lower=metric.lower, upper=metric.upper, share_of=share_of
    )
