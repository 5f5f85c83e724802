"""Metrics that compare every image with every other: kernel distances (CMMD, KID), how well two sets cover each other
by nearest neighbours (precision, recall, density, coverage), and how diverse one set is (Vendi).

The kernel distances are the squared maximum mean discrepancy (Gretton et al. 2012): the sum of the mean kernels within
the two sets minus twice the mean kernel between them. A set's manifold is the union of balls around its images, each as
wide as the distance to the image's k-th nearest neighbour in its own set. Pairs are processed in blocks of rows, so no
n x m matrix is ever in memory. Many subsets of the same rows take a single pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats
from compute.metrics.distribution.moments import SetScore, blocks, directions, feature_rows
from compute.types import BadInput, Undefined

SIGMA = 10.0  # of CMMD's kernel
SCALE = 1000.0  # of CMMD's value
QUANTITIES = ("precision", "recall", "density", "coverage")
_SAME = 1e-12  # a squared distance below this share of both squared norms is rounding: the rows coincide
_ROUNDING = 1e-9  # relative error of a squared distance, a generous upper bound
_MARGIN = 3  # neighbours stored per neighbour needed, so that a subset's are nearly always among them

Kernel = Callable[[Floats, Floats], Floats]  # (n, d), (m, d) -> (n, m)


def cmmd(*, real: Any, generated: Any) -> SetScore:
    """Computes 1000 times the biased squared MMD of unit-length features under the kernel exp(-|x - y|² / 2σ²).

    `real` (n, d), `generated` (m, d): embeddings of CLIP ViT-L/14 at 336 pixels, which are scaled to unit length.
    Raises BadInput for a row of zeros, which has no direction. Source: Jayasumana et al. 2024, equation 4 (the biased
    estimate) with σ = 10.
    """
    real, generated, *every = _subsets(real, generated, unit=True)
    value = float(np.maximum(SCALE * _means(real, generated, _gaussian, *every, diagonal=True), 0.0)[0])
    warnings = []
    if min(len(real), len(generated)) > 1:
        unbiased = SCALE * float(_means(real, generated, _gaussian, *every, diagonal=False)[0])
        if value > 0 and value - unbiased > value / 2:
            warnings.append(
                f"More than half of this CMMD is the bias of few images ({len(real)} real, {len(generated)} generated)"
            )
    else:
        warnings.append("A set of one image: the CMMD says how far the sets are, not how the distributions differ")
    warnings += _unlike_counts(len(real), len(generated))
    return SetScore(value=value, warnings=tuple(warnings))


def cmmd_of_subsets(*, real: Any, generated: Any, real_kept: Bools, generated_kept: Bools) -> Floats:
    """Returns (s,) the CMMD of s subsets in one pass: `real_kept` (s, n) and `generated_kept` (s, m) mark their
    rows.
    """
    marked = _subsets(real, generated, real_kept, generated_kept, unit=True)
    return np.maximum(SCALE * _means(*marked[:2], _gaussian, *marked[2:], diagonal=True), 0.0)  # below 0 by rounding


def kid(*, real: Any, generated: Any) -> SetScore:
    """Computes the unbiased squared MMD under the kernel (x·y / d + 1)³. It can be slightly negative: the mean KID of
    two samples of one distribution is zero.

    `real` (n, d), `generated` (m, d): Inception-v3 pool features. Raises Undefined below two images per side. Source:
    Bińkowski et al. 2018, section 4 and equation 4.
    """
    return SetScore(value=float(kid_of_subsets(real=real, generated=generated)[0]))


def kid_of_subsets(
    *, real: Any, generated: Any, real_kept: Bools | None = None, generated_kept: Bools | None = None
) -> Floats:
    """Returns (s,) the KID of s subsets in one pass: `real_kept` (s, n) and `generated_kept` (s, m) mark their rows.
    Without them, it is one subset of all rows.
    """
    real, generated, *kept = _subsets(real, generated, real_kept, generated_kept, at_least=2)
    return _means(real, generated, _cubic, *kept, diagonal=False)


def manifold(*, real: Any, generated: Any, k: int) -> dict[str, SetScore]:
    """Returns all four quantities of `real` (n, d) and `generated` (m, d) with `k` neighbours, by Euclidean distance.

    Precision: share of generated images within the real manifold. Recall: share of real images within the generated
    one. Density: mean number of real balls that contain a generated image, divided by k; its expectation for equal
    distributions is 1, and it can exceed 1. Coverage: share of real images whose ball holds a generated image.

    Precision and recall use closed balls, as in their paper (k = 3 there). Density and coverage use open balls, which
    matches their authors' numbers (k = 5). The choice matters only if distances are equal, such as those of a set to
    itself, whose density is 1. Raises Undefined for k images per side or fewer. Sources: Kynkäänniemi et al. 2019,
    equation 2; Naeem et al. 2020, equations 3 and 4.
    """
    real, generated, *every = _subsets(real, generated, at_least=k + 1)
    shares, repeated = _shares(real, generated, *every, k=k)
    warnings = _unlike_counts(len(real), len(generated))
    for argument, count in zip(("real", "generated"), repeated, strict=True):
        if count:
            warnings += (f"{argument}: {count} images coincide with {k} others, so that their balls are points",)
    found = zip(QUANTITIES, shares[0].tolist(), strict=True)
    return {name: SetScore(value=value, warnings=warnings) for name, value in found}


def manifold_of_subsets(
    *, real: Any, generated: Any, real_kept: Bools, generated_kept: Bools, k: int
) -> dict[str, Floats]:
    """Returns each quantity (s,) of s subsets in one pass: `real_kept` (s, n) and `generated_kept` (s, m) mark their
    rows.
    """
    shares, _ = _shares(*_subsets(real, generated, real_kept, generated_kept, at_least=k + 1), k=k)
    return dict(zip(QUANTITIES, shares.T, strict=True))


def vendi(*, features: Any) -> SetScore:
    """Returns the effective number of distinct images, from 1 to n: exp of the entropy of the eigenvalues of the cosine
    kernel over n.

    `features` (n, d) are scaled to unit length. Raises BadInput for a row of zeros. Source: Friedman and Dieng 2023,
    definition 3.1.
    """
    rows = directions(features, argument="features")
    n, d = rows.shape
    rows = rows / np.sqrt(n)
    # The nonzero eigenvalues of the kernel are those of the smaller of the two products.
    values = np.linalg.eigvalsh(rows @ rows.T if n <= d else rows.T @ rows)[::-1]
    values = np.maximum(values, 0.0) / np.maximum(values, 0.0).sum()
    positive = values[values > n * np.finfo(float).eps]
    value = float(np.clip(np.exp(-(positive * np.log(positive)).sum()), 1.0, n))
    warnings: tuple[str, ...] = ()
    if n > 1 and value > n / 2:
        warnings = (f"The score is at most the number of images, {n}: compare it only with sets of the same size",)
    return SetScore(value=value, warnings=warnings)


def _subsets(
    real: Any,
    generated: Any,
    real_kept: Bools | None = None,
    generated_kept: Bools | None = None,
    *,
    unit: bool = False,
    at_least: int = 1,
) -> tuple[Floats, Floats, Bools, Bools]:
    """Returns both sets' features as float64 (with `unit`, of unit length), and the rows of each subset, (s, n) and (s,
    m). If no subsets are given, there is one with all rows.

    Raises BadInput as `feature_rows` and if widths differ, Undefined if a subset has too few rows.
    """
    first, second = feature_rows(real, argument="real"), feature_rows(generated, argument="generated")
    if first.shape[1] != second.shape[1]:
        raise BadInput(
            f"real has {first.shape[1]} features an image and generated {second.shape[1]}: both must come from the "
            "same backbone"
        )
    kept = [
        np.ones((1, len(rows)), bool) if marks is None else marks
        for rows, marks in ((first, real_kept), (second, generated_kept))
    ]
    n, m = (int(marks.sum(axis=1).min()) for marks in kept)
    if min(n, m) < at_least:
        raise Undefined(f"This metric needs {at_least} images per side, got {n} real and {m} generated")
    if unit:
        first, second = directions(first, argument="real"), directions(second, argument="generated")
    return first, second, *kept


def _unlike_counts(n_real: int, n_generated: int) -> tuple[str, ...]:
    """Returns the warning of a metric whose value depends on both counts; empty if they are equal."""
    if n_real == n_generated:
        return ()
    return (
        f"{n_real} real and {n_generated} generated images: the value depends on both counts. Compare it only with "
        "values at the same counts",
    )


def _gaussian(first: Floats, second: Floats) -> Floats:
    """Returns exp(-|x - y|² / 2σ²) - 1 for rows of unit length. The 1 cancels in the distance, which avoids most of the
    rounding error.
    """
    return np.expm1((first @ second.T - 1.0) / SIGMA**2)


def _cubic(first: Floats, second: Floats) -> Floats:
    return (1.0 / first.shape[1] * (first @ second.T) + 1.0) ** 3


def _means(
    real: Floats,
    generated: Floats,
    kernel: Kernel,
    real_kept: Bools,
    generated_kept: Bools,
    *,
    diagonal: bool,
) -> Floats:
    """Returns (s,) the squared MMD of every subset. With `diagonal`, each row's kernel with itself counts (the biased
    estimate).
    """
    within = []
    for side, kept in ((real, real_kept), (generated, generated_kept)):
        counts = kept.sum(axis=1).astype(float)
        total, own = _sums(side, side, kernel, kept, kept, own=not diagonal)
        within.append((total - own) / (counts * (counts if diagonal else counts - 1)))
    across, _ = _sums(real, generated, kernel, real_kept, generated_kept, own=False)
    return within[0] + within[1] - 2 * across / (real_kept.sum(axis=1) * generated_kept.sum(axis=1).astype(float))


def _sums(
    first: Floats,
    second: Floats,
    kernel: Kernel,
    first_kept: Bools,
    second_kept: Bools,
    *,
    own: bool,
) -> tuple[Floats, Floats]:
    """Returns (s,) the sum of the kernel over all pairs in each subset and, with `own`, its part on the diagonal."""
    total, diagonal = np.zeros(len(first_kept)), np.zeros(len(first_kept))
    marks = second_kept.T.astype(np.float64)
    for part in blocks(len(first), width=len(second)):
        values = kernel(first[part], second)
        total += np.einsum("si,is->s", first_kept[:, part], values @ marks)
        if own:
            diagonal += first_kept[:, part] @ values[np.arange(len(values)), np.arange(part.start, part.stop)]
    return total, diagonal


def _shares(
    real: Floats, generated: Floats, real_kept: Bools, generated_kept: Bools, *, k: int
) -> tuple[Floats, tuple[int, int]]:
    """Returns (s, 4) the quantities of every subset, and how many rows of either side have a ball of radius 0."""
    centre = real.mean(axis=0)  # distances do not change, and their rounding error is smallest
    real, generated = real - centre, generated - centre
    real_radius = _radii(real, real_kept, k=k)
    radius = _radii(generated, generated_kept, k=k)
    repeated = int((real_radius[0] == 0).sum()), int((radius[0] == 0).sum())
    real_radius, radius = (
        np.where(kept, each, -1.0) for kept, each in ((real_kept, real_radius), (generated_kept, radius))
    )  # no distance is below -1: a row outside the subset has no ball
    closed = real_radius * (1 + _ROUNDING)
    # A ball of radius 0 still contains the rows that coincide with its centre.
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
    """Returns (s, n) the squared distance from each row to its k-th nearest other row within each subset."""
    out = np.empty(kept.shape)
    held = min(len(rows) - 1, _MARGIN * k + 10)
    for part in blocks(len(rows), width=len(rows)):
        squared = _squared_distances(rows[part], rows)
        index = np.arange(len(squared))
        squared[index, index + part.start] = np.inf  # a row is not a neighbour of itself
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
    """Returns (n, m) squared distances, 0 if two rows are equal up to rounding."""
    lengths = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1)
    squared = lengths - 2 * (first @ second.T)
    squared[squared <= _SAME * lengths] = 0.0
    return squared
