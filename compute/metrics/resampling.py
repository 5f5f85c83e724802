"""Intervals by resampling source items: all pairs of a source, in both orders, move together.

The pairs made from a source photograph are not independent, so the photographs are what a bootstrap draws (Davison and
Hinkley 1997, section 3.8). Sums are kept by source, and a draw is a product of weights and sums: 2,000 draws of 500
sources take milliseconds. Draws are seeded: the same evidence has the same interval.

Why not the percentile interval: mutual information, entropy and their kin are biased, and a draw repeats sources,
which adds the same bias again. With ten sources the percentile interval of a good judge's MMScore holds the true value
in 15 of 100 samples. The interval here takes off the bias that excluding one source at a time shows (the jackknife,
Quenouille 1956), and is as wide as the draws spread, with Student's quantile for the number of sources S:
value - bias ± t sd sqrt(S / (S - 1)). With few sources it can lie wholly below a plain MMScore, which is then known to
be too high. `tests/compute/metrics/test_judge_coverage.py` simulates what it covers.
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
_NOTHING = 1e-12  # an error from rounding alone
_BLOCK = 1 << 21  # weights made at a time: 16 MB
_UNDEFINED_DRAWS = 0.025  # with more draws without a value, an end of the interval would have none either


def numbered(sources: Sequence[ArrayLike]) -> tuple[list[Ints], int]:
    """Sources of several lists under one numbering, each (n,), and how many there are: one name is one source in
    all."""
    lists = [np.asarray(names).astype(str) for names in sources]
    names, codes = np.unique(np.concatenate(lists), return_inverse=True)
    return np.split(codes.astype(np.int64), np.cumsum([len(each) for each in lists])[:-1]), len(names)


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """A figure of the whole and of every draw; NaN if it has no value."""

    whole: float
    drawn: Floats  # (draws,)
    bias: float  # how much higher the figure is expected to be than that of endless sources
    sources: int

    @property
    def stderr(self) -> float | None:
        """The standard error: `spread`, but None if no draw differs.

        That no source differs from another, as in a judge without a miss, does not show that none would.
        """
        spread = self.spread
        return None if spread is None or spread <= _NOTHING else spread

    @property
    def spread(self) -> float | None:
        """Standard deviation over the draws; None with fewer than two sources, or many draws without a value."""
        known = self.drawn[~np.isnan(self.drawn)]
        if self.sources < 2 or len(known) < max(2, (1 - _UNDEFINED_DRAWS) * len(self.drawn)):
            return None
        return float(known.std(ddof=1))


def jackknife_bias(whole: float, left_out: Floats) -> float:
    """Returns the bias of a figure by its values (sources,) without each source in turn; NaN if these are undefined."""
    n, known = len(left_out), left_out[~np.isnan(left_out)]
    return float((n - 1) * (known.mean() - whole)) if len(known) else float("nan")


def finite_bias(whole: float, *, unrelated: ArrayLike, left_out: Floats) -> float:
    """Returns how much too high mutual information, or what is made of it, is expected to be for so few items.

    `unrelated` holds its values for shuffled truths. Where the whole is no higher than 95% of them, the answers may
    be independent of the truth, and the bias is their mean; elsewhere it is the jackknife's by `left_out`. The
    jackknife is far off where many cells of the table are nearly empty, as a random judge's are; the mean of the
    shuffled is far too much for a good one, whose answers fill few cells.
    """
    values = np.asarray(unrelated, float)
    return float(values.mean()) if whole <= np.quantile(values, 0.95) else jackknife_bias(whole, left_out)


def shuffled(labels: Ints, *, source: Ints, times: int = SHUFFLES) -> Iterator[Ints]:
    """`times` permutations of `labels` (n,): among the rows of each source, and whole sources of as many rows among
    one another, so that what the rows of a source share stays together."""
    generator = np.random.default_rng(0)
    order, sizes = np.argsort(source, kind="stable"), np.bincount(source)[source]
    blocks = [order[sizes[order] == size].reshape(-1, size) for size in np.unique(sizes)]
    for _ in range(times):
        out = np.empty_like(labels)
        for rows in blocks:
            out[rows] = generator.permuted(generator.permutation(labels[rows]), axis=1)
        yield out


def totals(sums: Floats, *, draws: int = DRAWS) -> Floats:
    """(draws, width): sums over each draw of as many sources with replacement, from `sums` (sources, width)."""
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

    NaN if `bottom` sums to 0. Raises BadInput for different lengths.
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
    """Returns the figure's 95% interval, cut at its bounds.

    Unknown (None, None) without a standard error.
    """
    error = figure.stderr
    if error is None or np.isnan(figure.bias):
        return None, None
    from scipy.special import stdtrit

    half = float(stdtrit(figure.sources - 1, 0.975)) * error * np.sqrt(figure.sources / (figure.sources - 1))
    centre = figure.whole - figure.bias
    return float(np.clip(centre - half, lower, upper)), float(np.clip(centre + half, lower, upper))


def share_interval(figure: Resampled) -> tuple[float, float] | tuple[None, None]:
    """The 95% interval of a share: Wilson's (1927) for the number of independent items that would spread as the draws
    do (Kish 1965), or for the number of sources where no draw differs.

    Of a share of 0 or 1 too: that nothing happened in 20 sources does not mean that it never does.
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
