"""The Fréchet distance between two sets of features, and the one conditional on prompts (cFreD).

Sources: Heusel et al. 2017 (FID); Stein et al. 2023 (FD-DINOv2); Soloveitchik et al. 2021 and section 3.1 of the cFreD
paper. FID takes covariances over N - 1, cFreD over N.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from compute.arrays import Floats, Ints, LazyRows
from compute.metrics.distribution.features import check_paired, feature_array, row_blocks
from compute.metrics.distribution.gaussian import EPSILON, Gaussian, check_dimensions, trace_of_root
from compute.metrics.distribution.moments import CrossMoments, centred
from compute.types import BadInput

# Eigenvalues of the text covariance below this share of the largest are taken as 0 by the pseudo-inverse: far above
# rounding in float64, far below what text encoders yield, so that nothing but exact redundancy is cut.
CUTOFF = 1e-10
STREAM_ABOVE = 4  # rows per column above which cFreD is computed from moments instead of from all rows


@dataclass(frozen=True, kw_only=True)
class Frechet:
    """A Fréchet distance and its two parts, in squared units of the features.

    `means` is the squared distance of the means, `covariances` the rest; `value` is their sum.
    """

    value: float
    means: float
    covariances: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cfred:
    """A conditional Fréchet distance, in squared units of the image features.

    Its three parts add up to `value`: `means`, the squared distance of the unconditional means; `cross`, of the
    regressions on the prompt; `conditional`, of the conditional covariances. So do the two readings of section 3.1:
    `realism`, the plain Fréchet distance of the unconditional moments (over N), and `fidelity`, what the prompts add.
    `fidelity` is never negative, as conditioning cannot bring two Gaussians nearer.
    `cutoff` is relative to the largest eigenvalue of the text covariance, and never below rounding; `rank` eigenvalues
    are above it.
    """

    value: float
    means: float
    cross: float
    conditional: float
    realism: float
    fidelity: float
    cutoff: float
    rank: int
    warnings: tuple[str, ...] = ()


def frechet(*, real: Any, generated: Any, ddof: int = 1) -> Frechet:
    """||mu - mu'||^2 + tr(S + S' - 2 (S S')^1/2) between two sets, symmetric in them.

    real, generated: features (n, d), Moments, or a Gaussian (which keeps its factor: make one of a reference that many
    generators are compared with). The covariance is over n - ddof; a Gaussian has its own. FID is this over Inception's
    features, FD-DINOv2 over DINOv2's. Raises BadInput for features that are none or of unlike dimensions, Undefined for
    a set of one image.
    """
    first = Gaussian.of(real, ddof=ddof, argument="real")
    second = Gaussian.of(generated, ddof=ddof, argument="generated")
    check_dimensions(first, second)
    step = first.mean - second.mean
    means = float(step @ step)
    spread = covariance_distance(first, second)
    return Frechet(
        value=means + spread,
        means=means,
        covariances=spread,
        warnings=_count_warnings(first, second),
    )


def covariance_distance(first: Gaussian, second: Gaussian) -> float:
    """tr(S + S' - 2 (S S')^1/2), never below 0: the squared Bures distance of two covariances."""
    return max(0.0, first.trace + second.trace - 2 * trace_of_root(first, second))


def cfred(
    *, real: Any, generated: Any, condition: Any = None, rows: Ints | None = None, cutoff: float = CUTOFF
) -> Cfred:
    """cFreD of section 3.1 in its second form, by moments and cross-covariances over N.

    real, generated: image features (n, d); condition: text features (n, p); row i of each belongs to prompt i. Or real,
    or both, as CrossMoments: without features there is no condition to give. rows: only these of the features. cutoff:
    eigenvalues of the text covariance at or below this share of the largest are 0 to the pseudo-inverse; where n <= p
    it decides the value. Many rows per column are read block by block. Raises BadInput for features that are none, for
    unlike counts, conditions or dimensions, and for a cutoff outside [0, 1).
    """
    if isinstance(real, CrossMoments) and isinstance(generated, CrossMoments):
        return _cfred_of_moments(real, generated, cutoff=cutoff, repeats=0)
    if condition is None:
        raise BadInput("cfred needs `condition`, the text features (n, p), or real and generated as CrossMoments")
    others, texts = feature_array(generated, argument="generated"), feature_array(condition, argument="condition")
    if isinstance(real, CrossMoments):
        second = CrossMoments.of(images=others, condition=texts, argument="generated")
        return _cfred_of_moments(real, second, cutoff=cutoff, repeats=repeated_rows(texts))
    images = feature_array(real, argument="real")
    check_paired(images, others, names=("real", "generated"))
    check_paired(images, texts, names=("real", "condition"))
    n = len(texts) if rows is None else len(rows)
    if streams(n, images, others, texts):
        return _cfred_of_moments(
            CrossMoments.of(images=images, condition=texts, rows=rows, argument="real"),
            CrossMoments.of(images=others, condition=texts, rows=rows, argument="generated"),
            cutoff=cutoff,
            repeats=repeated_rows(texts, rows),
        )
    if rows is not None:
        images, others, texts = images[rows], others[rows], texts[rows]
    repeats = repeated_rows(texts)
    conditioning = Conditioning.of(texts, cutoff=cutoff)
    first, second = (
        conditioning.split(ImageMoments.of(side, argument=argument))
        for side, argument in ((images, "real"), (others, "generated"))
    )
    return conditioning.compare(first, second, repeats=repeats)


def streams(n: int, *features: Any) -> bool:
    """Whether n rows of features (n, d) are so many that their moments take far less memory."""
    return n > STREAM_ABOVE * max(each.shape[1] for each in features)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageMoments:
    """The images of one set under one backbone, as far as no prompt matters: `rows` are centred (n, d)."""

    rows: Floats
    gaussian: Gaussian

    @classmethod
    def of(cls, images: Any, *, argument: str = "images") -> ImageMoments:
        """Of features (n, d), over N. Raises BadInput."""
        mean, rows = centred(images, argument=argument)
        return cls(rows=rows, gaussian=Gaussian.of_centred(rows, mean=mean, ddof=0))


@dataclass(frozen=True, kw_only=True, eq=False)
class ConditionalMoments:
    """The moments of images given their prompts.

    `explained` (k, d) is the regression on the whitened text features: its product with itself is the covariance that
    the prompts explain. `residual` is the conditional covariance, `marginal` the unconditional one.
    """

    explained: Floats
    residual: Gaussian
    marginal: Gaussian


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditioning:
    """Text features as a condition, made once and used for any images of the same prompts.

    `reflectors` (n, 1 + rank) and `scales` are LAPACK's form of a rotation of the n prompts whose first axis is the
    vector of ones and whose next `rank` axes are spanned by the text features; None where only moments are compared.
    """

    n: int
    dimension: int
    rank: int
    cutoff: float
    reflectors: Floats | None = None
    scales: Floats | None = None

    @classmethod
    def of(cls, condition: Any, *, cutoff: float = CUTOFF, argument: str = "condition") -> Conditioning:
        """Of text features (n, p). Raises BadInput."""
        _, rows = centred(condition, argument=argument)
        cutoff = _effective_cutoff(cutoff, rows.shape[1])
        left, lengths, _ = linalg.svd(rows, full_matrices=False, check_finite=False)
        held = lengths**2 > cutoff * lengths[0] ** 2
        spanned = np.hstack([np.full((len(rows), 1), 1 / np.sqrt(len(rows))), left[:, held]])
        (reflectors, scales), _ = linalg.qr(spanned, mode="raw", overwrite_a=True, check_finite=False)
        return cls(
            n=len(rows),
            dimension=rows.shape[1],
            rank=int(held.sum()),
            cutoff=cutoff,
            reflectors=reflectors,
            scales=scales,
        )

    def split(self, images: ImageMoments) -> ConditionalMoments:
        """What the prompts explain of the images, and the rest, over N."""
        rows = np.asfortranarray(images.rows / np.sqrt(self.n))
        turned, _, _ = linalg.lapack.dormqr(
            "L", "T", self.reflectors, self.scales, rows, lwork=64 * rows.shape[1], overwrite_c=True
        )
        rest, mean = turned[1 + self.rank :], images.gaussian.mean
        if len(rest) <= rest.shape[1]:
            residual = Gaussian(n=self.n, mean=mean, rows=rest)
        else:
            residual = Gaussian(n=self.n, mean=mean, covariance=rest.T @ rest)
        return ConditionalMoments(explained=turned[1 : 1 + self.rank], residual=residual, marginal=images.gaussian)

    def compare(
        self, real: ConditionalMoments, generated: ConditionalMoments, *, realism: float | None = None, repeats: int
    ) -> Cfred:
        """cFreD from its moments; `realism` is the plain Fréchet distance where it is known, `repeats` the prompts that
        occur before."""
        if realism is None:
            realism = frechet(real=real.marginal, generated=generated.marginal).value
        step = real.marginal.mean - generated.marginal.mean
        means = float(step @ step)
        cross = float(((real.explained - generated.explained) ** 2).sum())
        conditional = covariance_distance(real.residual, generated.residual)
        value = means + cross + conditional
        return Cfred(
            value=value,
            means=means,
            cross=cross,
            conditional=conditional,
            realism=min(realism, value),  # rounding alone puts it above
            fidelity=max(value - realism, 0.0),
            cutoff=self.cutoff,
            rank=self.rank,
            warnings=_cfred_warnings(n=self.n, dimension=self.dimension, rank=self.rank, repeats=repeats),
        )


def repeated_rows(values: np.ndarray | LazyRows, rows: Ints | None = None) -> int:
    """How many rows (n, p), or how many of these `rows` of them, equal an earlier one."""
    parts = row_blocks(len(values), rows, width=values.shape[1])
    seen = {hashlib.blake2b(row.tobytes(), digest_size=16).digest() for part in parts for row in values[part]}
    return (len(values) if rows is None else len(rows)) - len(seen)


def _cfred_of_moments(real: CrossMoments, generated: CrossMoments, *, cutoff: float, repeats: int) -> Cfred:
    _check_same_condition(real, generated)
    values, vectors = linalg.eigh(real.condition.covariance())
    cutoff = _effective_cutoff(cutoff, len(values))
    held = values > cutoff * values[-1]
    whitening = vectors[:, held] / np.sqrt(values[held])
    split = [_split_moments(moments, whitening) for moments in (real, generated)]
    conditioning = Conditioning(n=real.n, dimension=len(values), rank=int(held.sum()), cutoff=cutoff)
    return conditioning.compare(*split, repeats=repeats)


def _split_moments(moments: CrossMoments, whitening: Floats) -> ConditionalMoments:
    explained = (moments.cross @ whitening).T / moments.n
    covariance = moments.images.covariance()
    mean = moments.images.mean
    return ConditionalMoments(
        explained=explained,
        residual=Gaussian(n=moments.n, mean=mean, covariance=covariance - explained.T @ explained),
        marginal=Gaussian(n=moments.n, mean=mean, covariance=covariance),
    )


def _effective_cutoff(cutoff: float, dimension: int) -> float:
    """The cut-off, and no less than rounding makes of an eigenvalue 0. Raises BadInput for one outside [0, 1)."""
    if not 0 <= cutoff < 1:
        raise BadInput(f"cutoff is a share of the largest eigenvalue, from 0 to below 1, got {cutoff}")
    return max(cutoff, dimension * EPSILON)


def _check_same_condition(real: CrossMoments, generated: CrossMoments) -> None:
    first, second = real.condition, generated.condition
    same = (
        first.n == second.n
        and first.dimension == second.dimension
        and np.allclose(first.scatter, second.scatter, rtol=1e-8, atol=1e-8 * np.trace(first.scatter))
        and np.allclose(first.mean, second.mean, rtol=1e-8, atol=1e-8 * np.sqrt(np.trace(first.scatter) / first.n))
    )
    if not same:
        raise BadInput(
            f"real ({first.n} pairs) and generated ({second.n} pairs) have unlike conditions: cFreD compares images of "
            "the same prompts, encoded by one text backbone"
        )


def _count_warnings(real: Gaussian, generated: Gaussian) -> tuple[str, ...]:
    d = real.dimension
    return tuple(
        f"{name} has {gaussian.n} images in {d} dimensions: its covariance is singular, and the distance is "
        "biased upwards. Compare only sets of equal size, or the value extrapolated to infinite N"
        for name, gaussian in (("real", real), ("generated", generated))
        if gaussian.n <= d
    )


def _cfred_warnings(*, n: int, dimension: int, rank: int, repeats: int) -> tuple[str, ...]:
    warnings = []
    if n < 2 * dimension:
        warnings.append(
            f"{n} prompts are fewer than twice the {dimension} dimensions of the text features: the conditional "
            "covariances are too small, and the cut-off of the pseudo-inverse weighs on the value"
        )
    if rank >= n - 1:
        warnings.append(
            f"The text features tell all {n} prompts apart linearly, so the conditional covariances vanish and cFreD "
            "is the mean squared distance of paired images"
        )
    if rank == 0:
        warnings.append("All prompts have the same text features: cFreD is the plain Fréchet distance")
    if repeats:
        warnings.append(f"{repeats} of {n} prompts have the text features of an earlier prompt")
    return tuple(warnings)
