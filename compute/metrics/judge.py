"""PairBench's four metrics of a judge, as functions of its ratings of pairs in both orders.

A judge M rates every pair from 1 to 10 under a condition C (sensitive or invariant to a transformation), in the given
order and in reverse. S holds its scores in both orders; an answer that is not a score from 1 to 10 is invalid.

- **MMScore** (section 3.2.1) is NMI(S, truth): mutual information over the arithmetic mean of the two entropies. The
  paper leaves the normalisation open; this one is scikit-learn's default. Invalid answers, which the paper puts into S
  as -1, are a separate label. A judge that always gives the same score has 0. Values are labels: a judge that
  always gives 3 to identical pairs and 7 to all others does as well as one that gives 10 and 1.
- **ε-RelaxSym** (section 3.2.2) is the share of pairs whose two scores differ by at most ε; an invalid answer is never
  equal to anything. Tables use ε = 1; Figure 7 shows the curve.
- **Smoothness** (section 3.2.3) is the entropy of the valid scores of S, in nats (the paper names no base): 0 if all
  are equal, ln 10 = 2.303 if all ten are equally frequent. Undefined without a valid score.
- **Controllability** is 1 - |a - b| / sqrt(ab), with a and b the MMScores under the two conditions: 1 if they are
  equal, without a lower bound, undefined where one is 0. Section 3.2.4 prints the complement; Table 1 uses this form.

Table 1 is the plain mean over 24 splits and two conditions; for Controllability, which uses both conditions, it is the
mean over 24 splits. The board of each metric does the same.

NMI is biased upwards: by about (rows - 1)(columns - 1) / (2 N) over the mean entropy for N independent answers, so by
0.06 to 0.1 with ten source items and 0.005 with 200. Values are as the paper defines them and include the bias, which
is shown next to them. Intervals and ranks of computed scores are for the judge's MMScore on infinitely many sources,
without the bias; `resampling` explains them.

Ratings are whole numbers 1..10, NaN if the answer is invalid. Arrays have a row per pair. `sources` names the item that
each pair is made from; without it every pair is a separate source. Lists of different lengths and scores out of range
raise BadInput.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from compute.arrays import Floats, Ints
from compute.metrics import resampling
from compute.metrics.figures import Figure
from compute.metrics.resampling import Resampled
from compute.types import BadInput, Undefined

SCALE = 10  # scores are 1..SCALE; 0 stands for an invalid answer inside this file
CONDITIONS = ("sensitive", "invariant")
COLUMNS = ("expected_score", "forward", "reverse", "source")


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """A judge's scores of n pairs under a condition; all (n,)."""

    expected: Ints  # 1..10
    forward: Ints  # 1..10, 0 invalid
    reverse: Ints
    sources: np.ndarray  # str

    @classmethod
    def of(
        cls, *, forward: ArrayLike, reverse: ArrayLike, expected: ArrayLike | None = None, sources: ArrayLike | None
    ) -> Ratings:
        """Makes them from arrays of scores. Raises BadInput for different lengths, and for scores that are not whole
        numbers 1..10.
        """
        first = _scores("forward", forward, invalid=True)
        columns = {
            "forward": first,
            "reverse": _scores("reverse", reverse, invalid=True),
            "expected": np.ones_like(first) if expected is None else _scores("expected", expected, invalid=False),
            "sources": np.arange(len(first)).astype(str) if sources is None else np.asarray(sources).astype(str),
        }
        unlike = {name: column.shape for name, column in columns.items() if column.shape != first.shape}
        if unlike:
            raise BadInput(f"Expected one row per pair in every list, {first.shape} as forward has, got {unlike}")
        return cls(**columns)

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Ratings:
        """Makes them from evidence with COLUMNS. Raises BadInput if a column is missing."""
        missing = [column for column in COLUMNS if column not in frame.columns]
        if missing:
            raise BadInput(f"A judge's metrics need the column {missing[0]!r}, which the evidence does not have")
        return cls.of(
            expected=frame["expected_score"],
            forward=frame["forward"],
            reverse=frame["reverse"],
            sources=frame["source"],
        )

    def __len__(self) -> int:
        return len(self.forward)


