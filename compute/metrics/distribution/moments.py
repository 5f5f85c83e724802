"""Features as input of the metrics of sets, and their streaming moments, so that a million rows are never in memory.

Rows are checked once and read in blocks. Moments are count, mean and scatter: the sum of outer products of centred
rows, whose covariance is the scatter over N, or over N - 1. Batches and shards are merged as in Chan, Golub and LeVeque
1979, which does not subtract large numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from compute.arrays import Floats, Ints, LazyRows, unit
from compute.types import BadInput

BLOCK = 1 << 21  # numbers in memory at a time: 16 MB
STREAM_ABOVE = 4  # rows per column above which distances are computed from moments instead of from all rows


@dataclass(frozen=True, kw_only=True)
class SetScore:
    """The result of a metric of sets, with a 95% interval and standard error if it has one."""

    value: float
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    warnings: tuple[str, ...] = ()


def feature_array(values: Any, *, argument: str) -> np.ndarray | LazyRows:
    """Returns `values` as an array (n, d) of real numbers without changing its type; lazy rows stay where they are.

    Raises BadInput for any other shape or type.
    """
    array = values if isinstance(values, LazyRows) else np.asanyarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise BadInput(
            f"{argument} must be an array (n, d) of features with at least one row and one column, got the shape "
            f"{array.shape}"
        )
    if array.dtype.kind not in "fiu":
        raise BadInput(f"{argument} must hold real numbers, got the type {array.dtype}")
    return array


def feature_rows(values: Any, *, argument: str, first: int = 0) -> Floats:
    """Returns features (n, d) as float64.

    Raises BadInput for any other shape or type, and for numbers that are not finite. The message names `argument` and
    the first such row; `first` is the number of row 0.
    """
    rows = np.asarray(feature_array(values, argument=argument), dtype=np.float64)
    for part in blocks(len(rows), width=rows.shape[1]):
        good = np.isfinite(rows[part]).all(axis=1)
        if not good.all():
            at = first + part.start + int(np.argmin(good))
            raise BadInput(
                f"{argument}: row {at} holds NaN or infinity. Encode that item again, or remove it from every set"
            )
    return rows


def directions(values: Any, *, argument: str, first: int = 0) -> Floats:
    """Scales features (n, d) to unit length. Raises BadInput as `feature_rows`, and for a row of zeros."""
    rows = feature_rows(values, argument=argument, first=first)
    empty = ~rows.any(axis=1)
    if empty.any():
        raise BadInput(f"{argument}: row {first + int(np.argmax(empty))} is all zeros, so it has no direction")
    return unit(rows)


def check_paired(first: np.ndarray | LazyRows, second: np.ndarray | LazyRows, *, names: tuple[str, str]) -> None:
    """Raises BadInput if two arrays that are paired row by row have different numbers of rows."""
    if len(first) != len(second):
        raise BadInput(
            f"{names[0]} has {len(first)} rows and {names[1]} {len(second)}: row i of each must belong to prompt i. "
            "Remove the prompts missing from either"
        )


def streams(n: int, *features: Any) -> bool:
    """Returns whether n rows of features (n, d) are so many that their moments take far less memory."""
    return n > STREAM_ABOVE * max(each.shape[1] for each in features)


def blocks(n: int, *, width: int) -> Iterator[slice]:
    """Yields slices of the rows 0..n with at most `BLOCK` numbers each, for rows of `width` numbers."""
    step = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def taken(values: np.ndarray | LazyRows, rows: Ints) -> LazyRows:
    """Returns these rows of features (n, d), read when needed."""
    return LazyRows(read=lambda at: values[rows[at]], shape=(len(rows), values.shape[1]), dtype=values.dtype)


def centred(values: Any, *, argument: str, first: int = 0) -> tuple[Floats, Floats]:
    """Returns the mean (d,) of features (n, d), and the rows minus the mean, as float64. Raises BadInput, which numbers
    rows from `first`.
    """
    rows = feature_rows(values, argument=argument, first=first)
    mean = rows.mean(axis=0)
    return mean, rows - mean


@dataclass(kw_only=True, eq=False)
class Moments:
    """Moments of the rows seen so far: `n`, `mean` (d,), `scatter` (d, d). Start with `empty` or `of`."""

    n: int
    mean: Floats
    scatter: Floats

    @classmethod
    def empty(cls, dimension: int) -> Moments:
        """Returns the moments of zero rows with `dimension` columns."""
        return cls(n=0, mean=np.zeros(dimension), scatter=np.zeros((dimension, dimension)))

    @classmethod
    def of(cls, images: Any, *, argument: str = "features") -> Moments:
        """Computes moments of features (n, d) block by block: memory-mapped or lazy features stay on disk. Raises
        BadInput.
        """
        array = feature_array(images, argument=argument)
        moments = cls.empty(array.shape[1])
        for part in blocks(len(array), width=array.shape[1]):
            moments.add(array[part], argument=argument)
        return moments

    @property
    def dimension(self) -> int:
        """Returns the number of columns of the features."""
        return len(self.mean)

    def add(self, batch: Any, *, argument: str = "features") -> None:
        """Adds rows (n, d). Raises BadInput for a row that is not finite; then no rows are added."""
        mean, rows = centred(batch, argument=argument, first=self.n)
        self.merge(Moments(n=len(rows), mean=mean, scatter=rows.T @ rows))

    def merge(self, other: Moments) -> None:
        """Adds the rows of another shard."""
        total = self.n + other.n
        step = other.mean - self.mean
        self.scatter += other.scatter
        self.scatter += np.outer(step, step * (self.n * other.n / total))
        self.mean = self.mean + step * (other.n / total)
        self.n = total

    def without(self, shard: Self) -> Self:
        """Returns the moments of the rows outside a shard, computed as a difference. The shard must be a small part of
        the rows.
        """
        n = self.n - shard.n
        step = (shard.mean - self.mean) * (shard.n / n)
        scatter = self.scatter - shard.scatter - np.outer(step, step * (n * self.n / shard.n))
        return replace(self, n=n, mean=self.mean - step, scatter=scatter)

    def covariance(self, *, ddof: int = 0) -> Floats:
        """Returns the covariance (d, d): the scatter over n - ddof."""
        return self.scatter / (self.n - ddof)


@dataclass(kw_only=True, eq=False)
class CrossMoments(Moments):
    """Moments of images and of their conditions, paired row by row: those of the concatenated rows, whose first `width`
    columns belong to the images.
    """

    width: int

    @classmethod
    def of(cls, *, images: Any, condition: Any, argument: str = "images") -> CrossMoments:
        """Computes moments of features (n, d) and (n, p) block by block. Raises BadInput; `argument` names the
        images.
        """
        left, right = feature_array(images, argument=argument), feature_array(condition, argument="condition")
        check_paired(left, right, names=(argument, "condition"))
        width = left.shape[1] + right.shape[1]
        made = cls(**vars(Moments.empty(width)), width=left.shape[1])
        for part in blocks(len(left), width=width):
            sides = ((left, argument), (right, "condition"))
            made.add(np.hstack([feature_rows(side[part], argument=name, first=made.n) for side, name in sides]))
        return made

    @property
    def images(self) -> Moments:
        """Returns the moments of the images."""
        return self._part(slice(self.width))

    @property
    def condition(self) -> Moments:
        """Returns the moments of the conditions."""
        return self._part(slice(self.width, None))

    @property
    def cross(self) -> Floats:
        """Returns (d, p) the sum of outer products of both sides' centred rows."""
        return self.scatter[: self.width, self.width :]

    def _part(self, columns: slice) -> Moments:
        return Moments(n=self.n, mean=self.mean[columns], scatter=self.scatter[columns, columns])
