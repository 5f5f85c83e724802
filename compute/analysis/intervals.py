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
# A share of fewer items is too coarse for a normal test, which would find differences that Fisher's exact test does
# not.
FEWEST_ITEMS = 10


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value and its 95% interval. If the interval is unknown (NaN), `reason` says why."""

    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether it has an interval."""
        return not math.isnan(self.low)

    def text(self, digits: int, *, scale: float = 1.0) -> str:
        """Formats as `0.85 (0.71 to 0.93)`; as the value alone without an interval, and as - without a value."""
        known = (each for each in (self.value, self.low, self.high) if not math.isnan(each))
        value, *ends = [rounded(each, digits, scale=scale) for each in known] or "-"
        return f"{value} ({ends[0]} to {ends[1]})" if ends else value


@dataclass(frozen=True, kw_only=True)
class Difference(Estimate):
    """One difference by itself, a minus b."""

    p: float = math.nan  # two-sided
    n: int | None = None  # items


def bias_note(value: float, bias: float | None, *, digits: int, scale: float = 1.0) -> str:
    """Returns a note for a value with a bias, whose interval need not contain it.

    `the interval is of 9.10: corrected for the bias of few items`; empty if the bias is unknown or rounds to 0.
    """
    if bias is None or np.isnan(bias) or float(rounded(bias, digits, scale=scale)) == 0:
        return ""
    return f"the interval is of {rounded(value - bias, digits, scale=scale)}: corrected for the bias of few items"


def score_interval(
    *, value: float, stderr: float, lower: float | None = None, upper: float | None = None, share_of: int | None = None
) -> tuple[float, float]:
    """Returns the 95% interval value ± 1.96 stderr, clipped to the metric's bounds; all in one unit.

    Source: the normal approximation that UniSim-Bench Table 6 prints. If none or all of `share_of` items are right, the
    width would be zero, so Wilson's interval (1927) is used.
    """
    if stderr == 0 and share_of and value in (0, 1):
        most = Z95 * float(_error_of_none(share_of))
        return (0.0, most) if value == 0 else (1 - most, 1.0)
    low, high = value - Z95 * stderr, value + Z95 * stderr
    return (low if lower is None else max(low, lower)), (high if upper is None else min(high, upper))


def sampling_errors(*, values: ArrayLike, stderr: ArrayLike, share_of: ArrayLike) -> Floats:
    """Returns the standard errors of scores for ranks and tests, NaN if unknown; shapes broadcast.

    An error of 0 is not an error. If none or all of `share_of` items are right, the error is the one whose 1.96-fold
    ends where `score_interval` does. Otherwise 0 only says that nothing varied, and the error is unknown. It is also
    unknown for a share of fewer than FEWEST_ITEMS items, which is too few for a normal test. share_of: the number of
    items that a score is a share of, NaN if it is not such a share or the number is unknown.
    """
    value, error, items = (np.asarray(each, float) for each in (values, stderr, share_of))
    none_varied = ((value == 0) | (value == 1)) & (items >= FEWEST_ITEMS)
    of_none = np.where(none_varied, _error_of_none(np.where(none_varied, items, 1.0)), np.nan)
    return np.where(items < FEWEST_ITEMS, np.nan, np.where(error == 0, of_none, error))


def _error_of_none(items: ArrayLike) -> Floats:
    """Returns the standard error of a share of 0 or 1: Wilson's limit over Z95."""
    return Z95 / (np.asarray(items, float) + Z95**2)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Returns the 95% interval of a share of n items (Wilson 1927); 0 to 1 if n is 0.

    Items may be worth anything from 0 to 1: for such a mean the interval is at least as wide as it should be.
    """
    if not n:
        return 0.0, 1.0
    z2 = Z95**2
    centre, half = share + z2 / (2 * n), Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n**2))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def interval(score: Score, metric: Metric) -> tuple[float, float] | None:
    """Returns the 95% interval of a score in stored units: its own if it has one, else from its standard error.

    Returns None if the error is unknown. An error of 0 is unknown unless the score is a share of a known number of
    items: it only says that nothing varied.
    """
    if score.low is not None and score.high is not None:
        return score.low, score.high
    share_of = score.n if metric.proportion else None
    if score.stderr is None or (score.stderr == 0 and not share_of):
        return None
    return score_interval(
        value=score.value, stderr=score.stderr, lower=metric.lower, upper=metric.upper, share_of=share_of
    )