def _scores(name: str, values: ArrayLike, *, invalid: bool) -> Ints:
    scores = np.asarray(values, dtype=float)
    known = ~np.isnan(scores) if invalid else np.ones(scores.shape, bool)
    whole = scores[known]
    wrong = whole[~np.isin(whole, np.arange(1, SCALE + 1))]
    if scores.ndim != 1 or len(wrong):
        shape = f"a list of shape {scores.shape}" if scores.ndim != 1 else f"{wrong[0]:g}"
        raise BadInput(
            f"{name} must be a list of whole scores from 1 to {SCALE}{', NaN where invalid' if invalid else ''}; "
            f"it holds {shape}"
        )
    return np.where(known, np.nan_to_num(scores), 0).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A quantity computed from counts: the cells in which a pair's two scores count, and the value of the counts of all
    cells.

    `cells` returns (m,) cell numbers, the pair (m,) of each, and the number of cells. `value` maps counts (..., width)
    to values (...), NaN if undefined; `reason` says why in words.
    """

    cells: Callable[[Ratings], tuple[Ints, Ints, int]]
    value: Callable[[Floats], Floats]
    reason: str
    lower: float
    upper: float
    is_share: bool = False
    # Values (k,) for truths shuffled as in `resampling.shuffled`; None if the quantity does not use the truth.
    unrelated: Callable[[Ratings], Floats] | None = None


def _table_cells(ratings: Ratings) -> tuple[Ints, Ints, int]:
    levels, truth = np.unique(ratings.expected, return_inverse=True)
    pairs = np.arange(len(ratings))
    cells = [truth * (SCALE + 1) + scores for scores in (ratings.forward, ratings.reverse)]
    return np.concatenate(cells), np.concatenate([pairs, pairs]), len(levels) * (SCALE + 1)


def _score_cells(ratings: Ratings) -> tuple[Ints, Ints, int]:
    side, pair = np.nonzero([ratings.forward, ratings.reverse])  # valid ones
    return np.stack([ratings.forward, ratings.reverse])[side, pair] - 1, pair, SCALE


def _gap_cells(ratings: Ratings) -> tuple[Ints, Ints, int]:
    """Returns the difference of each pair's two scores, 0..9, or 10 if one of them is invalid."""
    valid = (ratings.forward > 0) & (ratings.reverse > 0)
    gaps = np.where(valid, np.abs(ratings.forward - ratings.reverse), SCALE)
    return gaps, np.arange(len(ratings)), SCALE + 1


def nmi_of_counts(counts: Floats) -> Floats:
    """Computes NMI (...) of tables (..., truths, answers) of counts, with the arithmetic mean; NaN if at most one cell
    is filled.

    It is exactly 0 if rows are proportional, as they are for a constant judge.
    """
    n = counts.sum(axis=(-1, -2))
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = counts * n[..., None, None] / (rows[..., :, None] * columns[..., None, :])
        mutual = (counts * np.log(np.where(counts > 0, ratio, 1.0))).sum(axis=(-1, -2)) / n
        mean = (_entropy(rows) + _entropy(columns)) / 2
        return np.where(mean > 0, np.clip(mutual / mean, 0.0, 1.0), np.nan)


def _entropy(counts: Floats) -> Floats:
    """Returns the entropy (...) in nats of counts (..., k); NaN if all are 0, exactly 0 if only one is positive."""
    n = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / n
        return -(shares * np.log(np.where(counts > 0, shares, 1.0))).sum(axis=-1) + 0.0


def _unrelated(ratings: Ratings) -> Floats:
    levels, truth = np.unique(ratings.expected, return_inverse=True)
    (source,), _ = resampling.numbered([ratings.sources])
    answers, width = np.concatenate([ratings.forward, ratings.reverse]), SCALE + 1
    tables = [
        np.bincount(np.tile(moved, 2) * width + answers, minlength=len(levels) * width)
        for moved in resampling.shuffled(truth, source=source)
    ]
    return nmi_of_counts(np.reshape(tables, (-1, len(levels), width)).astype(float))


# Named functions rather than lambdas or closures, because an evaluation holds its metrics and must be picklable.
def _nmi_of_cells(counts: Floats) -> Floats:
    return nmi_of_counts(counts.reshape(*counts.shape[:-1], -1, SCALE + 1))


def _share_within(counts: Floats, *, epsilon: float) -> Floats:
    within = np.append(np.arange(SCALE) <= epsilon, False).astype(float)
    with np.errstate(invalid="ignore"):
        return counts @ within / counts.sum(axis=-1)


