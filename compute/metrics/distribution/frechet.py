"""The Fréchet distance between two sets of features.

No matrix root is taken: with covariances A'A and B'B the trace of (A'A B'B)^(1/2) is the sum of the singular values of
A B', which are the roots of the eigenvalues of the symmetric A (B'B) A'. If there are fewer rows than columns, the
centred rows are the factor A; otherwise it is a pivoted Cholesky factor. A singular covariance thus makes the problem
smaller rather than less accurate.

Sources: Heusel et al. 2017 (FID); Stein et al. 2023 (FD-DINOv2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from compute.arrays import Floats, Ints
from compute.metrics.distribution.moments import Moments, SetScore, centred, feature_array
from compute.types import BadInput, Undefined

EPSILON = float(np.finfo(np.float64).eps)
# Eigenvalues of the squared product are used if rounding can change the sum of their roots by at most this share.
# Otherwise singular values of the product are used, which take three times as long.
TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True)
class Frechet(SetScore):
    """A Fréchet distance and its two parts, in squared units of the features.

    `means` is the squared distance of the means, `covariances` the rest; `value` is their sum.
    """

    means: float
    covariances: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Gaussian:
    """The moments of `n` images: the `mean` (d,) of their features, and their `covariance` or `rows` (r, d), with the
    covariance rows' rows.

    The factor is cached: make one Gaussian of a reference and compare many generators with it.
    """

    n: int
    mean: Floats
    rows: Floats | None = None
    covariance: Floats | None = None

    @classmethod
    def of(cls, features: Any, *, ddof: int = 1, argument: str = "features") -> Gaussian:
        """Makes it from features (n, d), from Moments, or returns a given Gaussian. The covariance is over n - ddof. If
        there are more rows than columns, they are read block by block.

        Raises BadInput for invalid features, Undefined for n <= ddof.
        """
        if isinstance(features, Gaussian):
            return features
        moments = features if isinstance(features, Moments) else None
        n = moments.n if moments else len(feature_array(features, argument=argument))
        if n <= ddof:
            raise Undefined(
                f"{argument}: {'1 row has' if n == 1 else f'{n} rows have'} no covariance over N - {ddof}. At least "
                f"{ddof + 1} images are needed"
            )
        if not moments and n <= np.shape(features)[1]:
            mean, rest = centred(features, argument=argument)
            return cls.of_centred(rest, mean=mean, ddof=ddof)
        moments = moments or Moments.of(features, argument=argument)
        return cls(n=n, mean=moments.mean, covariance=moments.covariance(ddof=ddof))

    @classmethod
    def of_centred(cls, rows: Floats, *, mean: Floats, ddof: int) -> Gaussian:
        """Makes it from centred rows (n, d). If there are no more rows than columns, the rows are the factor: a
        Householder reflection that maps the vector of ones to an axis makes one row 0, and that row is dropped.
        """
        n, d = rows.shape
        if n > d:
            return cls(n=n, mean=mean, covariance=rows.T @ rows / (n - ddof))
        mirror = np.full(n, 1 / np.sqrt(n))
        mirror[0] += 1
        mirror *= np.sqrt(2) / np.linalg.norm(mirror)
        return cls(n=n, mean=mean, rows=(rows - np.outer(mirror, mirror @ rows))[1:] / np.sqrt(n - ddof))

    @cached_property
    def trace(self) -> float:
        """Returns the trace of the covariance: the sum of the variances."""
        return float(np.trace(self.covariance) if self.rows is None else np.vdot(self.rows, self.rows))

    @cached_property
    def factor(self) -> tuple[Floats, Ints | None]:
        """Returns A (r, d) with A'A the covariance, and the order of its columns if that differs from the features'.

        Uses Cholesky with pivots (LAPACK's pstrf) on the lower triangle; values below rounding do not add to the rank.
        If an order is returned, A is upper triangular.
        """
        if self.rows is not None:
            return self.rows, None
        tolerance = 4 * np.sqrt(len(self.mean)) * EPSILON * float(self.covariance.diagonal().max())
        lower, pivots, rank, _ = linalg.lapack.dpstrf(self.covariance, lower=1, tol=tolerance)
        return np.tril(lower)[:, :rank].T, pivots - 1

    @property
    def plain_factor(self) -> Floats:
        """Returns the factor (r, d) with columns in the order of the features."""
        matrix, order = self.factor
        return matrix if order is None else matrix[:, np.argsort(order)]

    def around(self, covariance: Floats) -> Floats:
        """Returns A C A' (r, r) for a covariance C (d, d)."""
        matrix, order = self.factor
        inner = covariance if order is None else covariance[np.ix_(order, order)]
        if order is None or len(matrix) < len(inner):
            return matrix @ inner @ matrix.T
        inner = linalg.blas.dtrmm(1.0, matrix, inner, lower=0)  # half the work, because the factor is triangular
        return linalg.blas.dtrmm(1.0, matrix, inner, side=1, lower=0, trans_a=1)


def frechet(*, real: Any, generated: Any, ddof: int = 1) -> Frechet:
    """Computes ||mu - mu'||^2 + tr(S + S' - 2 (S S')^1/2) between two sets. It is symmetric.

    real, generated: features (n, d), Moments, or a Gaussian. A Gaussian caches its factor, so make one for a reference
    that many generators are compared with. The covariance is over n - ddof, except for a Gaussian, which already has
    one. On Inception features this is FID, on DINOv2 features FD-DINOv2. Raises BadInput for invalid features or
    different dimensions, Undefined for a set of one image.
    """
    first = Gaussian.of(real, ddof=ddof, argument="real")
    second = Gaussian.of(generated, ddof=ddof, argument="generated")
    d = len(first.mean)
    if d != len(second.mean):
        raise BadInput(
            f"The features have different dimensions: real {d}, generated {len(second.mean)}. Encode both sets with "
            "one backbone"
        )
    step = first.mean - second.mean
    means = float(step @ step)
    spread = covariance_distance(first, second)
    warnings = tuple(
        f"{name} has {gaussian.n} images in {d} dimensions: its covariance is singular, and the distance is "
        "biased upwards. Compare only sets of equal size, or the value extrapolated to infinite N"
        for name, gaussian in (("real", first), ("generated", second))
        if gaussian.n <= d
    )
    return Frechet(value=means + spread, means=means, covariances=spread, warnings=warnings)


def covariance_distance(first: Gaussian, second: Gaussian) -> float:
    """Returns tr(S + S' - 2 (S S')^1/2), never below 0: the squared Bures distance of two covariances."""
    return max(0.0, first.trace + second.trace - 2 * trace_of_root(first, second))


def trace_of_root(first: Gaussian, second: Gaussian) -> float:
    """Returns the trace of (S1^1/2 S2 S1^1/2)^1/2 of two covariances, which equals that of (S1 S2)^1/2."""
    product = None
    if second.rows is not None:
        product = first.plain_factor @ second.rows.T
        product = product.T if product.shape[0] > product.shape[1] else product
        square = product @ product.T
    else:
        square = first.around(second.covariance)
    if not square.size:
        return 0.0
    roots, error = sum_of_roots(square)
    if error <= TOLERANCE * roots:
        return roots
    if product is None:
        product = first.plain_factor @ second.plain_factor.T
    return float(linalg.svdvals(product).sum())


def sum_of_roots(square: Floats) -> tuple[float, float]:
    """Returns the sum of the roots of a symmetric matrix's eigenvalues, and how far rounding may have moved it.

    Eigenvalues within rounding of 0 count as 0, because they usually come from a singular matrix.
    """
    values = linalg.eigvalsh(square, check_finite=False, overwrite_a=True)
    noise = 4 * EPSILON * max(values[-1], 0.0)
    roots = np.sqrt(values[values > noise])
    moved = (noise / (2 * roots)).sum() + (len(values) - len(roots)) * np.sqrt(noise)
    return float(roots.sum()), float(moved)
