"""How far two sets cover each other: precision, recall, density and coverage by nearest neighbours.

A set's manifold is the union of balls around its images, each as wide as the distance to the image's k-th nearest
neighbour in its own set. All four quantities come from one pass over the distances, a block at a time, so no n x m
matrix is ever in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats
from compute.metrics.distribution.features import blocks, check_kept, two_sets, unlike_counts
from compute.types import Undefined

QUANTITIES = ("precision", "recall", "density", "coverage")
_SAME = 1e-12  # a squared distance below this share of both squared lengths is rounding: the rows coincide
_ROUNDING = 1e-9  # relative error of a squared distance, far above any
_MARGIN = 3  # neighbours held per neighbour needed, so that a subset's are nearly always among them


@dataclass(frozen=True, kw_only=True)
class NeighbourShare:
    """One of the four quantities; `k` neighbours decide the width of a ball."""

    value: float
    k: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Manifold:
    """Precision: share of generated images within the real manifold. Recall: share of real images within the generated
    one. Density: real balls that hold a generated image, on average, over k; 1 is expected of equal distributions, and
    it can exceed 1. Coverage: share of real images whose ball holds a generated image.
    """

    precision: NeighbourShare
    recall: NeighbourShare
    density: NeighbourShare
    coverage: NeighbourShare


def manifold(*, real: Any, generated: Any, k: int) -> Manifold:
    """All four quantities of `real` (n, d) and `generated` (m, d) with `k` neighbours, by Euclidean distance.

    Precision and recall take closed balls as their paper does (k = 3 there); density and coverage open ones, as their
    authors' figures do (k = 5). It matters only where distances are equal: so are those of a set to itself, whose
    density is 1. Raises Undefined for k images a side or fewer. Sources: Kynkäänniemi et al. 2019, equation 2; Naeem et
    al. 2020, equations 3 and 4.
    """
    real, generated = two_sets(real=real, generated=generated)
    whole = [np.ones((1, len(side)), bool) for side in (real, generated)]
    shares, repeated = _shares(real, generated, *whole, k=k)
    warnings = unlike_counts(len(real), len(generated))
    for argument, count in zip(("real", "generated"), repeated, strict=True):
        if count:
            warnings += (f"{argument}: {count} images coincide with {k} others, so that their balls are points",)
    made = {
        name: NeighbourShare(value=float(value), k=k, warnings=warnings)
        for name, value in zip(QUANTITIES, shares[0], strict=True)
    }
    return Manifold(**made)


def manifold_of_subsets(
    *, real: Any, generated: Any, real_kept: Bools, generated_kept: Bools, k: int
) -> dict[str, Floats]:
    """Each quantity (s,) of s subsets in one pass: `real_kept` (s, n) and `generated_kept` (s, m) mark their rows."""
    real, generated = two_sets(real=real, generated=generated)
    check_kept(real_kept, generated_kept, at_least=k + 1)
    shares, _ = _shares(real, generated, real_kept, generated_kept, k=k)
    return dict(zip(QUANTITIES, shares.T, strict=True))


def _shares(
    real: Floats, generated: Floats, real_kept: Bools, generated_kept: Bools, *, k: int
) -> tuple[Floats, tuple[int, int]]:
    """(s, 4) the quantities of every subset, and how many rows of either side have a ball of no width."""
    if min(len(real), len(generated)) <= k:
        raise Undefined(
            f"The {k}-th nearest neighbour needs {k + 1} images a side, here are {len(real)} real and "
            f"{len(generated)} generated"
        )
    centre = real.mean(axis=0)  # distances do not change, and lose least to rounding
    real, generated = real - centre, generated - centre
    real_radius = _radii(real, real_kept, k=k)
    radius = _radii(generated, generated_kept, k=k)
    repeated = int((real_radius[0] == 0).sum()), int((radius[0] == 0).sum())
    real_radius, radius = (
        np.where(kept, each, -1.0) for kept, each in ((real_kept, real_radius), (generated_kept, radius))
    )  # no distance is below -1: a row that is not kept has no ball
    closed = real_radius * (1 + _ROUNDING)
    # a ball of no width still holds the rows that coincide with its own
    opened = np.where(real_radius == 0, np.nextafter(0, 1), real_radius * (1 - _ROUNDING))
    radius = radius * (1 + _ROUNDING)
    subsets = len(real_kept)
    precise, balls = np.zeros(subsets), np.zeros(subsets)
    recalled, covered = np.zeros(real_kept.shape, bool), np.zeros(real_kept.shape, bool)
    for part in blocks(len(generated), width=len(real)):
        squared = _squared_distances(generated[part], real)
        for s in range(subsets):
            kept = generated_kept[s, part]
            precise[s] += np.count_nonzero((squared <= closed[s]).any(axis=1) & kept)
            inside = (squared < opened[s]) & kept[:, None]
            balls[s] += np.count_nonzero(inside)
            covered[s] |= inside.any(axis=0)
            recalled[s] |= (squared <= radius[s, part, None]).any(axis=0)
    n, m = real_kept.sum(axis=1), generated_kept.sum(axis=1)
    out = precise / m, (recalled & real_kept).sum(axis=1) / n, balls / (k * m), (covered & real_kept).sum(axis=1) / n
    return np.stack(out, axis=1), repeated


def _radii(rows: Floats, kept: Bools, *, k: int) -> Floats:
    """(s, n) squared distance from each row to its k-th nearest other row among those that a subset keeps."""
    out = np.empty(kept.shape)
    held = min(len(rows) - 1, _MARGIN * k + 10)
    for part in blocks(len(rows), width=len(rows)):
        squared = _squared_distances(rows[part], rows)
        index = np.arange(len(squared))
        squared[index, index + part.start] = np.inf  # a row is no neighbour of itself
        nearest = np.argpartition(squared, held - 1, axis=1)[:, :held]
        nearest = np.take_along_axis(nearest, np.argsort(np.take_along_axis(squared, nearest, axis=1), axis=1), axis=1)
        for s, marks in enumerate(kept):
            rank = np.cumsum(marks[nearest], axis=1)
            at = np.take_along_axis(nearest, np.argmax(rank == k, axis=1)[:, None], axis=1)[:, 0]
            out[s, part] = squared[index, at]
            for row in np.flatnonzero(rank[:, -1] < k):
                out[s, part.start + row] = np.partition(np.where(marks, squared[row], np.inf), k - 1)[k - 1]
    return out


def _squared_distances(first: Floats, second: Floats) -> Floats:
    """(n, m), 0 where two rows are equal up to rounding."""
    lengths = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1)
    squared = lengths - 2 * (first @ second.T)
    squared[squared <= _SAME * lengths] = 0.0
    return squared