MMSCORE = Quantity(
    unrelated=_unrelated,
    cells=_table_cells,
    value=_nmi_of_cells,
    reason="All pairs have one expected score and all answers are the same, so mutual information is not defined",
    lower=0.0,
    upper=1.0,
)
SMOOTHNESS = Quantity(
    cells=_score_cells,
    value=_entropy,
    reason="No answer is a valid score, so there is no entropy of scores",
    lower=0.0,
    upper=float(np.log(SCALE)),
)


def _relax_sym(epsilon: float) -> Quantity:
    if not 0 <= epsilon < np.inf:
        raise BadInput(f"epsilon is a difference of scores, 0 or more, got {epsilon!r}")
    return Quantity(
        cells=_gap_cells,
        value=partial(_share_within, epsilon=epsilon),
        reason="There is no pair to compare orders of",
        lower=0,
        upper=1,
        is_share=True,
    )


RELAX_SYM = _relax_sym(1)
AVERAGED = {"mmscore": MMSCORE, "relax_sym": RELAX_SYM, "smoothness": SMOOTHNESS}  # averaged over conditions and splits
METRICS = (*AVERAGED, "controllability")  # keys of the paper's four metrics


def resampled(
    quantity: Quantity,
    parts: Sequence[Ratings],
    *,
    draws: int = resampling.DRAWS,
) -> list[Resampled]:
    """Resamples the quantity of every part over sources: one draw uses the same sources in all parts. NaN if
    undefined.
    """
    codes, sources = resampling.numbered([part.sources for part in parts])
    nothing = Resampled(whole=np.nan, drawn=np.full(draws, np.nan), bias=np.nan, sources=sources)
    figures, filled = [nothing] * len(parts), [at for at, part in enumerate(parts) if len(part)]
    if not filled:
        return figures
    sums = []  # for every non-empty part, the counts of each source (sources, width)
    for at in filled:
        cells, pair, width = quantity.cells(parts[at])
        counts = np.bincount(codes[at][pair] * width + cells, minlength=sources * width)
        sums.append(counts.reshape(sources, width).astype(float))
    ends = np.cumsum([each.shape[1] for each in sums])[:-1]
    drawn = np.split(resampling.totals(np.hstack(sums), draws=draws), ends, axis=1)
    for at, each, counts in zip(filled, sums, drawn, strict=True):
        whole, left_out = float(quantity.value(each.sum(axis=0))), quantity.value(each.sum(axis=0) - each)
        if quantity.unrelated is None or np.isnan(whole):
            bias = resampling.jackknife_bias(whole, left_out)
        else:
            bias = resampling.finite_bias(whole, unrelated=quantity.unrelated(parts[at]), left_out=left_out)
        figures[at] = Resampled(whole=whole, drawn=quantity.value(counts), bias=bias, sources=sources)
    return figures


def mean_of(parts: Sequence[Resampled]) -> Resampled:
    """Returns the plain mean over parts with the same sources; NaN if one has no value."""
    whole, drawn, bias = (
        np.mean([getattr(part, name) for part in parts], axis=0) for name in ("whole", "drawn", "bias")
    )
    return Resampled(whole=float(whole), drawn=drawn, bias=float(bias), sources=parts[0].sources)


def _figure(quantity: Quantity, *parts: Ratings) -> Figure:
    figure, n = mean_of(resampled(quantity, parts)), sum(map(len, parts))
    if np.isnan(figure.whole):
        raise Undefined(quantity.reason)
    if quantity.is_share:
        low, high = resampling.share_interval(figure)
        return Figure(value=figure.whole, n=n, stderr=figure.stderr, low=low, high=high)
    low, high = resampling.interval(figure, lower=quantity.lower, upper=quantity.upper)
    bias = None if np.isnan(figure.bias) else figure.bias
    return Figure(value=figure.whole, n=n, stderr=figure.stderr, low=low, high=high, bias=bias)


def mmscore(expected: ArrayLike, forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None) -> Figure:
    """Computes MMScore in 0..1 over both orders; `n` counts pairs. Raises Undefined if truth and answers have only one
    label.

    Source: PairBench section 3.2.1.
    """
    return _figure(MMSCORE, Ratings.of(expected=expected, forward=forward, reverse=reverse, sources=sources))


