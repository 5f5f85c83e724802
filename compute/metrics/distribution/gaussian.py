"""A Gaussian with the moments of features, and the trace of the root of a product of two covariances.

No matrix root is taken: with covariances A'A and B'B the trace of (A'A B'B)^(1/2) is the sum of the singular values of
A B', which are the roots of the eigenvalues of the symmetric A (B'B) A'. A factor A of n rows serves for n rows in d
columns, and a pivoted Cholesky factor otherwise, so that a singular covariance makes the problem smaller, not worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from compute.arrays import Floats, Ints
from compute.metrics.distribution.features import feature_array
from compute.metrics.distribution.moments import Moments, centred
from compute.types import BadInput, Undefined

EPSILON = float(np.finfo(np.float64).eps)
# Eigenvalues of the squared product serve where rounding can have moved the sum of their roots by at most this share,
# singular values of the product, which take three times as long, elsewhere.
TOLERANCE = 1e-7


@dataclass(frozen=True, kw_only=True, eq=False)
class Gaussian:
    """`n` images, the `mean` (d,) of their features, and their `covariance` or `rows` (r, d), where it is rows' rows.

    It keeps its factor: make one Gaussian of a reference and compare many generators with it.
    """

    n: int
    mean: Floats
    rows: Floats | None = None
    covariance: Floats | None = None

    @classmethod
    def of(cls, features: Any, *, rows: Ints | None = None, ddof: int = 1, argument: str = "features") -> Gaussian:
        """Of features (n, d) or of these `rows` of them, of Moments, or of a Gaussian itself; the covariance over
        n - ddof. More rows than columns are read block by block.

        Raises BadInput for what is no features, Undefined for n <= ddof.
        """
        if isinstance(features, Gaussian):
            return features
        if not isinstance(features, Moments):
            array = feature_array(features, argument=argument)
            n = len(array) if rows is None else len(rows)
            if n <= array.shape[1]:
                _check_count(n, ddof=ddof, argument=argument)
                mean, rest = centred(array if rows is None else array[rows], argument=argument)
                return cls.of_centred(rest, mean=mean, ddof=ddof)
            features = Moments.of(array, rows=rows, argument=argument)
        _check_count(features.n, ddof=ddof, argument=argument)
        return cls(n=features.n, mean=features.mean, covariance=features.covariance(ddof=ddof))

    @classmethod
    def of_centred(cls, rows: Floats, *, mean: Floats, ddof: int) -> Gaussian:
        """Of rows (n, d) less their mean; the rows themselves are the factor where they are few."""
        n, d = rows.shape
        if n <= d:
            return cls(n=n, mean=mean, rows=contrasts(rows) / np.sqrt(n - ddof))
        return cls(n=n, mean=mean, covariance=rows.T @ rows / (n - ddof))

    @property
    def dimension(self) -> int:
        """Columns of the features."""
        return len(self.mean)

    @cached_property
    def trace(self) -> float:
        """The trace of the covariance: the sum of the variances."""
        if self.rows is not None:
            return float(np.vdot(self.rows, self.rows))
        return float(np.trace(self.matrix))

    @cached_property
    def factor(self) -> Factor:
        """A, where A'A is the covariance."""
        if self.rows is not None:
            return Factor(matrix=self.rows)
        return Factor.of(self.matrix)

    @property
    def matrix(self) -> Floats:
        """The covariance (d, d)."""
        if self.covariance is not None:
            return self.covariance
        return self.rows.T @ self.rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Factor:
    """A factor (r, d) of a covariance. With `order` it is that of the covariance with rows and columns in this order,
    and upper triangular.
    """

    matrix: Floats
    order: np.ndarray | None = None

    @classmethod
    def of(cls, covariance: Floats) -> Factor:
        """By Cholesky with pivots (LAPACK's pstrf); what is below rounding is no rank. Reads the lower triangle."""
        d = len(covariance)
        largest = float(covariance.diagonal().max())
        tolerance = 4 * np.sqrt(d) * EPSILON * largest
        lower, pivots, rank, _ = linalg.lapack.dpstrf(covariance, lower=1, tol=tolerance)
        return cls(matrix=np.tril(lower)[:, :rank].T, order=pivots - 1)

    @property
    def plain(self) -> Floats:
        """(r, d) in the order of the columns of the features."""
        if self.order is None:
            return self.matrix
        out = np.empty(self.matrix.shape)
        out[:, self.order] = self.matrix
        return out

    def around(self, covariance: Floats) -> Floats:
        """(r, r): A C A' for a covariance C (d, d)."""
        if self.order is None:
            return self.matrix @ covariance @ self.matrix.T
        inner = covariance[np.ix_(self.order, self.order)]
        if len(self.matrix) < len(inner):
            return self.matrix @ inner @ self.matrix.T
        inner = linalg.blas.dtrmm(1.0, self.matrix, inner, lower=0)  # half the work, as the factor is triangular
        return linalg.blas.dtrmm(1.0, self.matrix, inner, side=1, lower=0, trans_a=1)


def trace_of_root(first: Gaussian, second: Gaussian) -> float:
    """The trace of (S1^1/2 S2 S1^1/2)^1/2 of two covariances; the same for (S1 S2)^1/2."""
    left, product = first.factor, None
    if second.rows is not None:
        product = left.plain @ second.rows.T
        product = product.T if product.shape[0] > product.shape[1] else product
        square = product @ product.T
    else:
        square = left.around(second.matrix)
    if not square.size:
        return 0.0
    roots, error = sum_of_roots(square)
    if error <= TOLERANCE * roots:
        return roots
    if product is None:
        product = left.plain @ second.factor.plain.T
    return float(linalg.svdvals(product).sum())


def contrasts(rows: Floats) -> Floats:
    """(n - 1, d): centred rows (n, d) turned so that the last row, which is 0, is gone. The scatter is the same.

    Householder's reflection that carries the vector of ones onto an axis.
    """
    n = len(rows)
    mirror = np.full(n, 1 / np.sqrt(n))
    mirror[0] += 1
    mirror *= np.sqrt(2) / np.linalg.norm(mirror)
    return (rows - np.outer(mirror, mirror @ rows))[1:]


def check_dimensions(real: Gaussian, generated: Gaussian) -> None:
    """Raises BadInput where the features of two sets have unlike dimensions."""
    if real.dimension != generated.dimension:
        raise BadInput(
            f"The features have unlike dimensions: real {real.dimension}, generated {generated.dimension}. Encode both "
            "sets with one backbone"
        )


def sum_of_roots(square: Floats) -> tuple[float, float]:
    """The sum of the roots of the eigenvalues of a symmetric matrix, and how far rounding may have moved it.

    Eigenvalues within rounding of 0 are 0, as they mostly are those of a singular matrix.
    """
    values = linalg.eigvalsh(square, check_finite=False, overwrite_a=True)
    noise = 4 * EPSILON * max(values[-1], 0.0)
    roots = np.sqrt(values[values > noise])
    moved = (noise / (2 * roots)).sum() + (len(values) - len(roots)) * np.sqrt(noise)
    return float(roots.sum()), float(moved)


def _check_count(n: int, *, ddof: int, argument: str) -> None:
    if n <= ddof:
        raise Undefined(
            f"{argument}: {'1 row has' if n == 1 else f'{n} rows have'} no covariance over N - {ddof}. At least "
            f"{ddof + 1} images are needed"
        )
