"""Whether judges differ significantly by MMScore.

A judge's evidence is its frames by subset, such as {"sensitive": ..., "invariant": ...}; its score is the plain mean of
their MMScores. Judges are compared on the same pairs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from compute.arrays import Ints
from compute.metrics import resampling
from compute.metrics.figures import Figure
from compute.metrics.judge import MMSCORE, Ratings, resampled
from compute.metrics.resampling import Resampled
from compute.types import BadInput, Undefined


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