def relax_sym(forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None, epsilon: float = 1) -> Figure:
    """Computes ε-RelaxSym in 0..1: the share of pairs whose scores in the two orders differ by at most `epsilon`. `n`
    counts pairs.

    Raises Undefined without pairs. Source: PairBench section 3.2.2.
    """
    return _figure(_relax_sym(epsilon), Ratings.of(forward=forward, reverse=reverse, sources=sources))


def relax_sym_curve(forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None) -> tuple[Figure, ...]:
    """Computes ε-RelaxSym for every ε. It never decreases; its last value is the share of pairs with two valid answers.

    Source: PairBench Figure 7.
    """
    ratings = Ratings.of(forward=forward, reverse=reverse, sources=sources)
    return tuple(_figure(_relax_sym(epsilon), ratings) for epsilon in range(SCALE))


def smoothness(forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None) -> Figure:
    """Computes the entropy in nats, 0..ln 10, of the valid scores in both orders; `n` counts pairs.

    Raises Undefined if no answer is valid. Source: PairBench section 3.2.3.
    """
    return _figure(SMOOTHNESS, Ratings.of(forward=forward, reverse=reverse, sources=sources))


def evenness(*, sensitive: ArrayLike, invariant: ArrayLike) -> Floats:
    """Computes 1 - |a - b| / sqrt(ab) of MMScores under the two conditions, with broadcasting; NaN if one is 0 or
    missing.

    Source: PairBench section 3.2.4, in the form that Table 1 reports.
    """
    a, b = np.asarray(sensitive, float), np.asarray(invariant, float)
    product = a * b
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(product > 0, 1 - np.abs(a - b) / np.sqrt(np.where(product > 0, product, 1.0)), np.nan)


def controllability(evidence: Mapping[str, pd.DataFrame]) -> Figure:
    """Computes Controllability of a split from its evidence under both conditions; at most 1. `n` counts the pairs of
    both.

    1 - |a - b| / sqrt(ab) is 1 - 2 sinh(|x| / 2) of x = ln(a / b). The interval is computed for x, which is smooth
    where the conditions are equal, from bias-corrected scores and draws. It is unknown if a score may be 0.

    Raises Undefined if a condition is missing or an MMScore is 0. Source: PairBench section 3.2.4 and Table 1.
    """
    missing = [condition for condition in CONDITIONS if condition not in evidence]
    if missing:
        raise Undefined(f"There is no evidence of the {missing[0]} condition: this figure needs both")
    ratings = [Ratings.of_frame(evidence[condition]) for condition in CONDITIONS]
    parts = resampled(MMSCORE, ratings)
    for condition, part in zip(CONDITIONS, parts, strict=True):
        if not part.whole > 0:
            raise Undefined(
                f"MMScore is {'undefined' if np.isnan(part.whole) else 0} under the {condition} condition, so "
                "Controllability has no value: it divides by the two conditions' MMScores"
            )
    a, b = parts
    plain = replace(
        a,
        whole=float(evenness(sensitive=a.whole, invariant=b.whole)),
        drawn=evenness(sensitive=a.drawn, invariant=b.drawn),
        bias=0.0,
    )
    (first, first_drawn), (second, second_drawn) = (
        (part.whole - part.bias, part.drawn - part.drawn.mean() + part.whole - part.bias) for part in parts
    )
    ratio = replace(plain, whole=float(_log_ratio(first, second)), drawn=_log_ratio(first_drawn, second_drawn))
    low, high = resampling.interval(ratio)
    if low is not None and high is not None:
        far, near = max(abs(low), abs(high)), 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        low, high = (float(1 - 2 * np.sinh(distance / 2)) for distance in (far, near))
    corrected = float(evenness(sensitive=first, invariant=second))
    bias = None if np.isnan(corrected) else plain.whole - corrected
    return Figure(value=plain.whole, n=sum(map(len, ratings)), stderr=plain.stderr, low=low, high=high, bias=bias)


def _log_ratio(a: ArrayLike, b: ArrayLike) -> Floats:
    """Returns ln(a / b); NaN if either is not positive."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    both = (a > 0) & (b > 0)
    return np.where(both, np.log(np.where(both, a, 1.0) / np.where(both, b, 1.0)), np.nan)


def mean(quantity: Quantity, evidence: Mapping[str, pd.DataFrame]) -> Figure:
    """Computes the mean of a quantity over the subsets of a task, which share their sources; `n` counts the pairs of
    all subsets.

    Raises Undefined if it has no value in one of them.
    """
    return _figure(quantity, *map(Ratings.of_frame, evidence.values()))
