"""Intervals around single scores."""

from __future__ import annotations

from compute.types import BadInput

Z95 = 1.959963984540054  # normal quantile of 97.5 percent


def score_interval(*, value: float, stderr: float, lower: float | None = None,
                   upper: float | None = None) -> tuple[float, float]:
    """The 95% interval value ± 1.96 stderr, cut at the metric's bounds; all in one unit.

    Source: the normal approximation that UniSim-Bench Table 6 prints. Raises BadInput for a negative stderr.
    """
    if stderr < 0:
        raise BadInput(f"A standard error is never negative, got {stderr:g}")
    low, high = value - Z95 * stderr, value + Z95 * stderr
    return (low if lower is None else max(low, lower)), (high if upper is None else min(high, upper))
