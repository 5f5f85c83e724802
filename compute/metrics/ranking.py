"""Quality of rankings, one value per query: nDCG, average precision, hit rate, reciprocal rank, as in trec_eval.

Every function takes `gains` (queries, depth): the grade of the document at each rank, 0 if it is not relevant or the
ranking has ended. Documents with equal scores must be in descending order of their names, which is trec_eval's rule.
`relevant` (queries,) counts a query's relevant documents, retrieved or not; a query without any has no value (NaN).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from compute.arrays import Floats
from compute.types import BadInput


def ideal_dcg(*, query: ArrayLike, grade: ArrayLike, queries: int, at: int) -> Floats:
    """Returns (queries,) the discounted cumulative gain of the best possible first `at` ranks.

    `query`, `grade` (pairs,): which query a graded document belongs to and its grade; grades of 0 or less gain nothing.
    """
    query, gain = np.asarray(query, np.int64), np.maximum(np.asarray(grade, float), 0.0)
    order = np.lexsort((-gain, query))
    query, gain = query[order], gain[order]
    rank = np.arange(len(query)) - np.searchsorted(query, query)
    counted = rank < at
    return np.bincount(query[counted], weights=gain[counted] / np.log2(rank[counted] + 2.0), minlength=queries)


def ndcg(gains: ArrayLike, *, ideal: ArrayLike, at: int) -> Floats:
    """Returns (queries,) the sum of grade / log2(rank + 1) over the first `at` ranks, divided by the best possible; in
    0..1.

    `gains` (queries, depth); `ideal` (queries,) from `ideal_dcg` with the same `at`. Source: Järvelin and Kekäläinen
    2002, in trec_eval's form (ndcg_cut).
    """
    first = _checked(gains)[:, :at].astype(float)
    dcg = first @ (1.0 / np.log2(np.arange(first.shape[1]) + 2.0))
    return _ratio(dcg, ideal)


def average_precision(gains: ArrayLike, *, relevant: ArrayLike, at: int | None = None) -> Floats:
    """Returns (queries,) the mean over all relevant documents of the precision at each one's rank, 0 beyond `at`; in
    0..1.

    `gains` (queries, depth), `relevant` (queries,). Equals trec_eval's map and map_cut.
    """
    hits = _checked(gains)[:, :at] > 0
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return _ratio((precision * hits).sum(axis=1), relevant)


def trapezoid_average_precision(gains: ArrayLike, *, relevant: ArrayLike) -> Floats:
    """Returns (queries,) the area under the precision-recall curve with linear interpolation, as in Oxford and Paris
    revisited.

    At the j-th relevant document (from 0), at rank r (from 0), precision rises from j / r to (j + 1) / (r + 1), and
    their mean counts; at the first rank precision starts at 1. `gains` (queries, depth) is the whole ranking, with
    ignored documents already removed; `relevant` (queries,). Source: Radenović et al. 2018, after Philbin et al. 2007.
    """
    hits = _checked(gains) > 0
    retrieved, rank = np.cumsum(hits, axis=1), np.arange(hits.shape[1])
    before = np.where(rank > 0, (retrieved - 1) / np.maximum(rank, 1), 1.0)
    after = retrieved / (rank + 1)
    return _ratio(((before + after) / 2 * hits).sum(axis=1), relevant)


def hit_rate(gains: ArrayLike, *, relevant: ArrayLike, at: int) -> Floats:
    """Returns (queries,) 1 if any relevant document is among the first `at`, else 0: trec_eval's success.

    `gains` (queries, depth), `relevant` (queries,). Recall would be the share of a query's relevant documents among
    them. MIEB's tables print this as Recall@k.
    """
    return _ratio((_checked(gains)[:, :at] > 0).any(axis=1), np.minimum(relevant, 1))


def reciprocal_rank(gains: ArrayLike, *, relevant: ArrayLike, at: int | None = None) -> Floats:
    """Returns (queries,) 1 / rank of the first relevant document, 0 if there is none within `at`.

    `gains` (queries, depth), `relevant` (queries,).
    """
    hits = _checked(gains)[:, :at] > 0
    first = np.where(hits.any(axis=1), 1.0 / (hits.argmax(axis=1) + 1.0), 0.0) if hits.shape[1] else hits.sum(axis=1)
    return _ratio(first, np.minimum(relevant, 1))


def _checked(gains: ArrayLike) -> NDArray:
    """Returns gains as an array (queries, depth). Raises BadInput for any other shape."""
    table = np.asarray(gains)
    if table.ndim != 2:
        raise BadInput(f"gains are (queries, depth), a row per query, got shape {table.shape}")
    return table


def _ratio(part: NDArray, whole: ArrayLike) -> Floats:
    out = np.full(len(part), np.nan)
    np.divide(part, whole, out=out, where=np.asarray(whole) > 0)
    return out
