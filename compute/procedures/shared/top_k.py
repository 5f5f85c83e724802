"""The best documents of every query, streamed: scores are made, compared and dropped a block at a time.

Order is total, so results do not depend on block sizes: higher score first, and documents of the very same score by
`precedence`. Score and precedence are packed into one integer a pair, so one comparison settles both. Memory is a few
blocks of scores, whatever the number of queries and documents; time is linear in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Floats32, Ints

if TYPE_CHECKING:
    import torch

    # queries, documents -> their scores, float32 [queries, documents]; may be written over, and by the next call
    Scorer = Callable[[slice, slice], torch.Tensor]

QUERIES, DOCUMENTS = 2048, 8192  # a block of scores: 64 MB
ABSENT = -(2**63)  # no document: below every packed score
LOW = 2**32 - 1
SPARSE = 8  # where more than 1 in this many scores of a block can still enter, its own best are looked for first


@dataclass(frozen=True, kw_only=True)
class Best:
    """The best `depth` documents of some queries. Where a ranking ends early, document -1 with score -inf."""

    queries: slice
    documents: Ints  # [queries, depth], best first
    scores: Floats32


def search(
    scorer: Scorer,
    *,
    queries: int,
    documents: int,
    depth: int,
    precedence: NDArray[np.integer],
    ignored: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
    block: tuple[int, int] = (QUERIES, DOCUMENTS),
) -> Iterator[Best]:
    """Yields the best `depth` documents of every query, a block of queries at a time.

    `precedence` (documents,) is a permutation of 0..documents-1: of equal scores the lower goes first. `ignored`
    (query, document) pairs never appear. Scores must be finite.
    """
    import torch

    depth = min(depth, documents)
    order = np.empty(documents, dtype=np.int64)
    order[np.asarray(precedence)] = np.arange(documents)
    low = LOW - np.asarray(precedence, dtype=np.int64)
    skipped = _by_query(ignored)
    for first in range(0, queries, block[0]):
        rows = slice(first, min(first + block[0], queries))
        best = None
        for start in range(0, documents, block[1]):
            columns = slice(start, min(start + block[1], documents))
            scores = scorer(rows, columns)
            _leave_out(scores, rows, columns, skipped)
            best = _merge(best, scores, low=torch.from_numpy(low[columns]).to(scores.device), depth=depth)
        yield _unpack(best.sort(dim=1, descending=True).values.cpu().numpy(), rows=rows, order=order)


def _merge(best: torch.Tensor | None, scores: torch.Tensor, *, low: torch.Tensor, depth: int) -> torch.Tensor:
    """The best `depth` packed scores a row, in any order, of `best` and a new block of scores [rows, documents].

    [rows, depth], filled up with ABSENT. Only scores that can still enter are packed: those not below its worst,
    nor, where these are many, below a score that `depth` of the block reach.
    """
    import torch

    lowest = torch.finfo(torch.float32).min  # above what was skipped
    bar, many = torch.full((len(scores), 1), lowest, device=scores.device), True
    if best is not None:
        worst = best.min(dim=1, keepdim=True).values
        bar = torch.where(worst == ABSENT, lowest, _score(worst))
        reach = _at_least(scores, bar)
        many = _count(reach) * SPARSE > scores.numel()
    if many:
        if depth < scores.shape[1]:
            bar = torch.maximum(bar, _lower_bound(scores, depth))
        reach = _at_least(scores, bar)
    flat = _positions(reach)
    # Positions rise, so each row's are one stretch: no division is needed to tell rows and columns.
    edges = torch.searchsorted(flat, torch.arange(len(scores) + 1, device=flat.device) * scores.shape[1])
    starts, counts = edges[:-1], edges.diff()
    row = torch.repeat_interleave(counts, output_size=len(flat))
    wide = int(counts.max())
    fresh = torch.full((len(scores) * wide,), ABSENT, dtype=torch.int64, device=scores.device)
    shift = torch.arange(len(scores), device=flat.device) * wide - starts
    fresh[torch.arange(len(flat), device=flat.device) + shift[row]] = _pack(
        scores.view(-1)[flat], low[flat - row * scores.shape[1]]
    )
    fresh = fresh.view(len(scores), wide)
    if best is not None:
        fresh = torch.cat((best, fresh), dim=1)
    if fresh.shape[1] < depth:
        return torch.nn.functional.pad(fresh, (0, depth - fresh.shape[1]), value=ABSENT)
    return _largest(fresh, depth)


def _at_least(scores: torch.Tensor, bar: torch.Tensor) -> torch.Tensor:
    """Whether each score [rows, documents] is not below its row's bar [rows, 1]; numpy compares faster than torch."""
    import torch

    if scores.device.type == "cpu":
        return torch.from_numpy(scores.numpy() >= bar.numpy())
    return scores >= bar


