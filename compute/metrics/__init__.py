"""Metrics: `registry.py` has a row per metric; the other files compute the quantities as pure functions of arrays.

From Python, as `compute.metrics.<name>`; every docstring gives shapes, errors and source:

- of rankings, one value per query: `ndcg`, `ideal_dcg`, `average_precision`, `trapezoid_average_precision`, `hit_rate`,
  `reciprocal_rank`;
- of groupings and similarities, each with its standard error: `nmi`, `cosine_spearman`;
- of judges: `mmscore`, `relax_sym`, `smoothness`, `controllability`;
- of scores against people's: `correlation`, `squared_correlation`, `rank_accuracy`;
- of features of real and generated images: `frechet`, `cfred`, `cmmd`, `kid`, `manifold` (precision to coverage),
  `vendi`, `inception_score`, `clipscore`.

>>> from likeness import compute
>>> gains = [[0, 1, 1]]  # (queries, depth): relevant documents at ranks 2 and 3
>>> ideal = compute.metrics.ideal_dcg(query=[0, 0], grade=[1, 1], queries=1, at=10)
>>> compute.metrics.ndcg(gains, ideal=ideal, at=10).round(4).tolist()
[0.6934]
>>> round(compute.metrics.nmi([0, 0, 1, 1], ["a", "a", "b", "c"]).value, 4)
0.8
"""

from __future__ import annotations

from typing import Any

from compute.metrics.agreement import correlation, rank_accuracy, squared_correlation
from compute.metrics.figures import cosine_spearman, nmi
from compute.metrics.judge import controllability, mmscore, relax_sym, smoothness
from compute.metrics.ranking import (
    average_precision,
    hit_rate,
    ideal_dcg,
    ndcg,
    reciprocal_rank,
    trapezoid_average_precision,
)
from compute.metrics.registry import METRICS

# Metrics that load scipy's linear algebra on first use.
OF_FEATURES = ("cfred", "clipscore", "cmmd", "frechet", "inception_score", "kid", "manifold", "vendi")
__all__ = (
    "METRICS",
    "average_precision",
    "controllability",
    "correlation",
    "cosine_spearman",
    "hit_rate",
    "ideal_dcg",
    "mmscore",
    "ndcg",
    "nmi",
    "rank_accuracy",
    "reciprocal_rank",
    "relax_sym",
    "smoothness",
    "squared_correlation",
    "trapezoid_average_precision",
)


def __getattr__(name: str) -> Any:
    if name in OF_FEATURES:
        from compute.metrics.distribution.cfred import cfred
        from compute.metrics.distribution.frechet import frechet
        from compute.metrics.distribution.pairwise import cmmd, kid, manifold, vendi
        from compute.metrics.distribution.reference_free import clipscore, inception_score

        functions = (cfred, clipscore, cmmd, frechet, inception_score, kid, manifold, vendi)
        return {function.__name__: function for function in functions}[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *OF_FEATURES))
