"""Kernel distances of two sets of features: CMMD and KID.

Both are the squared maximum mean discrepancy (Gretton et al. 2012): the mean kernel within either set less twice the
mean between them. Kernels are computed a block of rows at a time, so no n x n matrix is ever in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats
from compute.metrics.distribution.features import blocks, check_kept, directions, two_sets, unlike_counts
from compute.types import Undefined

SIGMA = 10.0  # of CMMD's kernel
SCALE = 1000.0  # of CMMD's value

Kernel = Callable[[Floats, Floats], Floats]  # (n, d), (m, d) -> (n, m)


@dataclass(frozen=True, kw_only=True)
class Cmmd:
    """The biased estimate times 1000; `unbiased` leaves each image's kernel with itself out, None below two images."""

    value: float
    unbiased: float | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kid:
    """The unbiased estimate. It can be slightly below zero: two samples of one distribution have a KID of zero on
    average."""

    value: float
    warnings: tuple[str, ...] = ()


def cmmd(*, real: Any, generated: Any) -> Cmmd:
    """1000 times the biased squared MMD of features of length 1 under the kernel exp(-|x - y|² / 2σ²).

    `real` (n, d), `generated` (m, d): embeddings of CLIP ViT-L/14 at 336 pixels; any length, they are brought to 1.
    Raises BadInput for a row of zeros, which has no direction. Source: Jayasumana et al. 2024, equation 4 (the biased
    estimate) with σ = 10.
    """
    real, generated = _directions(real, generated)
    everything = [np.ones((1, len(side)), bool) for side in (real, generated)]
    means = _means(real, generated, _gaussian, *everything, diagonal=True)
    value = max(SCALE * float(means[0]), 0.0)  # below zero by rounding alone
    unbiased, warnings = None, []
    if min(len(real), len(generated)) > 1:
        unbiased = SCALE * float(_means(real, generated, _gaussian, *everything, diagonal=False)[0])
        if value > 0 and value - unbiased > value / 2:
            warnings.append(
                f"More than half of this CMMD is the bias of few images ({len(real)} real, {len(generated)} generated)"
            )
    else:
        warnings.append("A set of one image: the CMMD says how far the sets are, not how the distributions differ")
    warnings += unlike_counts(len(real), len(generated))
    return Cmmd(value=value, unbiased=unbiased, warnings=tuple(warnings))


def cmmd_of_subsets(*, real: Any, generated: Any, real_kept: Bools, generated_kept: Bools) -> Floats:
    """(s,) the CMMD of s subsets in one pass: `real_kept` (s, n) and `generated_kept` (s, m) mark their rows."""
    real, generated = _directions(real, generated)
    check_kept(real_kept, generated_kept, at_least=1)
    means = _means(real, generated, _gaussian, real_kept, generated_kept, diagonal=True)
    return np.maximum(SCALE * means, 0.0)


def kid(*, real: Any, generated: Any) -> Kid:
    """The unbiased squared MMD under the kernel (x·y / d + 1)³.

    `real` (n, d), `generated` (m, d): Inception-v3 pool features. Raises Undefined below two images a side. Source:
    Bińkowski et al. 2018, section 4 and equation 4.
    """
    real, generated = two_sets(real=real, generated=generated)
    if min(len(real), len(generated)) < 2:
        raise Undefined(f"KID needs two images a side, here are {len(real)} real and {len(generated)} generated")
    everything = [np.ones((1, len(side)), bool) for side in (real, generated)]
    return Kid(value=float(_means(real, generated, _cubic, *everything, diagonal=False)[0]))


def kid_of_subsets(*, real: Any, generated: Any, real_kept: Bools, generated_kept: Bools) -> Floats:
    """(s,) the KID of s subsets in one pass: `real_kept` (s, n) and `generated_kept` (s, m) mark their rows."""
    real, generated = two_sets(real=real, generated=generated)
    check_kept(real_kept, generated_kept, at_least=2)
    return _means(real, generated, _cubic, real_kept, generated_kept, diagonal=False)


def _directions(real: Any, generated: Any) -> tuple[Floats, Floats]:
    real, generated = two_sets(real=real, generated=generated)
    return directions(real, argument="real"), directions(generated, argument="generated")


def _gaussian(first: Floats, second: Floats) -> Floats:
    """exp(-|x - y|² / 2σ²) - 1 of rows of length 1. The 1 cancels in the distance, and with it most of the rounding."""
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
    """(s,) the squared MMD of every subset; `diagonal`: each row's kernel with itself counts (the biased estimate)."""
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
    """(s,) the sum of the kernel over all pairs that a subset keeps, and with `own` its part on the diagonal."""
    total, diagonal = np.zeros(len(first_kept)), np.zeros(len(first_kept))
    marks = second_kept.T.astype(np.float64)
    for part in blocks(len(first), width=len(second)):
        values = kernel(first[part], second)
        total += np.einsum("si,is->s", first_kept[:, part], values @ marks)
        if own:
            diagonal += first_kept[:, part] @ values[np.arange(len(values)), np.arange(part.start, part.stop)]
    return total, diagonal