def _count(true: torch.Tensor) -> int:
    return int(np.count_nonzero(true.numpy()) if true.device.type == "cpu" else true.count_nonzero())


def _positions(true: torch.Tensor) -> torch.Tensor:
    """Flat positions of what is true, rising; on the CPU numpy finds few among many four times as fast."""
    import torch

    if true.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(true.numpy()))
    return true.view(-1).nonzero().squeeze(1)


def _lower_bound(scores: torch.Tensor, depth: int) -> torch.Tensor:
    """[rows, 1]: a score that at least `depth` of each row reach, close to the `depth`-th best.

    It is the `depth`-th best of the maxima of small groups, each of which is one of the scores: a fourth of the work
    where there are eight scores for each that is wanted.
    """
    size = max(1, scores.shape[1] // (2 * depth))
    groups = scores.shape[1] // size
    maxima = scores[:, : groups * size].view(len(scores), size, groups).amax(dim=1)
    return _largest(maxima, depth).amin(dim=1, keepdim=True)


def _largest(values: torch.Tensor, depth: int) -> torch.Tensor:
    """The largest `depth` of each row in any order; numpy's partition is vectorised where torch's is not."""
    import torch

    if values.device.type == "cpu":
        wide = values.shape[1]
        return torch.from_numpy(np.partition(values.numpy(), wide - depth, axis=1)[:, wide - depth :])
    return values.topk(depth, dim=1, sorted=False).values


def _pack(scores: torch.Tensor, low: torch.Tensor) -> torch.Tensor:
    """int64 that sort as (score, low) do. A float's bits sort as an integer, those of negatives mirrored."""
    import torch

    bits = (scores + 0.0).view(torch.int32)  # + 0.0: the two zeros are one score
    high = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(torch.int64)
    return high.mul_(2**32).add_(low)


def _score(packed: torch.Tensor) -> torch.Tensor:
    """The scores within packed values; not a number for ABSENT."""
    import torch

    high = (packed >> 32).to(torch.int32)
    return torch.where(high < 0, high ^ 0x7FFFFFFF, high).view(torch.float32)


def _unpack(packed: Ints, *, rows: slice, order: Ints) -> Best:
    filled = packed != ABSENT
    high = (packed >> 32).astype(np.int32)
    scores = np.where(high < 0, high ^ np.int32(0x7FFFFFFF), high).view(np.float32)
    documents = order[np.where(filled, LOW - (packed & LOW), 0)]
    return Best(
        queries=rows, documents=np.where(filled, documents, -1), scores=np.where(filled, scores, np.float32(-np.inf))
    )


def _by_query(
    pairs: tuple[NDArray[np.integer], NDArray[np.integer]] | None,
) -> tuple[Ints, Ints]:
    if pairs is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    query, document = (np.asarray(side, dtype=np.int64) for side in pairs)
    at = np.argsort(query, kind="stable")
    return query[at], document[at]


def _leave_out(scores: torch.Tensor, rows: slice, columns: slice, pairs: tuple[Ints, Ints]) -> None:
    """Marks the pairs within this block by -inf, which is not a score."""
    import torch

    start, stop = np.searchsorted(pairs[0], (rows.start, rows.stop))
    query, document = pairs[0][start:stop], pairs[1][start:stop]
    inside = (document >= columns.start) & (document < columns.stop)
    if inside.any():
        at = (torch.from_numpy(query[inside] - rows.start), torch.from_numpy(document[inside] - columns.start))
        scores[at] = -torch.inf
