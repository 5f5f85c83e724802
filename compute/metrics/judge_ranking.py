"""Whether judges differ significantly by MMScore, and how many source items that takes.

A judge's evidence is its frames by subset, such as {"sensitive": ..., "invariant": ...}; its score is the plain mean of
their MMScores. Judges are compared on the same pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.arrays import Floats, Ints
from compute.metrics import resampling
from compute.metrics.figures import Figure
from compute.metrics.judge import MMSCORE, Ratings, resampled, source_sums
from compute.metrics.resampling import Resampled
from compute.types import BadInput, Undefined

SIZES = (10, 20, 50, 100, 200, 500)
SUBSAMPLES = 500


@dataclass(frozen=True, kw_only=True)
class SubsampledRanking:
    """The ranking by MMScore of `size` sources, drawn repeatedly without replacement, compared with that of all."""

    size: int
    tau: float  # mean of Kendall's tau-b with the ranking of all sources
    tau_low: float  # 95% of the subsamples lie between these two
    tau_high: float
    same_winner: float  # share of subsamples whose best judge is that of all sources
    is_optimistic: bool  # more than half of all sources: such subsamples agree with the whole they are most of


def difference(*, first: Mapping[str, pd.DataFrame], second: Mapping[str, pd.DataFrame]) -> Figure:
    """MMScore of the first judge minus that of the second: a paired bootstrap, both on the same drawn sources.

    The two differ significantly where `low` and `high` are known and have 0 outside. `n` counts pairs of one judge.
    Raises BadInput where the judges were not put the same pairs, Undefined where one has no MMScore.
    """
    parts, subsets = _same_pairs({"first": first, "second": second})
    scores = resampled(MMSCORE, [each for judge in parts.values() for each in judge])
    if np.isnan(scores.whole).any():
        raise Undefined("A judge has no MMScore under a condition, so there is no difference")
    sides = slice(0, subsets), slice(subsets, None)
    whole, drawn, bias = (
        values[..., sides[0]].mean(axis=-1) - values[..., sides[1]].mean(axis=-1)
        for values in (scores.whole, scores.drawn, scores.bias)
    )
    figure = Resampled(whole=float(whole), drawn=drawn, bias=float(bias), sources=scores.sources)
    low, high = resampling.interval(figure, lower=-1.0, upper=1.0)
    return Figure(value=figure.whole, n=sum(map(len, parts["first"])), stderr=figure.stderr, low=low, high=high)


def ranking_stability(
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    *,
    sizes: Sequence[int] = SIZES,
    subsamples: int = SUBSAMPLES,
    seed: int = 0,
) -> tuple[SubsampledRanking, ...]:
    """How well ever more sources agree with the ranking of all, for each of `sizes` below the number of sources.

    PairBench takes 500 sources. Subsamples overlap with one another and with the whole, which makes larger ones agree
    more than new sources would (`is_optimistic`). Raises Undefined below two judges, where the whole ranks all the same
    or no size is below the number of sources; BadInput where judges were not put the same pairs.
    """
    if len(judges) < 2:
        raise Undefined(f"A ranking needs two judges, got {len(judges)}")
    parts, subsets = _same_pairs(judges)
    sums, sources = source_sums(MMSCORE, [each for judge in parts.values() for each in judge])
    usable = [size for size in sorted(set(sizes)) if 2 <= size < sources]
    if not usable:
        raise Undefined(f"There are {sources} sources, so no subsample of {', '.join(map(str, sizes))} to take")
    everything = _scores(sums, np.ones((1, sources)), subsets=subsets)
    if np.ptp(everything[0]) == 0 or np.isnan(everything).any():
        raise Undefined("All judges have the same MMScore or none, so there is no ranking to agree with")
    generator = np.random.default_rng(seed)
    points = []
    for size in usable:
        order = generator.random((subsamples, sources)).argsort(axis=1)
        scores = _scores(sums, (order < size).astype(float), subsets=subsets)
        agreement = kendall_tau(scores, everything[0])
        best = np.isclose(scores.max(axis=1), scores[:, everything[0].argmax()], rtol=0, atol=1e-12)
        tau_low, tau_high = np.nanquantile(agreement, [0.025, 0.975])
        points.append(
            SubsampledRanking(
                size=size,
                tau=float(np.nanmean(agreement)),
                tau_low=float(tau_low),
                tau_high=float(tau_high),
                same_winner=float(best.mean()),
                is_optimistic=2 * size > sources,
            )
        )
    return tuple(points)


def kendall_tau(scores: Floats, reference: Floats) -> Floats:
    """Kendall's tau-b (rows,) of `scores` (rows, n) with `reference` (n,); NaN where either side ties all.

    Source: Kendall 1945; as scipy.stats.kendalltau, for many rows at once.
    """
    first, second = np.triu_indices(scores.shape[1], k=1)
    ours = np.sign(np.round(scores[:, first] - scores[:, second], 12))
    whole = np.sign(np.round(reference[first] - reference[second], 12))
    untied = np.sqrt(np.abs(ours).sum(axis=1) * np.abs(whole).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(untied > 0, (ours * whole).sum(axis=1) / untied, np.nan)


def _scores(sums: Sequence[Floats], weights: Floats, *, subsets: int) -> Floats:
    """(rows, judges) mean MMScores with sources weighted by `weights` (rows, sources)."""
    values = np.stack([MMSCORE.value(weights @ each) for each in sums], axis=1)
    return values.reshape(len(weights), -1, subsets).mean(axis=2)


def _same_pairs(judges: Mapping[str, Mapping[str, pd.DataFrame]]) -> tuple[dict[str, list[Ratings]], int]:
    """Every judge's ratings by subset, and how many subsets they have. Raises BadInput where their pairs differ."""
    (leader, evidence), *_ = judges.items()
    parts: dict[str, list[Ratings]] = {}
    subsets = list(evidence)
    if not subsets:
        raise BadInput(f"There is no evidence of {leader}")
    for name, frames in judges.items():
        if set(frames) != set(subsets):
            raise BadInput(f"{name} has the subsets {', '.join(frames)}, {leader} has {', '.join(subsets)}")
        parts[name] = [Ratings.of_frame(frames[subset]) for subset in subsets]
        for subset, ours, theirs in zip(subsets, parts[name], parts[leader], strict=True):
            if _pairs(ours) != _pairs(theirs):
                raise BadInput(
                    f"{name} and {leader} were not asked the same pairs ({subset}): compare runs of one manifest"
                )
    return parts, len(subsets)


def _pairs(ratings: Ratings) -> list[tuple[str, int]]:
    expected: Ints = ratings.expected
    return sorted(zip(ratings.sources.tolist(), expected.tolist(), strict=True))
