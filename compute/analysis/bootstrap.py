"""The draws behind every interval here: tasks drawn again within their category, scores moved by their noise.

Matrix products do it: a draw is a row of counts, how often it holds each task, and a mean over drawn tasks is
a product of counts and scores. The module `uncertainty` says what the draws mean.
"""

from __future__ import annotations

import math
from collections import Counter
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranking import Block
from compute.arrays import Floats, Floats32, Ints
from compute.types import BadInput

LEVEL = 0.95  # of every interval
GRID = 2.0**-21  # of the scores' range: means closer than this are equal in a draw; above float32's rounding


def task_counts(*, categories: Ints, included: Ints, draws: int, seed: int) -> Floats32:
    """How often each draw holds each task: float32 [draws, tasks]; a category's counts sum to its size.

    `included` are the tasks that take part; the others are never drawn. The counts depend on the seed, the
    categories and the order of the tasks alone, never on models.
    """
    order = included[np.argsort(categories[included], kind="stable")]
    _, start, size = np.unique(categories[order], return_index=True, return_counts=True)
    first, span = np.repeat(start, size), np.repeat(size, size)
    uniform = np.random.default_rng(seed).random((draws, len(order)))
    picked = first + (uniform * span).astype(np.int64)
    picked += np.arange(draws)[:, None] * len(order)
    counts = np.bincount(picked.ravel(), minlength=draws * len(order)).reshape(draws, len(order))
    out = np.zeros((draws, len(categories)), np.float32)
    out[:, order] = counts
    return out


def row_keys(*parts: Floats, seed: int) -> list[int]:
    """128 bits from the content of each row of `parts` [rows, tasks], which start its noise in `redraw`."""
    rows = np.ascontiguousarray(np.hstack(parts) + 0.0)
    rows[np.isnan(rows)] = np.nan  # one pattern of bits for every NaN
    salt = seed.to_bytes(16, "little", signed=True)
    return [int.from_bytes(blake2b(row.tobytes(), digest_size=16, salt=salt).digest(), "little") for row in rows]


def _weighted(
    x: Floats32,
    variance: Floats32,
    counts: Floats32,
    parts: tuple[Block, ...],
) -> tuple[Floats32, Floats32]:
    """Mean of every row in every draw, and the variance its scores' noise gives it: two [rows, draws]."""
    mean = np.empty((len(x), len(counts)), np.float32)
    spread = np.empty_like(mean)
    used = np.concatenate([block.columns for block in parts])
    weights = np.concatenate([counts[:, b.columns] * b.task_weights.astype(np.float32) for b in parts], axis=1)
    scored = ~np.isnan(x[:, used])
    full = scored.all(axis=1)
    edges = np.cumsum([0] + [len(block.columns) for block in parts])
    # Rows with every score share their denominators: one product for all blocks.
    shared = weights.copy()
    for block, start, stop in zip(parts, edges[:-1], edges[1:], strict=True):
        shared[:, start:stop] *= np.float32(block.share) / shared[:, start:stop].sum(axis=1, keepdims=True)
    mean[full] = x[np.ix_(full, used)] @ shared.T
    spread[full] = variance[np.ix_(full, used)] @ (shared**2).T
    gaps = np.flatnonzero(~full)
    if len(gaps):
        filled = np.where(scored[gaps], x[np.ix_(gaps, used)], 0)
        noise = np.where(scored[gaps], variance[np.ix_(gaps, used)], 0)
        part_mean = np.zeros((len(gaps), len(counts)), np.float32)
        part_spread = np.zeros_like(part_mean)
        for block, start, stop in zip(parts, edges[:-1], edges[1:], strict=True):
            mask, w = scored[gaps, start:stop].astype(np.float32), weights[:, start:stop]
            total, sum_, squares = mask @ w.T, filled[:, start:stop] @ w.T, noise[:, start:stop] @ (w**2).T
            # A draw that holds none of the tasks this model has says nothing new: its own mean stays.
            row, draw = np.nonzero(total == 0)
            if len(row):
                own = block.task_weights.astype(np.float32)
                total[row, draw] = (mask @ own)[row]
                sum_[row, draw] = (filled[:, start:stop] @ own)[row]
                squares[row, draw] = (noise[:, start:stop] @ own**2)[row]
            part_mean += np.float32(block.share) * (sum_ / total)
            part_spread += np.float32(block.share) ** 2 * (squares / total**2)
        mean[gaps], spread[gaps] = part_mean, part_spread
    return mean, spread


