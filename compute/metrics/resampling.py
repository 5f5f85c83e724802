"""Intervals by resampling source items: all pairs of a source, in both orders, are drawn together.

The pairs made from a source photograph are not independent, so the photographs are what a bootstrap draws (Davison and
Hinkley 1997, section 3.8). Sums are stored per source, and a draw is a product of weights and sums: 2,000 draws of 500
sources take milliseconds. Draws are seeded, so the same evidence always has the same interval.

Percentile intervals do not work here: mutual information, entropy and similar quantities are biased, and a draw repeats
sources, which adds the same bias again. With ten sources, the percentile interval of a good judge's MMScore contains
the true value in 15 of 100 samples. This interval subtracts the bias estimated by excluding one source at a time (the
jackknife, Quenouille 1956). Its width follows from the spread of the draws, with Student's quantile for the number of
sources S: value - bias ± t sd sqrt(S / (S - 1)). With few sources, it can be entirely below a plain MMScore, which is
then known to be too high. `tests/compute/metrics/test_judge_coverage.py` simulates its coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats, Ints
from compute.types import BadInput

DRAWS = 2000
SHUFFLES = 500
_NOTHING = 1e-12  # an error due only to rounding
_BLOCK = 1 << 21  # weights generated at a time: 16 MB
_UNDEFINED_DRAWS = 0.025  # with more undefined draws, an end of the interval would be undefined too


def numbered(sources: Sequence[ArrayLike]) -> tuple[list[Ints], int]:
    """Numbers the sources of several lists (n,) jointly and returns how many there are. One name is one source in all
    lists.
    """
    lists = [np.asarray(names).astype(str) for names in sources]
    names, codes = np.unique(np.concatenate(lists), return_inverse=True)
    return np.split(codes.astype(np.int64), np.cumsum([len(each) for each in lists])[:-1]), len(names)


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """A quantity of the whole and of every draw; NaN if undefined."""

    whole: float
    drawn: Floats  # (draws,)
    bias: float  # how far the expected value exceeds that for infinitely many sources
    sources: int

    @property
    def stderr(self) -> float | None:
        """Returns the standard error: `spread`, but None if no draw differs.

        If no source differs from another, as for a judge without errors, other sources may still differ.
        """
        spread = self.spread
        return None if spread is None or spread <= _NOTHING else spread

    @property
    def spread(self) -> float | None:
        """Returns the standard deviation over the draws; None if there are fewer than two sources or too many undefined
        draws.
        """
        known = self.drawn[~np.isnan(self.drawn)]
        if self.sources < 2 or len(known) < max(2, (1 - _UNDEFINED_DRAWS) * len(self.drawn)):
            return None
        return float(known.std(ddof=1))


def jackknife_bias(whole: float, left_out: Floats) -> float:
    """Returns the bias of a quantity from its values (sources,) without each source in turn; NaN if all are
    undefined.
    """
    n, known = len(left_out), left_out[~np.isnan(left_out)]
    return float((n - 1) * (known.mean() - whole)) if len(known) else float("nan")


def finite_bias(whole: float, *, unrelated: ArrayLike, left_out: Floats) -> float:
    """Returns the expected upward bias of mutual information, or of a quantity derived from it, for so few items.

    `unrelated` holds its values for shuffled truths. If the whole is no higher than 95% of them, the answers may be
    independent of the truth, and the bias is their mean. Otherwise it is the jackknife estimate from `left_out`. The
    jackknife is inaccurate if many cells of the table are nearly empty, as for a random judge. The mean over shuffled
    truths is far too large for a good judge, whose answers fill few cells.
    """
    values = np.asarray(unrelated, float)
    return float(values.mean()) if whole <= np.quantile(values, 0.95) else jackknife_bias(whole, left_out)


def shuffled(labels: Ints, *, source: Ints, times: int = SHUFFLES) -> Iterator[Ints]:
    """Yields `times` permutations of `labels` (n,). Labels are permuted within each source, and whole sources are
    swapped with sources of equal size, so that what the rows of a source share stays together.
    """
    generator = np.random.default_rng(0)
    order, sizes = np.argsort(source, kind="stable"), np.bincount(source)[source]
    blocks = [order[sizes[order] == size].reshape(-1, size) for size in np.unique(sizes)]
    for _ in range(times):
        out = np.empty_like(labels)
        for rows in blocks:
            out[rows] = generator.permuted(generator.permutation(labels[rows]), axis=1)
        yield out


def totals(sums: Floats, *, draws: int = DRAWS) -> Floats:
    """Returns (draws, width): the sums over each draw of `sources` sources with replacement, from `sums` (sources,
    width).
    """
    sources, width = sums.shape
    generator = np.random.default_rng(0)
    out = np.empty((draws, width))
    step = max(1, _BLOCK // max(sources, 1))
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        drawn = generator.integers(0, sources, (rows, sources)) + sources * np.arange(rows)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=rows * sources).reshape(rows, sources)
        out[start : start + rows] = weights.astype(float) @ sums
    return out


def ratio(*, top: ArrayLike, bottom: ArrayLike, sources: ArrayLike | None) -> Resampled:
    """Returns the sum of `top` over the sum of `bottom`, both (n,), with the rows of a source drawn together.

    It is NaN if `bottom` sums to 0. Raises BadInput for different lengths.
    """
    columns = np.stack(np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float)), axis=1)
    names = np.arange(len(columns)) if sources is None else np.asarray(sources)
    if names.shape != (len(columns),):
        raise BadInput(f"Expected one source per row, {len(columns)} of them, got shape {names.shape}")
    (source,), count = numbered([names])
    sums = np.stack([np.bincount(source, weights=column, minlength=count) for column in columns.T], axis=1)
    whole = _quotient(sums.sum(axis=0))
    return Resampled(
        whole=float(whole),
        drawn=_quotient(totals(sums)) if count else np.full(DRAWS, np.nan),
        bias=jackknife_bias(float(whole), _quotient(sums.sum(axis=0) - sums)),
        sources=count,
    )


def _quotient(sums: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sums[..., 1] != 0, sums[..., 0] / sums[..., 1], np.nan)


def interval(
    figure: Resampled, *, lower: float = -np.inf, upper: float = np.inf
) -> tuple[float, float] | tuple[None, None]:
    """Returns the 95% interval, clipped to the bounds.

    It is unknown, (None, None), without a standard error.
    """
    error = figure.stderr
    if error is None or np.isnan(figure.bias):
        return None, None
    from scipy.special import stdtrit

    half = float(stdtrit(figure.sources - 1, 0.975)) * error * np.sqrt(figure.sources / (figure.sources - 1))
    centre = figure.whole - figure.bias
    return float(np.clip(centre - half, lower, upper)), float(np.clip(centre + half, lower, upper))


def share_interval(figure: Resampled) -> tuple[float, float] | tuple[None, None]:
    """Returns the 95% interval of a share: Wilson's (1927) for the effective number of independent items, which has the
    spread of the draws (Kish 1965), or for the number of sources if no draw differs.

    A share of 0 or 1 also has an interval: an event that did not happen in 20 sources may still happen.
    """
    share, spread, sources = figure.whole, figure.spread, figure.sources
    if spread is None:
        return None, None
    from scipy.special import stdtrit

    n = float(sources) if spread <= _NOTHING else share * (1 - share) / spread**2 * (sources - 1) / sources
    t2 = float(stdtrit(sources - 1, 0.975)) ** 2
    centre = (share + t2 / (2 * n)) / (1 + t2 / n)
    half = np.sqrt(t2 * (share * (1 - share) / n + t2 / (4 * n**2))) / (1 + t2 / n)
    low, high = float(max(centre - half, 0.0)), float(min(centre + half, 1.0))
    return (0.0 if share == 0 else low), (1.0 if share == 1 else high)
