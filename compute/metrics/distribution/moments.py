"""Streaming moments: count, mean and scatter of features, so that a million rows are never in memory.

The scatter is the sum of outer products of centred rows; a covariance is the scatter over N, or over N - 1. Batches and
shards are merged by Chan, Golub and LeVeque 1979, which subtracts no large numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.arrays import Floats
from compute.types import BadInput, Undefined

BLOCK = 16 << 20  # bytes of float64 rows that are read at a time


def feature_array(values: Any, *, argument: str) -> np.ndarray:
    """`values` as an array (n, d) of real numbers in its own type. Raises BadInput for any other shape or type."""
    array = np.asanyarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise BadInput(
            f"{argument} must be an array (n, d) of features with at least one row and one column, got the shape "
            f"{array.shape}"
        )
    if array.dtype.kind not in "fiu":
        raise BadInput(f"{argument} must hold real numbers, got the type {array.dtype}")
    return array


def finite_rows(values: np.ndarray, *, argument: str, first: int = 0) -> Floats:
    """(n, d) as float64. Raises BadInput with the first row that is not finite; `first` is the number of row 0."""
    rows = np.asarray(values, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise BadInput(
            f"{argument}: row {first + int(bad[0])} holds NaN or infinity. Encode that item again, or remove it from "
            "every set"
        )
    return rows


def centred(values: Any, *, argument: str) -> tuple[Floats, Floats]:
    """The mean (d,) of features (n, d), and the rows less the mean, as float64. Raises BadInput."""
    return _centred(finite_rows(feature_array(values, argument=argument), argument=argument), argument=argument)


@dataclass(kw_only=True, eq=False)
class Moments:
    """Moments of the rows seen so far: `n`, `mean` (d,), `scatter` (d, d). Start with `empty` or `of`."""

    n: int
    mean: Floats
    scatter: Floats

    @classmethod
    def empty(cls, dimension: int) -> Moments:
        """Moments of no rows, of features with `dimension` columns."""
        return cls(n=0, mean=np.zeros(dimension), scatter=np.zeros((dimension, dimension)))

    @classmethod
    def of(cls, values: Any, *, argument: str = "features") -> Moments:
        """Moments of features (n, d), read block by block: a memory-mapped array stays on disk. Raises BadInput."""
        array = feature_array(values, argument=argument)
        moments = cls.empty(array.shape[1])
        for start, stop in _blocks(len(array), width=array.shape[1]):
            moments.add(array[start:stop], argument=argument)
        return moments

    @classmethod
    def merged(cls, shards: Iterable[Moments]) -> Moments:
        """Moments of all shards, which stay as they are. Raises BadInput for none or unlike dimensions."""
        total = None
        for shard in shards:
            total = cls.empty(shard.dimension) if total is None else total
            total.merge(shard)
        if total is None:
            raise BadInput("There are no shards to merge")
        return total

    @property
    def dimension(self) -> int:
        """Columns of the features."""
        return len(self.mean)

    def add(self, batch: Any, *, argument: str = "features") -> None:
        """Adds rows (n, d). Raises BadInput for another width or a row that is not finite; nothing is added then."""
        array = feature_array(batch, argument=argument)
        _check_width(array.shape[1], self.dimension, argument=argument)
        mean, rows = _centred(finite_rows(array, argument=argument, first=self.n), argument=argument)
        self._merge(len(rows), mean, rows.T @ rows)

    def merge(self, other: Moments) -> None:
        """Adds the rows of another shard. Raises BadInput where the dimensions differ."""
        _check_width(other.dimension, self.dimension, argument="a shard")
        self._merge(other.n, other.mean, other.scatter)

    def covariance(self, *, ddof: int = 0) -> Floats:
        """(d, d): the scatter over n - ddof. Raises Undefined without more than `ddof` rows."""
        if self.n <= ddof:
            raise Undefined(f"A covariance over N - {ddof} needs more than {ddof} rows, got {self.n}")
        return self.scatter / (self.n - ddof)

    def _merge(self, n: int, mean: Floats, scatter: Floats) -> None:
        total = self.n + n
        if n == 0:
            return
        step = mean - self.mean
        self.scatter += scatter
        self.scatter += np.outer(step, step * (self.n * n / total))
        self.mean = self.mean + step * (n / total)
        self.n = total


@dataclass(kw_only=True, eq=False)
class CrossMoments:
    """Moments of images and of their conditions, row by row paired: `images` (d), `condition` (p), `cross` (d, p).

    `cross` is the sum of outer products of both sides' centred rows.
    """

    images: Moments
    condition: Moments
    cross: Floats

    @classmethod
    def empty(cls, dimension: int, condition_dimension: int) -> CrossMoments:
        """Moments of no pairs."""
        return cls(
            images=Moments.empty(dimension),
            condition=Moments.empty(condition_dimension),
            cross=np.zeros((dimension, condition_dimension)),
        )

    @classmethod
    def of(cls, *, images: Any, condition: Any, argument: str = "images") -> CrossMoments:
        """Moments of features (n, d) and (n, p), read block by block. Raises BadInput; `argument` names the images."""
        left, right = feature_array(images, argument=argument), feature_array(condition, argument="condition")
        check_paired(left, right, names=(argument, "condition"))
        moments = cls.empty(left.shape[1], right.shape[1])
        for start, stop in _blocks(len(left), width=left.shape[1] + right.shape[1]):
            moments.add(images=left[start:stop], condition=right[start:stop], argument=argument)
        return moments

    @property
    def n(self) -> int:
        """Pairs seen so far."""
        return self.images.n

    def add(self, *, images: Any, condition: Any, argument: str = "images") -> None:
        """Adds pairs of rows (n, d) and (n, p). Raises BadInput; nothing is added then."""
        left, right = feature_array(images, argument=argument), feature_array(condition, argument="condition")
        check_paired(left, right, names=(argument, "condition"))
        _check_width(left.shape[1], self.images.dimension, argument=argument)
        _check_width(right.shape[1], self.condition.dimension, argument="condition")
        mean, rows = _centred(finite_rows(left, argument=argument, first=self.n), argument=argument)
        text_mean, texts = _centred(finite_rows(right, argument="condition", first=self.n), argument="condition")
        self._merge(
            Moments(n=len(rows), mean=mean, scatter=rows.T @ rows),
            Moments(n=len(rows), mean=text_mean, scatter=texts.T @ texts),
            rows.T @ texts,
        )

    def merge(self, other: CrossMoments) -> None:
        """Adds the pairs of another shard. Raises BadInput where the dimensions differ."""
        _check_width(other.images.dimension, self.images.dimension, argument="a shard's images")
        _check_width(other.condition.dimension, self.condition.dimension, argument="a shard's condition")
        self._merge(other.images, other.condition, other.cross)

    def _merge(self, images: Moments, condition: Moments, cross: Floats) -> None:
        if images.n == 0:
            return
        step = (images.mean - self.images.mean) * (self.n * images.n / (self.n + images.n))
        self.cross += cross
        self.cross += np.outer(step, condition.mean - self.condition.mean)
        self.images.merge(images)
        self.condition.merge(condition)


def check_paired(first: np.ndarray, second: np.ndarray, *, names: tuple[str, str]) -> None:
    """Raises BadInput where two arrays that are paired row by row have unlike numbers of rows."""
    if len(first) != len(second):
        raise BadInput(
            f"{names[0]} has {len(first)} rows and {names[1]} {len(second)}: row i of each must belong to prompt i. "
            "Remove the prompts that either lacks"
        )


def _centred(rows: Floats, *, argument: str) -> tuple[Floats, Floats]:
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0)
        rest = rows - mean
        largest = float(np.einsum("ij,ij->j", rest, rest).max())
    if not np.isfinite(largest):
        raise BadInput(f"{argument} holds values too large to square: scale the features down")
    return mean, rest


def _check_width(width: int, expected: int, *, argument: str) -> None:
    if width != expected:
        raise BadInput(f"{argument} has {width} columns where {expected} are expected: features of one backbone only")


def _blocks(n: int, *, width: int) -> Iterator[tuple[int, int]]:
    size = max(1, BLOCK // (8 * width))
    return ((start, min(n, start + size)) for start in range(0, n, size))