def redraw(
    *,
    scores: Floats,
    stderr: Floats,
    categories: Ints,
    parts: tuple[Block, ...],
    keys: list[int],
    draws: int,
    seed: int,
) -> Floats32:
    """Every row's mean in every draw: float32 [rows, draws].

    scores [rows, tasks] with NaN missing and a score in every block; stderr [rows, tasks] in the same unit, 0
    where unknown. The noise of a mean is Gaussian with variance sum_j (w_j se_j)^2, w_j being the task's
    weight in the draw's mean, and is drawn at once for the mean. The same seed gives the same draws whatever
    the order of the rows and, to rounding, whichever other rows there are (rows equal in every score get
    noise of their own, in the order they stand).
    """
    used = np.sort(np.concatenate([block.columns for block in parts]))
    counts = task_counts(categories=categories, included=used, draws=draws, seed=seed)
    # In the order of the keys and each content once: rounding in the products then depends on nothing else.
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    distinct = sorted(first)
    rows = np.array([first[key] for key in distinct], np.int64)
    x = scores[rows].astype(np.float32)
    variance = (np.where(np.isnan(x), 0, stderr[rows]) ** 2).astype(np.float32)
    mean, spread = _weighted(x, variance, counts, parts)
    position = {key: i for i, key in enumerate(distinct)}
    out = mean[[position[key] for key in keys]]
    noisy = (variance[:, used] > 0).any(axis=1)
    spread = np.sqrt(spread)
    twins: Counter[int] = Counter()
    for row, key in enumerate(keys):
        if noisy[position[key]]:
            generator = np.random.Generator(np.random.Philox(key=(key + twins[key]) % 2**128))
            out[row] += spread[position[key]] * generator.standard_normal(draws, dtype=np.float32)
            twins[key] += 1
    return out


def rank_interval(draws: Floats32) -> tuple[Ints, Ints]:
    """Percentile interval of each row's rank among the rows, higher better: two int [rows].

    draws [rows, draws]. In each draw equal rows share the smaller rank. The ends are the k-th smallest and
    k-th largest rank, k = (1 - LEVEL) / 2 of the draws.
    """
    rows, n = draws.shape
    low, top = float(draws.min()), float(draws.max())
    step = max((top - low) / 2**30, GRID)
    # Value and row packed in one integer: sorting those is faster than an argsort, and ties stay visible.
    bits = rows.bit_length()
    packed = np.rint((np.float64(top) - draws.T) / step).astype(np.int64)
    packed <<= bits
    packed |= np.arange(rows)
    packed.sort(axis=1)
    value, row = packed >> bits, packed & ((1 << bits) - 1)
    position = np.broadcast_to(np.arange(rows), value.shape).copy()
    position[:, 1:][value[:, 1:] == value[:, :-1]] = 0
    np.maximum.accumulate(position, axis=1, out=position)
    below = np.bincount((row * rows + position).ravel(), minlength=rows * rows).reshape(rows, rows).cumsum(axis=1)
    first, last = _ends(n)
    return (below > first).argmax(axis=1) + 1, (below > last).argmax(axis=1) + 1


def _ends(n: int) -> tuple[int, int]:
    """Indices of the interval's ends among n sorted draws."""
    first = max(math.ceil((1 - LEVEL) / 2 * n - 1e-9) - 1, 0)
    return first, n - 1 - first


def mean_interval(draws: Floats32) -> tuple[Floats32, Floats32]:
    """Percentile interval of each row of draws [rows, draws]: two [rows]."""
    ordered = np.sort(draws, axis=1)
    first, last = _ends(draws.shape[1])
    return ordered[:, first], ordered[:, last]


def check_stderr(stderr: ArrayLike | None, *, shape: tuple[int, ...]) -> Floats:
    """Standard errors as float64 of `shape`, 0 where unknown; raises BadInput for others."""
    if stderr is None:
        return np.zeros(shape)
    out = np.asarray(stderr, float)
    if out.shape != shape or (out < 0).any() or np.isinf(out).any():
        raise BadInput(f"stderr must be {shape}, finite and >= 0, NaN where unknown; got shape {out.shape}.")
    return np.nan_to_num(out, nan=0.0)


def check_draws(*, draws: int, seed: int) -> None:
    """Raises BadInput unless there are at least 40 draws and a seed >= 0."""
    if draws < 40 or seed < 0:
        raise BadInput(f"Intervals need 40 draws or more and a seed >= 0, got {draws} and {seed}.")
