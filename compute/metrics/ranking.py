"""How good rankings are, one figure a query: nDCG, average precision, hit rate, reciprocal rank, as in trec_eval.

Every function takes `gains` (queries, depth): the grade of the document at each rank, 0 where it is not relevant or
the ranking has ended. Documents of the same score stand in falling order of their names, which is trec_eval's rule;
whoever makes the ranking keeps it. `relevant` (queries,) counts a query's relevant documents, retrieved or not; a query
without any has no figure (NaN).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Floats, Ints


def ideal_dcg(*, query: Ints, grade: NDArray[np.floating], queries: int, at: int) -> Floats:
    """(queries,) discounted gain of the best possible first `at` ranks.

    `query`, `grade` (pairs,): which query a graded document belongs to and its grade; grades of 0 or less gain nothing.
    """
    gain = np.maximum(np.asarray(grade, float), 0.0)
    order = np.lexsort((-gain, query))
    query, gain = np.asarray(query)[order], gain[order]
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    counted = rank < at
    return np.bincount(query[counted], weights=gain[counted] / np.log2(rank[counted] + 2.0), minlength=queries)


def ndcg(gains: NDArray[np.floating], *, ideal: Floats, at: int) -> Floats:
    """Sum of grade / log2(rank + 1) over the first `at` ranks, over the best possible; in 0..1.

    `ideal` from `ideal_dcg` with the same `at`. Source: Järvelin and Kekäläinen 2002, in trec_eval's form (ndcg_cut).
    """
    first = np.asarray(gains[:, :at], float)
    dcg = first @ (1.0 / np.log2(np.arange(first.shape[1]) + 2.0))
    return _ratio(dcg, ideal)


def average_precision(gains: NDArray[np.floating], *, relevant: NDArray[np.integer], at: int | None = None) -> Floats:
    """Mean over all relevant documents of the precision at each one's rank, 0 beyond `at`; in 0..1 (map, map_cut)."""
    hits = gains[:, :at] > 0
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return _ratio((precision * hits).sum(axis=1), relevant)


def trapezoid_average_precision(gains: NDArray[np.floating], *, relevant: NDArray[np.integer]) -> Floats:
    """Area under precision over recall with straight lines between ranks: the revisited Oxford and Paris protocol.

    At the j-th relevant document (from 0) at rank r (from 0) the curve has risen from j / r to (j + 1) / (r + 1), and
    counts their mean; the first rank starts at 1. `gains` is the whole ranking, ignored documents already taken out.
    Source: Radenović et al. 2018, after Philbin et al. 2007.
    """
    hits = gains > 0
    retrieved, rank = np.cumsum(hits, axis=1), np.arange(hits.shape[1])
    before = np.where(rank > 0, (retrieved - 1) / np.maximum(rank, 1), 1.0)
    after = retrieved / (rank + 1)
    return _ratio(((before + after) / 2 * hits).sum(axis=1), relevant)


def hit_rate(gains: NDArray[np.floating], *, relevant: NDArray[np.integer], at: int) -> Floats:
    """1 where any relevant document is among the first `at`, else 0: trec_eval's success.

    Recall would be the share of a query's relevant documents among them. MIEB's tables print this as Recall@k.
    """
    return _ratio((gains[:, :at] > 0).any(axis=1), np.minimum(relevant, 1))


def reciprocal_rank(gains: NDArray[np.floating], *, relevant: NDArray[np.integer], at: int | None = None) -> Floats:
    """1 / rank of the first relevant document, 0 where there is none within `at`."""
    hits = gains[:, :at] > 0
    first = np.where(hits.any(axis=1), 1.0 / (hits.argmax(axis=1) + 1.0), 0.0) if hits.shape[1] else hits.sum(axis=1)
    return _ratio(first, np.minimum(relevant, 1))


def _ratio(part: NDArray, whole: NDArray) -> Floats:
    out = np.full(len(part), np.nan)
    np.divide(part, whole, out=out, where=np.asarray(whole) > 0)
    return out
